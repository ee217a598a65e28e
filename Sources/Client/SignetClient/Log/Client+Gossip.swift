// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import PinnedHTTP
import SignetAPI
public import TransparencyLog

/// The result for a checkpoint that arrived with something from a contact.
public enum MetCheckpoint: Hashable, Sendable {
    /// Both people saw the same log.
    case oneHistory
    /// The log has two histories. The evidence is complete and was stored.
    case fork(ForkEvidence)
    /// The directory gives no proof between the two checkpoints, although it could: not a good sign.
    case noProof
    /// The checkpoint is of another log, as before or after a handover, or it is not a checkpoint.
    case otherLog
    /// Nothing could be compared now, because the directory cannot be reached.
    case notCompared
}

/// The result of comparing a contact's card with the user's own newest checkpoint.
public enum CardCheck: Hashable, Sendable {
    /// Both people saw the same log: the same tree, or one that extends the other. The sizes are those of the card and of the
    /// user's own checkpoint.
    case oneHistory(theirs: UInt64, mine: UInt64)
    /// The log showed two histories: the evidence is complete.
    case fork(ForkEvidence)
    /// The log gave no proof between the two. That is not evidence, but not a good sign either.
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

    /// Compares a contact's card with the user's own newest checkpoint. If the sizes differ, uses the proof from the
    /// directory's tiles.
    ///
    /// - Throws: ``ClientError`` if the directory did not answer, or lacks tiles that the larger checkpoint implies.
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

    /// Compares the checkpoint that arrived with something from a contact with the user's own newest one, and stores the
    /// evidence of a fork.
    ///
    /// - Throws: ``ClientError/store(_:)`` if evidence could not be stored, or if the user's own checkpoint could not be read.
    public func meet(_ theirs: CheckpointCard) async throws(ClientError) -> MetCheckpoint {
        guard let own = try await card() else { return .notCompared }
        let check: CardCheck
        do { check = try await self.check(theirs, against: own) } catch {
            // A directory that lacks files which its own signature implies is hiding something.
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

    /// The same, for the bytes of a card.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func meet(_ bytes: [UInt8]) async throws(ClientError) -> MetCheckpoint {
        guard let theirs = try? CheckpointCard(decoding: bytes, policy: profile.trust.policy) else { return .otherLog }
        return try await meet(theirs)
    }
}
