// SPDX-License-Identifier: Apache-2.0

/// Why a consistency proof does not show that one tree extends another. None is worth a retry.
public enum ConsistencyProofError: Error, Hashable, Sendable {
    /// The later tree is smaller.
    case shrunk(from: UInt64, to: UInt64)
    /// The earlier tree is empty: every tree extends it, and no proof of that exists.
    case fromEmptyTree
    /// Another number of hashes is needed between these sizes.
    case wrongHashCount(expected: Int, actual: Int)
    /// The hashes do not lead to the earlier root.
    case oldRootMismatch
    /// The hashes do not lead to the later root.
    case newRootMismatch
}

/// The hashes that show that a tree begins with all leaves of an earlier one.
///
/// Spec: RFC 6962, section 2.1.2; checked as in RFC 9162, section 2.1.4.2.
public struct ConsistencyProof: Hashable, Sendable {
    /// The node hashes, from the bottom upwards.
    public let hashes: [TreeHash]

    /// A claimed proof; nothing is checked yet.
    public init(hashes: [TreeHash]) { self.hashes = hashes }

    /// Checks that the tree `new` begins with all leaves of the tree `old`.
    ///
    /// A tree extends itself by an empty proof. From the empty tree there is nothing to prove: a caller that has
    /// seen no tree yet must not ask.
    ///
    /// - Throws: ``ConsistencyProofError``. A retry cannot help: two heads that do not fit together, both
    ///   signed, are proof of a fork.
    public func verify(from old: TreeHead, to new: TreeHead) throws(ConsistencyProofError) {
        guard old.size <= new.size else { throw .shrunk(from: old.size, to: new.size) }
        guard old.size > 0 else { throw .fromEmptyTree }
        guard old.size < new.size else { return try verifySameSize(old, new) }
        try verifyPath(from: old, to: new)
    }

    private func verifySameSize(_ old: TreeHead, _ new: TreeHead) throws(ConsistencyProofError) {
        guard hashes.isEmpty else { throw .wrongHashCount(expected: 0, actual: hashes.count) }
        guard old.root == new.root else { throw .newRootMismatch }
    }

    /// Walks up from the largest complete subtree at the old tree's right edge, once towards each root.
    private func verifyPath(from old: TreeHead, to new: TreeHead) throws(ConsistencyProofError) {
        let path = ConsistencyPath(from: old.size, to: new.size)
        guard hashes.count == path.hashCount else {
            throw .wrongHashCount(expected: path.hashCount, actual: hashes.count)
        }
        let siblings = hashes.dropFirst(path.startsAtOldRoot ? 0 : 1)
        var oldRoot = path.startsAtOldRoot ? old.root : hashes[0]
        var newRoot = oldRoot
        for (step, hash) in siblings.enumerated() {
            let isLeft = step >= path.innerCount || path.index >> UInt64(step) & 1 == 1
            newRoot = isLeft ? .node(hash, newRoot) : .node(newRoot, hash)
            if isLeft { oldRoot = .node(hash, oldRoot) }
        }
        guard oldRoot == old.root else { throw .oldRootMismatch }
        guard newRoot == new.root else { throw .newRootMismatch }
    }
}

/// Where a consistency path starts and how long it is, for sizes with 0 < old < new.
struct ConsistencyPath {
    /// The level of the largest complete subtree at the old tree's right edge.
    let level: Int
    /// That subtree's index within its level.
    let index: UInt64
    /// Whether that subtree is the whole old tree, so that its hash is known and not sent.
    let startsAtOldRoot: Bool
    /// Siblings below the meeting point with the new tree's right edge, from ``level`` on.
    let innerCount: Int
    /// How many hashes the proof has.
    let hashCount: Int

    init(from old: UInt64, to new: UInt64) {
        level = old.trailingZeroBitCount
        index = (old - 1) >> UInt64(level)
        startsAtOldRoot = index == 0
        let path = TreePath(index: old - 1, size: new)
        innerCount = path.innerCount - level
        hashCount = (startsAtOldRoot ? 0 : 1) + innerCount + path.borderCount
    }
}
