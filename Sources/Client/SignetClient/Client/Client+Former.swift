public import KeyTransparency
import SignetAPI
import TransparencyLog

// After a handover: what the log that ended showed of a person must be how it ended, and how the next one begins.
extension Client {
    /// Keeps how logs ended, before the trust in the one that goes on takes the place of the trust in them.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func remember(_ succession: VerifiedSuccession) async throws(ClientError) {
        try await stored { () throws(StoreError) in try await store.keep(succession.formerLogs) }
    }

    /// The log's own growth from what this client knew of it to its end, proved and stored.
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
        // Lost to another process, that one proved it too.
        _ = try await stored { () throws(StoreError) in try await store.advance(to: view, from: known) }
    }

    private func contradiction(_ evidence: LogContradiction) async -> ClientError {
        .log(await keep(evidence).map { .contradictionNotKept(evidence, $0) } ?? .contradiction(evidence))
    }

    /// What must hold of somebody pinned before the next log's answer about them counts.
    ///
    /// - Returns: what the last log that ended held of them; nil when there is nothing to compare, or it was compared.
    func inheritance(of handle: Handle) async throws(ClientError) -> Inheritance? {
        let found = try await stored { () throws(StoreError) in try await store.formerHistory(of: handle) }
        guard let found else { return nil }
        let histories = try await past(of: handle, from: found.origin, beginning: .known(found.history))
        for history in histories { try await settleShownKeys(in: history) }
        guard case .registered(let lookup) = histories.last?.answer else { throw .former(handle, .withheld) }
        return Inheritance(former: found, lookup: lookup)
    }

    /// Keeps that a person's history in this log begins with what they had, so that it is not asked for again.
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

    /// Everything that was logged under the own name between the last look without an alarm and the end of the log.
    ///
    /// - Returns: what was found, which is to be settled once; nil when there is nothing to look at.
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

    /// Keeps that what was found is the user's own doing, so that it is not looked at again.
    ///
    /// - Returns: false if another process has changed the own record meanwhile; nothing was changed.
    func settle(_ look: FormerLook) async throws(ClientError) -> Bool {
        try await stored { () throws(StoreError) in
            try await store.settle(look.watch, with: look.next, replacing: look.record)
        }
    }

    /// What the logs before this one held of somebody, as far back as that is shown without a gap. How the log ended before that
    /// is known all the same.
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

    /// The whole history of a handle in a log that ended, and in those that ended after it.
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

    /// The whole history of a handle in a log that ended.
    ///
    /// - Throws: ``ClientError/former(_:_:)``: it is not shown, or what is shown fails a check; others prove nothing.
    func past(
        of handle: Handle, in log: FormerLog, _ beginning: FormerBeginning
    ) async throws(ClientError) -> VerifiedHistory {
        let bytes: [UInt8]
        do { bytes = try await former(FormerRequest(origin: log.origin, handle: handle)) } catch {
            // Whoever does not show how a log ended has to be taken for one who cannot.
            guard case .refused(.notFound, _) = error else { throw error }
            throw .former(handle, .withheld)
        }
        do { return try FormerVerifier(log).verify(bytes, for: handle, beginning: beginning) } catch {
            throw .former(handle, .refused(error))
        }
    }

    /// A proof as somebody claims it; an answer that cannot be read is an empty one, which proves nothing.
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

/// What a log that ended held last of somebody: how their history begins in the next one.
struct Inheritance {
    let former: FormerHistory
    let lookup: VerifiedLookup
}

/// What a look at the end of the logs before this one found under the own name.
struct FormerLook {
    /// What the user has to answer for or deny; empty when all is well.
    let alarms: [MonitorAlarm]
    /// The watch that ends with it, and the record that was looked at.
    fileprivate let watch: FormerWatch
    fileprivate let record: OwnRecord
    /// The record of whoever says that everything found is their own doing: from it the look at this log goes on.
    let next: OwnRecord
}

/// Why nothing of somebody is believed after a handover.
public enum FormerFault: Hashable, Sendable {
    /// The directory does not show what the log that ended held last for them.
    case withheld
    /// What it shows failed a check.
    case refused(FormerRefusal)
    /// The log that goes on does not begin with it.
    case notTakenOver(HistoryError)
}
