// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import TransparencyLog

// After a handover, what the ended log showed of an account must match its end, and must be how the next log begins.
extension Client {
    /// Stores how logs ended, before the trust in the continuing log replaces the trust in them.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func remember(_ succession: VerifiedSuccession) async throws(ClientError) {
        try await stored { () throws(StoreError) in try await store.keep(succession.formerLogs) }
    }

    /// The log's growth from what this client knew of it to its end, proved and stored.
    func checkGrowth(to log: FormerLog) async throws(ClientError) {
        guard
            let known = try await stored({ () throws(StoreError) in
                try await store.logView(origin: log.origin.bytes)
            })
        else { return }
        do throws(LogContradiction) { try known.checkNoContradiction(log.end) } catch {
            throw await contradiction(error)
        }
        let proof = try await growth(of: log, from: known.head.size)
        let view: LogView
        do throws(LogContradiction) { view = try known.advanced(to: log.end, proof: proof) } catch {
            throw await contradiction(error)
        }
        // Another process stored it first, and proved it too.
        _ = try await stored { () throws(StoreError) in try await store.advance(to: view, from: known) }
    }

    private func contradiction(_ evidence: LogContradiction) async -> ClientError {
        .log(await keep(evidence).map { .contradictionNotKept(evidence, $0) } ?? .contradiction(evidence))
    }

    /// What must hold of a pinned account before the next log's answer about it counts.
    ///
    /// - Returns: what the last ended log held of the account; nil if there is nothing to compare, or if it was compared
    ///   before.
    func inheritance(of handle: Handle) async throws(ClientError) -> Inheritance? {
        let found = try await stored { () throws(StoreError) in try await store.formerHistory(of: handle) }
        guard let found else { return nil }
        let histories = try await past(of: handle, from: found.origin, beginning: .known(found.history))
        for history in histories { try await settleShownKeys(in: history) }
        guard case .registered(let lookup) = histories.last?.answer else { throw .former(handle, .withheld) }
        return Inheritance(former: found, lookup: lookup)
    }

    /// Records that an account's history in this log begins with its former history, so that this is not requested again.
    func settle(_ inheritance: Inheritance, _ answer: VerifiedAnswer) async throws(ClientError) {
        guard let history = answer.history else { return }
        for _ in 0..<8 {
            guard let pinned = try await pinnedPeer(inheritance.former.handle) else { return }
            let isSettled = try await stored { () throws(StoreError) in
                try await store.settle(
                    inheritance.former, pinning: pinned.extended(to: history), replacing: pinned)
            }
            if isSettled { return }
        }
        throw .viewKeepsMoving
    }

    /// Everything that was logged under the user's own handle between the last check without an alarm and the end of the log.
    ///
    /// - Returns: the findings, which have to be settled once; nil if there is nothing to check.
    func formerLook() async throws(ClientError) -> FormerLook? {
        let found = try await stored { () throws(StoreError) in try await store.formerWatch() }
        guard let owner, let found else { return nil }
        let record = try await ownRecord()
        let histories = try await past(
            of: owner.handle, from: found.origin, beginning: .known(LabelHead(found.watch.history.head)))
        var (watch, alarms): (OwnWatch, [MonitorAlarm]) = (found.watch, [])
        for history in histories {
            let decision = try await decide(history.since(watch.history), since: watch, acts: record.acts)
            alarms += decision.alarms
            watch = decision.watch.movedToNextLog()
        }
        return FormerLook(alarms: alarms, watch: found, record: record, next: record.watching(watch))
    }

    /// Records that the findings are the user's own doing, so that they are not reported again.
    ///
    /// - Returns: false if another process has changed the user's own record meanwhile; then nothing was changed.
    func settle(_ look: FormerLook) async throws(ClientError) -> Bool {
        try await stored { () throws(StoreError) in
            try await store.settle(look.watch, with: look.next, replacing: look.record)
        }
    }

    /// What the logs before this one held of a person, as far back as it is shown without a gap. How the log before
    /// those ended is known in any case.
    package func formerHistories(of handle: Handle) async throws(ClientError) -> FormerHistories {
        let logs = try await stored { () throws(StoreError) in try await store.formerLogs() }
        var histories: [VerifiedHistory] = []
        for log in logs.prefix(while: { $0.origin != origin }).reversed() {
            let history: VerifiedHistory
            do { history = try await past(of: handle, in: log, .known(LabelHead(.empty))) } catch {
                guard case .former(_, .withheld) = error else { throw error }
                return FormerHistories(histories, after: log.end.quorumTime)
            }
            guard case .registered = history.answer else {
                return FormerHistories(histories, after: log.end.quorumTime)
            }
            histories.insert(history, at: 0)
        }
        return FormerHistories(histories)
    }

    /// The whole history of a handle in an ended log, and in those that ended after it.
    private func past(
        of handle: Handle, from origin: KeyName, beginning: FormerBeginning
    ) async throws(ClientError) -> [VerifiedHistory] {
        let logs = try await stored { () throws(StoreError) in try await store.formerLogs() }
        guard let first = logs.firstIndex(where: { $0.origin == origin }) else { throw .former(handle, .withheld) }
        var (beginning, histories): (FormerBeginning, [VerifiedHistory]) = (beginning, [])
        for log in logs[first...] {
            let history = try await past(of: handle, in: log, beginning)
            histories.append(history)
            switch history.answer {
            case .registered(let lookup): beginning = .inherited(lookup)
            case .closed(let closure): throw .accountClosed(closure)
            case .absent(let absence): throw .notRegistered(absence)
            }
        }
        return histories
    }

    /// The whole history of a handle in an ended log.
    ///
    /// - Throws: ``ClientError/former(_:_:)`` if the history is not shown, or if it fails a check; other errors prove nothing.
    func past(
        of handle: Handle, in log: FormerLog, _ beginning: FormerBeginning
    ) async throws(ClientError) -> VerifiedHistory {
        let bytes: [UInt8]
        do { bytes = try await former(FormerRequest(origin: log.origin, handle: handle)) } catch {
            // A server that does not show how a log ended must be treated as one that cannot.
            guard case .refused(.notFound, _) = error else { throw error }
            throw .former(handle, .withheld)
        }
        do { return try FormerVerifier(log).verify(bytes, for: handle, beginning: beginning) } catch {
            throw .former(handle, .refused(error))
        }
    }

    /// A proof as the server claims it; an answer that cannot be read counts as an empty one, which proves nothing.
    private func growth(of log: FormerLog, from size: UInt64) async throws(ClientError) -> ConsistencyProof {
        guard size > 0, size < log.end.checkpoint.head.size else { return ConsistencyProof(hashes: []) }
        let bytes: [UInt8]
        do { bytes = try await former(FormerRequest(origin: log.origin, knownSize: size)) } catch {
            guard case .refused(.notFound, _) = error else { throw error }
            throw .former(nil, .withheld)
        }
        return (try? FormerResponse(decoding: bytes))?.consistency ?? ConsistencyProof(hashes: [])
    }

    private func former(_ request: FormerRequest) async throws(ClientError) -> [UInt8] {
        try await call(FormerRoute.former, request.encoded, signedBy: nil, mayRepeat: true)
    }
}

/// What an ended log last held of an account, which is how its history begins in the next log.
struct Inheritance {
    let former: FormerHistory
    let lookup: VerifiedLookup
}

/// What a check of the end of the previous logs found under the user's own handle.
struct FormerLook {
    /// What the user has to confirm or deny; empty if all is well.
    let alarms: [MonitorAlarm]
    /// The watch that ends with the check, and the record that was checked.
    fileprivate let watch: FormerWatch
    fileprivate let record: OwnRecord
    /// The record for a user who confirms that everything found is their own doing; the check of this log continues from it.
    let next: OwnRecord
}

/// Why no answer about a person is accepted after a handover.
public enum FormerFault: Hashable, Sendable {
    /// The directory does not show what the ended log last held for the person.
    case withheld
    /// What the directory shows failed a check.
    case refused(FormerRefusal)
    /// The continuing log does not begin with it.
    case notTakenOver(HistoryError)
}
