// SPDX-License-Identifier: Apache-2.0

/// The right edge of a tree: enough to go on appending and to know the root, in at most 64 hashes.
///
/// A frontier of `size` leaves has one hash for each set bit of `size`: the largest complete subtree first.
///
/// Spec: RFC 6962, section 2.1.
public struct MerkleFrontier: Hashable, Sendable {
    /// How many leaves there are.
    public private(set) var size: UInt64
    /// The roots of the complete subtrees, from left to right.
    public private(set) var hashes: [TreeHash]

    /// The frontier of the tree without leaves.
    public init() {
        size = 0
        hashes = []
    }

    /// A claimed frontier; nil if a tree of `size` leaves has a different number of hashes.
    ///
    /// Security: the caller must compare ``root`` with a root it trusts.
    public init?(size: UInt64, hashes: [TreeHash]) {
        guard hashes.count == size.nonzeroBitCount else { return nil }
        self.size = size
        self.hashes = hashes
    }

    /// Adds a leaf hash at the right. At 2^64 - 1 leaves nothing more is added.
    public mutating func append(_ leaf: TreeHash) {
        guard size < UInt64.max else { return }
        var node = leaf
        let trailingOnes = (~size).trailingZeroBitCount
        for _ in 0..<trailingOnes {
            guard let left = hashes.popLast() else { break }
            node = .node(left, node)
        }
        hashes.append(node)
        size += 1
    }

    /// The root over all leaves.
    public var root: TreeHash {
        guard var root = hashes.last else { return .emptyTree }
        for left in hashes.dropLast().reversed() { root = .node(left, root) }
        return root
    }

    /// Size and root.
    public var head: TreeHead { TreeHead(size: size, root: root) }
}
