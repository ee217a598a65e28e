public import KeyTransparency
import PinnedHTTP
import SignetAPI
public import TransparencyLog

/// What came of a checkpoint that travelled with something from a contact.
public enum MetCheckpoint: Hashable, Sendable {
    /// Both saw one log.
    case oneHistory
    /// The log has two histories. The evidence is complete, and was kept.
    case fork(ForkEvidence)
    /// The directory gives no proof between what the two of them saw, and it could: no good sign.
    case noProof
    /// It is of another log, as before or after a handover, or it is no checkpoint.
    case otherLog
    /// Nothing could be compared now: the directory cannot be reached.
    case notCompared
}

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

    /// Compares the checkpoint that came with something from a contact with one's own newest, and keeps the evidence of a fork.
    ///
    /// - Throws: ``ClientError/store(_:)``: evidence could not be kept, or one's own checkpoint not be read.
    public func meet(_ theirs: CheckpointCard) async throws(ClientError) -> MetCheckpoint {
        guard let own = try await card() else { return .notCompared }
        let check: CardCheck
        do { check = try await self.check(theirs, against: own) } catch {
            // A directory that lacks files which its own signature implies hides something.
            return error.family == .environment ? .notCompared : .noProof
        }
        switch check {
        case .oneHistory: return .oneHistory
        case .noProof: return .noProof
        case .otherLog: return .otherLog
        case .fork(let fork):
            let now = surroundings.now()
            try await stored { () throws(StoreError) in try await store.keep(fork, at: now) }
            return .fork(fork)
        }
    }

    /// The same for the bytes of a card.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func meet(_ bytes: [UInt8]) async throws(ClientError) -> MetCheckpoint {
        guard let theirs = try? CheckpointCard(decoding: bytes, policy: profile.trust.policy) else { return .otherLog }
        return try await meet(theirs)
    }
}
