// SPDX-License-Identifier: Apache-2.0

/// Slots for nodes of one kind, which never move.
///
/// Chunk k has 2^(10+k) slots. A chunk is allocated when its first slot is used, and the system makes its pages resident
/// as they are written, so that little more is held than is used.
///
/// Why it may be shared between threads: one ``MapTrie`` writes, which cannot be copied. It fills a slot before it hands out
/// a version that reaches the slot, and does not touch it again until the last such version is gone.
final class NodeMemory<Node: BitwiseCopyable & Sendable>: @unchecked Sendable {
    private static var firstChunkShift: Int { 10 }
    private static var maximumChunkCount: Int { 21 }
    /// The most slots there can be: 2^31 - 2^10.
    static var capacity: Int { 1 << 31 - 1 << 10 }

    private let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Node>>
    private var chunkCount = 0

    init() { chunks = .allocate(capacity: Self.maximumChunkCount) }

    deinit {
        for chunk in 0..<chunkCount { chunks[chunk].deallocate() }
        chunks.deallocate()
    }

    /// The node in a slot that was filled.
    subscript(slot: UInt32) -> Node { address(slot).pointee }

    /// A slot that was filled. Reading one field does not load the whole node.
    func address(_ slot: UInt32) -> UnsafePointer<Node> {
        let (chunk, offset) = Self.place(slot)
        return UnsafePointer(chunks[chunk] + offset)
    }

    /// Fills a slot: an earlier one, or the one after the highest so far.
    func fill(_ slot: UInt32, with node: Node) {
        let (chunk, offset) = Self.place(slot)
        if chunk == chunkCount { addChunk() }
        (chunks[chunk] + offset).initialize(to: node)
    }

    private func addChunk() {
        (chunks + chunkCount).initialize(to: .allocate(capacity: 1 << (Self.firstChunkShift + chunkCount)))
        chunkCount += 1
    }

    private static func place(_ slot: UInt32) -> (chunk: Int, offset: Int) {
        let position = Int(slot) + 1 << firstChunkShift
        let shift = Int.bitWidth - 1 - position.leadingZeroBitCount
        return (shift - firstChunkShift, position - 1 << shift)
    }
}

/// The nodes of every version of one trie.
final class TrieMemory: Sendable {
    let inner = NodeMemory<InnerNode>()
    let leaves = NodeMemory<LeafNode>()

    func hash(_ link: NodeLink) -> MapHash {
        link.isLeaf ? leaves.address(link.slot).pointee.hash : inner.address(link.slot).pointee.hash
    }

    /// The leaf at which a search for `key` ends. Of all keys below `root` its key has the most leading bits in common
    /// with the asked one.
    func nearestLeaf(to key: MapKey, below root: NodeLink) -> UInt32 {
        var link = root
        while !link.isLeaf {
            let node = inner.address(link.slot)
            link = key.words.bit(node.pointee.bit) ? node.pointee.right : node.pointee.left
        }
        return link.slot
    }
}
