// SPDX-License-Identifier: Apache-2.0

/// Hashes in the order in which they came, in chunks: growing never copies more than one chunk, and two lists of the same hashes can
/// use the same memory.
package struct LeafList: Sendable {
    /// 128 KiB a chunk.
    private static let chunkShift = 12
    private static let chunkCount = 1 << chunkShift

    private var chunks: [[TreeHash]] = []
    /// How many chunks, from the first, are known to be those of another list.
    private var sharedCount = 0
    /// How many hashes there are.
    package private(set) var count = 0

    /// No hashes.
    package init() {}

    /// A hash by its place, which the caller knows to exist.
    package subscript(index: Int) -> TreeHash {
        chunks[index >> Self.chunkShift][index & (Self.chunkCount - 1)]
    }

    /// The last two nodes when they are siblings.
    var lastPair: (left: TreeHash, right: TreeHash)? {
        guard count > 0 && count.isMultiple(of: 2) else { return nil }
        return (self[count - 2], self[count - 1])
    }

    /// Adds a hash at the end.
    package mutating func append(_ node: TreeHash) {
        if count & (Self.chunkCount - 1) == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(node)
        count += 1
    }

    /// Takes full chunks over from another list, so that they are in memory once. A chunk with other hashes is left as it is.
    package mutating func share(with other: LeafList) {
        let full = min(count, other.count) >> Self.chunkShift
        while sharedCount < full {
            if chunks[sharedCount] == other.chunks[sharedCount] { chunks[sharedCount] = other.chunks[sharedCount] }
            sharedCount += 1
        }
    }
}
