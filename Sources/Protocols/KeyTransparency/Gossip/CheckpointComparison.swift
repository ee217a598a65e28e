// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// How two signed checkpoints stand to each other, before anything but themselves has been looked at.
public enum CheckpointComparison: Hashable, Sendable {
    /// One tree.
    case same
    /// One of the two is larger. Demand the proof that it extends the other, and judge it with
    /// ``TransparencyLog/LogSignedCheckpoint/judge(_:against:)``.
    case proofNeeded(from: TreeHead, to: TreeHead)
    /// Two trees of one size: the evidence is complete.
    case fork(ForkEvidence)
    /// They are of two logs.
    case otherLog
}

/// What a proof shows of two signed checkpoints of different sizes.
public enum CheckpointVerdict: Hashable, Sendable {
    /// The larger extends the smaller.
    case oneHistory
    /// The larger does not extend the smaller: the evidence is complete.
    case fork(ForkEvidence)
    /// The proof shows nothing: a log that cannot do better has something to hide, but this is not evidence.
    case noProof
}

extension LogSignedCheckpoint {
    /// Compares this checkpoint with one's own newest.
    public func compare(with own: LogSignedCheckpoint) -> CheckpointComparison {
        let (mine, theirs) = (own.checkpoint.head, checkpoint.head)
        guard own.checkpoint.origin == checkpoint.origin else { return .otherLog }
        if mine == theirs { return .same }
        guard mine.size != theirs.size else { return .fork(ForkEvidence(first: own.note, second: note)) }
        return mine.size < theirs.size
            ? .proofNeeded(from: mine, to: theirs) : .proofNeeded(from: theirs, to: mine)
    }

    /// Judges what a log gave as proof between two checkpoints that ``compare(with:)`` could not decide on.
    ///
    /// - Parameter link: the root that the larger tree has at the smaller one's size, as the log's own files give it,
    ///   and the proof from there. Nothing in it is believed.
    public func judge(_ link: ForkEvidence.Link, against own: LogSignedCheckpoint) -> CheckpointVerdict {
        let isLarger = checkpoint.head.size > own.checkpoint.head.size
        let (smaller, larger) = isLarger ? (own, self) : (self, own)
        let start = TreeHead(size: smaller.checkpoint.head.size, root: link.root)
        guard start.size > 0 else { return smaller.checkpoint.head == .empty ? .oneHistory : .noProof }
        guard (try? link.proof.verify(from: start, to: larger.checkpoint.head)) != nil else { return .noProof }
        if link.root == smaller.checkpoint.head.root { return .oneHistory }
        return .fork(ForkEvidence(first: smaller.note, second: larger.note, link: link))
    }
}
