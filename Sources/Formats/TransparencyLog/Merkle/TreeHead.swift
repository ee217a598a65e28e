// SPDX-License-Identifier: Apache-2.0

/// How many leaves a tree has and the hash over all of them.
///
/// Spec: RFC 6962, section 2.1; C2SP tlog-checkpoint, "Note text".
public struct TreeHead: Hashable, Sendable {
    /// The number of leaves.
    public let size: UInt64
    /// The Merkle tree hash over the leaves.
    public let root: TreeHash

    /// The head of a tree of `size` leaves.
    public init(size: UInt64, root: TreeHash) {
        self.size = size
        self.root = root
    }

    /// The head of the tree without leaves.
    public static let empty = TreeHead(size: 0, root: .emptyTree)
}
