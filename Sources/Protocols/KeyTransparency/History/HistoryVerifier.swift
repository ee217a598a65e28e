// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
import VRF

/// Decides whether an answer shows the whole history of a handle since what was known of it.
///
/// ``verify(_:for:knowing:since:at:)`` is the page of checks. Everything comes in as an argument; what to remember goes
/// out as a value, and only if every check held.
public struct HistoryVerifier: Sendable {
    private let lookup: LookupVerifier

    /// A verifier for one directory.
    public init(trust: DirectoryTrust) { lookup = LookupVerifier(trust: trust) }

    /// A verifier for a log that has ended, whose last epoch may have waited for the quorum.
    init(_ log: FormerLog) { lookup = LookupVerifier(trust: log.trust, hasEnded: true) }

    /// Checks an answer to the question "what does the log hold for `handle`?".
    ///
    /// - Parameters:
    ///   - bytes: the body as received, ``HistoryResponse``.
    ///   - handle: whose history; never what the server echoed.
    ///   - view: the largest checkpoint this client has verified; nil on the first visit.
    ///   - known: what this client has verified of the label; empty for nothing.
    ///   - now: seconds since 1970.
    /// - Returns: every entry since `known`. As after a lookup, the caller stores the view before it goes on.
    /// - Throws: ``HistoryRefusal``: which check failed and why.
    public func verify(
        _ bytes: [UInt8], for handle: Handle, knowing view: LogView?, since known: MerkleFrontier, at now: UInt64
    ) throws(HistoryRefusal) -> VerifiedHistory {
        let response = try checkEnvelope(bytes)
        let answer = try checkLookup(response, handle, view, known, now)
        let entries = try checkEntries(response, answer, known)
        let leaves = entries.map { TreeHash.leaf($0.entry(under: answer.label)) }
        let frontier = try checkRoot(leaves, answer, known)
        let loggedIn = try checkSteps(response, leaves, answer, known)
        return VerifiedHistory(
            answer, answer.label, known: known, entries: entries, leaves: leaves, frontier: frontier, loggedIn: loggedIn
        )
    }

    private func checkEnvelope(_ bytes: [UInt8]) throws(HistoryRefusal) -> HistoryResponse {
        do { return try HistoryResponse(decoding: bytes) } catch { throw .envelope(error) }
    }

    /// The lookup proves what the label's last entry is, and the root over all of them.
    private func checkLookup(
        _ response: HistoryResponse, _ handle: Handle, _ view: LogView?, _ known: MerkleFrontier, _ now: UInt64
    ) throws(HistoryRefusal) -> VerifiedAnswer {
        let history = known.size == 0 ? nil : LabelHead(known.head)
        do { return try lookup.verify(response.lookup, for: handle, knowing: view, history: history, at: now) } catch {
            throw .lookup(error)
        }
    }

    /// Every state that is shown is well formed, signed by the identity key it names, and of this handle.
    private func checkEntries(
        _ response: HistoryResponse, _ answer: VerifiedAnswer, _ known: MerkleFrontier
    ) throws(HistoryRefusal) -> [HistoryEntry] {
        let label = LabelIndex(answer.label)
        var entries: [HistoryEntry] = []
        for entry in response.entries { entries.append(try checked(entry, answer.handle, label)) }
        guard let head = answer.history, head.count > known.size else { return entries }
        switch answer {
        case .registered(let lookup): entries.append(.state(lookup.record, lookup.state))
        case .closed(let closure): entries.append(.closed(StateRecord(closing: label, version: closure.version)))
        case .absent: break
        }
        return entries
    }

    private func checked(
        _ entry: HistoryResponse.Entry, _ handle: Handle, _ label: LabelIndex
    ) throws(HistoryRefusal) -> HistoryEntry {
        switch entry {
        case .device(let key): return .device(key)
        case .closed(let version): return .closed(StateRecord(closing: label, version: version))
        case .withheld(let kind, let version, let commitment):
            return .withheld(StateRecord(label: label, version: version, kind: kind, commitment: commitment))
        case .state(let kind, let opening, let encoded):
            let state: AccountState
            do { state = try AccountState(decoding: encoded) } catch { throw .accountState(error) }
            guard state.handle == handle else { throw .anotherAccount(state.handle) }
            let commitment = StateCommitment(to: state, opening: opening)
            return .state(
                StateRecord(label: label, version: state.version, kind: kind, commitment: commitment), state)
        }
    }

    /// The known entries and these together are the history that the index holds.
    private func checkRoot(
        _ leaves: [TreeHash], _ answer: VerifiedAnswer, _ known: MerkleFrontier
    ) throws(HistoryRefusal) -> MerkleFrontier {
        var frontier = known
        for leaf in leaves { frontier.append(leaf) }
        let head = answer.history?.tree ?? .empty
        guard frontier.head == head else { throw .otherHistory(entries: frontier.size, expected: head.size) }
        return frontier
    }

    /// In which epochs entries were logged, each once and in order, and between which times of the quorum. The caller
    /// decides about what is not shown.
    private func checkSteps(
        _ response: HistoryResponse, _ leaves: [TreeHash], _ answer: VerifiedAnswer, _ known: MerkleFrontier
    ) throws(HistoryRefusal) -> [UInt64: LoggedMoment] {
        var (moments, last) = ([UInt64: LoggedMoment](), known.size)
        let (checkpoint, policy) = (answer.epoch.checkpoint.checkpoint, lookup.trust.policy)
        for step in response.steps {
            guard step.count > last, step.count - known.size <= leaves.count else {
                throw .step(.noSuchEntry)
            }
            let leaf = leaves[Int(step.count - known.size) - 1]
            do { try step.verify(leaf, in: checkpoint.head) } catch { throw .step(error) }
            let place = step.inclusion.index
            moments[step.count] = LoggedMoment(
                epoch: step.epoch.record,
                absentAt: step.absent?.time(of: place, isThere: false, in: checkpoint, by: policy),
                seenAt: step.seen?.time(of: place, isThere: true, in: checkpoint, by: policy))
            last = step.count
        }
        return moments
    }
}

extension HistoryEntry {
    /// The raw log entry.
    func entry(under label: VRFHash) -> [UInt8] {
        switch self {
        case .device(let key): DeviceLeaf(label: label, publicKey: key)?.entry ?? []
        case .state(let record, _), .withheld(let record), .closed(let record): record.entry
        }
    }
}

/// Why a history was refused: one case a check.
public enum HistoryRefusal: Error, Hashable, Sendable {
    /// The body does not have the form of ``HistoryResponse``.
    case envelope(LookupMessageError)
    /// The lookup that it rests on was refused.
    case lookup(LookupError)
    /// A state in it is malformed or unsigned.
    case accountState(AccountStateError)
    /// A state in it is properly signed, but belongs to another account.
    case anotherAccount(Handle)
    /// Its entries are not those over which the index holds the root: something was left out, added or changed.
    case otherHistory(entries: UInt64, expected: UInt64)
    /// It is not shown in which epoch an entry was logged.
    case step(LoggedStepError)
}

/// What is safe in an app's log: the check and quantities. It contains no handle and no byte that a server sent.
extension HistoryRefusal: CustomStringConvertible {
    /// The check that failed.
    public var description: String {
        switch self {
        case .envelope: "the check 'envelope' refused a history"
        case .lookup(let error): "the check '\(error.check)' refused the lookup of a history"
        case .accountState, .anotherAccount: "the check 'accountState' refused a history"
        case .otherHistory(let entries, let expected):
            "the check 'root' refused a history of \(entries) entries, where the index holds \(expected)"
        case .step: "the check 'steps' refused a history"
        }
    }
}
