// SPDX-License-Identifier: Apache-2.0

import TransparencyLog
import VRF
import VerifiableMap

// Each check on its own: what it needs comes in, what it proves goes out.

/// What an answer says of the label's last step, once its form and signature have been checked.
enum CheckedStep {
    /// There is none.
    case none
    /// A state, and the record that must be in the log for it.
    case state(AccountState, StateRecord, InclusionProof)
    /// The end, and the record that must be in the log for it.
    case closed(StateRecord, InclusionProof)

    /// The record that must be the last entry of the label's history.
    var record: StateRecord? {
        switch self {
        case .none: nil
        case .state(_, let record, _), .closed(let record, _): record
        }
    }
}

extension LookupVerifier {
    func checkEnvelope(_ bytes: [UInt8]) throws(LookupError) -> LookupResponse {
        do { return try LookupResponse(decoding: bytes) } catch { throw .envelope(error) }
    }

    func checkVRF(_ response: LookupResponse, _ handle: Handle) throws(LookupError) -> VRFHash {
        do { return try trust.vrfKey.verify(response.vrfProof, for: handle.vrfInput) } catch {
            throw .vrf(error)
        }
    }

    func checkAccountState(
        _ response: LookupResponse, _ handle: Handle, _ label: LabelIndex
    ) throws(LookupError) -> CheckedStep {
        guard case .present(let answer) = response.answer else { return .none }
        switch answer.step {
        case .closed(let version):
            return .closed(StateRecord(closing: label, version: version), answer.inclusion)
        case .state(let kind, let opening, let encoded):
            let state = try checkedState(encoded, handle)
            let record = StateRecord(
                label: label, version: state.version, kind: kind,
                commitment: StateCommitment(to: state, opening: opening))
            return .state(state, record, answer.inclusion)
        }
    }

    private func checkedState(_ encoded: [UInt8], _ handle: Handle) throws(LookupError) -> AccountState {
        let state: AccountState
        do { state = try AccountState(decodingWithKeys: encoded) } catch { throw .accountState(error) }
        guard state.handle == handle else { throw .anotherAccount(state.handle) }
        return state
    }

    func checkNote(_ response: LookupResponse) throws(LookupError) -> SignedNote {
        do { return try SignedNote(decoding: response.note) } catch { throw .note(error) }
    }

    func checkCheckpointText(_ note: SignedNote) throws(LookupError) -> Checkpoint {
        do { return try Checkpoint(decoding: note.text) } catch { throw .checkpointText(error) }
    }

    func checkOrigin(_ checkpoint: Checkpoint) throws(LookupError) {
        guard (try? trust.policy.logs(for: checkpoint)) != nil else { throw .origin(checkpoint.origin) }
    }

    func checkLogSignature(_ note: SignedNote) throws(LookupError) -> LogSignedCheckpoint {
        do { return try trust.policy.verifyLogSignature(on: note) } catch { throw .logSignature(error) }
    }

    func checkCosignatures(_ signed: LogSignedCheckpoint) throws(LookupError) -> VerifiedCheckpoint {
        do { return try trust.policy.verifyCosignatures(on: signed) } catch { throw .cosignatures(error) }
    }

    /// The part of the consistency check that needs no proof, before anything else can fail: two signed heads that
    /// contradict each other are evidence regardless of the rest of the answer.
    func checkNoContradiction(_ checkpoint: VerifiedCheckpoint, _ view: LogView?) throws(LookupError) {
        do { try view?.checkNoContradiction(checkpoint) } catch { throw .consistency(error) }
    }

    func checkFreshness(_ checkpoint: VerifiedCheckpoint, _ now: UInt64) throws(LookupError) -> UInt64 {
        do { return try trust.freshness.age(of: checkpoint.quorumTime, at: now) } catch {
            throw .freshness(error)
        }
    }

    func checkEpoch(
        _ record: EpochRecord, _ path: [TreeHash], _ checkpoint: VerifiedCheckpoint, _ view: LogView?, _ now: UInt64
    ) throws(LookupError) {
        do throws(EpochError) {
            try record.check(path, endsLogOf: checkpoint.checkpoint.head)
            try record.check(after: view?.origin == checkpoint.checkpoint.origin ? view?.epoch : nil)
            try record.check(at: now, skew: trust.freshness.clockSkew)
            try checkTime(of: record, seenAt: checkpoint.quorumTime)
        } catch { throw .epoch(error) }
    }

    /// The quorum saw the log end in this epoch, so its time bounds the epoch's.
    private func checkTime(of record: EpochRecord, seenAt time: UInt64?) throws(EpochError) {
        // Without a time the answer was refused as not fresh.
        guard let time else { return }
        do { try EpochTimeRule(clockSkew: trust.freshness.clockSkew).check(record, seenAt: time) } catch {
            // The end of a log may have waited for its witnesses.
            guard hasEnded, case .behind = error else { throw error }
        }
    }

    func checkIndex(_ response: LookupResponse, _ label: LabelIndex) throws(LookupError) {
        let proof: MapProof =
            switch response.answer {
            case .absent(let proof): proof
            case .present(let answer): .present(value: answer.head.value, path: answer.indexPath)
            }
        do { _ = try proof.verify(label.key, in: response.epoch.root) } catch { throw .index(error) }
    }

    func checkHistory(
        _ response: LookupResponse, _ step: CheckedStep, _ known: LabelHead?
    ) throws(LookupError) {
        do throws(HistoryError) {
            guard case .present(let answer) = response.answer, let record = step.record else {
                if let known, known.count > 0 { throw HistoryError.vanished(known: known.count) }
                return
            }
            try answer.head.checkLast(record, path: answer.lastPath)
            try answer.head.check(answer.historyConsistency, after: known)
        } catch { throw .history(error) }
    }

    func checkInclusion(
        _ response: LookupResponse, _ step: CheckedStep, _ checkpoint: VerifiedCheckpoint
    ) throws(LookupError) {
        switch step {
        case .none: return
        case .state(_, let record, let inclusion), .closed(let record, let inclusion):
            do { try inclusion.verify(leaf: .leaf(record.entry), in: checkpoint.checkpoint.head) } catch {
                throw .inclusion(error)
            }
        }
    }

    func checkConsistency(
        _ response: LookupResponse, _ checkpoint: VerifiedCheckpoint, _ view: LogView?
    ) throws(LookupError) -> LogView {
        let mark = EpochMark(response.epoch)
        guard let view, view.origin == checkpoint.checkpoint.origin else {
            guard response.consistency.hashes.isEmpty else { throw .uncalledForConsistencyProof }
            return LogView(checkpoint, epoch: mark)
        }
        do { return try view.advanced(to: checkpoint, epoch: mark, proof: response.consistency) } catch {
            throw .consistency(error)
        }
    }
}

extension EpochRecord {
    /// Rule E: the record is the last entry of the log with this head.
    func check(_ path: [TreeHash], endsLogOf head: TreeHead) throws(EpochError) {
        guard head.size > 0 else { throw .emptyLog }
        guard start < head.size else { throw .start(start, size: head.size) }
        let inclusion = InclusionProof(index: head.size - 1, hashes: path)
        do { try inclusion.verify(leaf: .leaf(entry), in: head) } catch { throw .notTheLastEntry(error) }
    }

    /// Number and time only grow, as the log does.
    func check(after known: EpochMark?) throws(EpochError) {
        guard let known else { return }
        guard number >= known.number && time >= known.time else {
            throw .runsBack(known: known, received: EpochMark(self))
        }
    }

    /// The epoch has ended: its time is not ahead of `now`, in seconds since 1970.
    func check(at now: UInt64, skew: UInt64) throws(EpochError) {
        let (latest, overflow) = now.addingReportingOverflow(skew)
        guard overflow || time / 1000 <= latest else { throw .fromTheFuture(secondsAhead: time / 1000 - now) }
    }
}

extension LabelHead {
    /// The record is the last entry of this history.
    func checkLast(_ record: StateRecord, path: [TreeHash]) throws(HistoryError) {
        guard count > 0 else { throw .empty }
        let inclusion = InclusionProof(index: count - 1, hashes: path)
        do { try inclusion.verify(leaf: .leaf(record.entry), in: tree) } catch { throw .notTheLastEntry(error) }
    }

    /// The history begins with what was known of it.
    func check(_ proof: ConsistencyProof, after known: LabelHead?) throws(HistoryError) {
        guard let known, known.count > 0 else {
            guard proof.hashes.isEmpty else { throw .uncalledForConsistencyProof }
            return
        }
        guard known.count <= count else { throw .shrunk(known: known.count, received: count) }
        do { try proof.verify(from: known.tree, to: tree) } catch { throw .rewritten(error) }
    }
}
