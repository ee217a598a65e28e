// SPDX-License-Identifier: Apache-2.0

/// Why an inclusion proof does not show a leaf in a tree. None is worth a retry.
public enum InclusionProofError: Error, Hashable, Sendable {
    /// The tree has no leaf with this index.
    case indexBeyondSize(index: UInt64, size: UInt64)
    /// The path from this leaf to the root of a tree of this size has another length.
    case wrongHashCount(expected: Int, actual: Int)
    /// The path leads to another root.
    case rootMismatch
}

/// The hashes that lead from one leaf to the root of a tree: the leaf's sibling first.
///
/// Spec: RFC 6962, section 2.1.1; checked as in RFC 9162, section 2.1.3.2.
public struct InclusionProof: Hashable, Sendable {
    /// The leaf's index, from zero.
    public let index: UInt64
    /// The sibling hashes, from the leaf upwards.
    public let hashes: [TreeHash]

    /// A claimed proof; nothing is checked yet.
    public init(index: UInt64, hashes: [TreeHash]) {
        self.index = index
        self.hashes = hashes
    }

    /// The root that this path gives for `leaf` in a tree of `size` leaves.
    ///
    /// - Throws: ``InclusionProofError``: the index or the number of hashes does not fit the size.
    ///
    /// Security: the caller must compare the result with a root it trusts, as ``verify(leaf:in:)`` does.
    public func root(leaf: TreeHash, size: UInt64) throws(InclusionProofError) -> TreeHash {
        guard index < size else { throw .indexBeyondSize(index: index, size: size) }
        let path = TreePath(index: index, size: size)
        guard hashes.count == path.hashCount else {
            throw .wrongHashCount(expected: path.hashCount, actual: hashes.count)
        }
        var root = leaf
        for step in 0..<path.innerCount {
            let leafIsRight = index >> UInt64(step) & 1 == 1
            root = leafIsRight ? .node(hashes[step], root) : .node(root, hashes[step])
        }
        for step in path.innerCount..<hashes.count { root = .node(hashes[step], root) }
        return root
    }

    /// Checks that `leaf` stands at ``index`` in the tree with this head.
    ///
    /// - Throws: ``InclusionProofError``. A retry cannot help.
    ///
    /// Security: says nothing about who vouches for `head`.
    public func verify(leaf: TreeHash, in head: TreeHead) throws(InclusionProofError) {
        guard try root(leaf: leaf, size: head.size) == head.root else { throw .rootMismatch }
    }
}
