public import KeyTransparency
import SignetAPI
public import TransparencyLog

/// What came of comparing a contact's card with one's own newest checkpoint.
public enum CardCheck: Hashable, Sendable {
    /// Both saw one log: the same tree, or one that extends the other; the sizes are the card's and one's own.
    case oneHistory(theirs: UInt64, mine: UInt64)
    /// The log showed two histories: the evidence is complete.
    case fork(ForkEvidence)
    /// The log gave no proof between the two. That is no evidence, and no good sign either.
    case noProof(from: TreeHead, to: TreeHead)
    /// The card is of another log.
    case otherLog
}

extension Client {
    /// The card of the newest checkpoint that this client has verified; nil before the first.
    ///
    /// - Throws: ``ClientError``.
    public func card() async throws(ClientError) -> CheckpointCard? {
        guard let view = try await logView() else { return nil }
        do {
            return try CheckpointCard(of: SignedNote(decoding: view.note), policy: profile.trust.policy)
        } catch let error as NoteError {
            throw .log(.note(error))
        } catch { throw .misuse(.profileNeedsOneLog) }
    }

    /// Compares a contact's card with one's own newest checkpoint; when the sizes differ, with the proof that the
    /// directory's tiles give.
    ///
    /// - Throws: ``ClientError``: the directory did not answer, or lacks tiles that the larger checkpoint implies.
    public func check(_ theirs: CheckpointCard, against own: CheckpointCard) async throws(ClientError) -> CardCheck {
        let sizes = (theirs.checkpoint.head.size, own.checkpoint.head.size)
        switch theirs.signed.compare(with: own.signed) {
        case .same: return .oneHistory(theirs: sizes.0, mine: sizes.1)
        case .otherLog: return .otherLog
        case .fork(let fork): return .fork(fork)
        case .proofNeeded(let smaller, let larger):
            var reader = LogFiles(calls: calls).tiles.reader(size: larger.size)
            let root = try await reader.root(size: smaller.size)
            let proof = try await reader.consistencyProof(from: smaller.size)
            switch theirs.signed.judge(.init(root: root, proof: proof), against: own.signed) {
            case .oneHistory: return .oneHistory(theirs: sizes.0, mine: sizes.1)
            case .fork(let fork): return .fork(fork)
            case .noProof: return .noProof(from: smaller, to: larger)
            }
        }
    }
}
