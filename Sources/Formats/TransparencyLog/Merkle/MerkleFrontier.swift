// SPDX-License-Identifier: Apache-2.0

/// The roots of the full subtrees of a log, largest first: at most 64 hashes, by which the log can grow and its root is known.
///
/// Spec: RFC 6962, section 2.1: the root of n entries is made of the subtrees that the bits of n stand for.
public struct MerkleFrontier: Hashable, Sendable {
    /// How many entries the log has.
    public private(set) var size: UInt64 = 0
    private var subtrees: [TreeHash] = []

    /// A log without entries.
    public init() {}

    /// That of a tree; nil if the tree does not have its own nodes, which would be our bug.
    public init?(of tree: MerkleTree) {
        size = tree.size
        var start: UInt64 = 0
        for level in stride(from: 63, through: 0, by: -1) where size >> UInt64(level) & 1 == 1 {
            guard let hash = try? tree.hash(level: level, index: start >> UInt64(level)) else { return nil }
            subtrees.append(hash)
            start += 1 << UInt64(level)
        }
    }

    /// Adds an entry.
    ///
    /// - Parameter leaf: its leaf hash.
    public mutating func append(_ leaf: TreeHash) {
        var hash = leaf
        var rest = size
        while rest & 1 == 1, let left = subtrees.popLast() {
            hash = TreeHash.node(left, hash)
            rest >>= 1
        }
        subtrees.append(hash)
        size += 1
    }

    /// The size and root.
    public var head: TreeHead {
        guard var root = subtrees.last else { return .empty }
        for left in subtrees.dropLast().reversed() { root = TreeHash.node(left, root) }
        return TreeHead(size: size, root: root)
    }
}
