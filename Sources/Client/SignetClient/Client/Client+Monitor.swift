// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
package import TransparencyLog

/// The result of checking the history of the user's own account.
public struct MonitorReport: Hashable, Sendable {
    /// The handle of the user's own account.
    public let handle: Handle
    /// What the user has to confirm or deny; empty if all is well.
    public let alarms: [MonitorAlarm]
    /// The epoch up to which the result holds.
    public let epoch: UInt64
    /// The last version that was logged.
    public let version: UInt64
    /// How many entries were new since the last check without an alarm.
    public let entryCount: Int
    /// How many past milestones were checked.
    public let milestoneCount: Int
    /// Whether this was the first check: what was there is taken to be the user's own.
    public let isFirst: Bool
    /// Whether the user declared all findings, that is all of ``alarms``, to be their own doing.
    public let isAccepted: Bool
    /// What was found in logs that have ended and the user declared to be their own doing with this check. The user had not
    /// seen the findings of this log by then; those are in ``alarms``, and are accepted with another check.
    public var acceptedFormer: [MonitorAlarm] = []
    /// The versions of the account that this device has brought again, during the check or a change before it, because the directory could not
    /// show the account; empty as a rule. The log has shown the same as before by then.
    public var broughtAgain: [UInt64] = []

    /// What the user still has to confirm or deny.
    public var openAlarms: [MonitorAlarm] { isAccepted ? [] : alarms }

    /// What the user has declared to be their own doing with this check.
    public var acceptedAlarms: [MonitorAlarm] { acceptedFormer + (isAccepted ? alarms : []) }
}

/// What a check of the history in this log found.
private struct OwnLook {
    let history: VerifiedHistory
    /// The record that was checked.
    let record: OwnRecord
    let decision: MonitorDecision
    let milestoneCount: Int
}

extension Client {
    /// Checks everything that was logged under the user's own handle since the last check without an alarm, and what the index
    /// held at each milestone since. After a handover, the ended log is checked first.
    ///
    /// If the directory is unavailable, it may have lost what this device brought: that is brought again, byte for byte, and the check is made once
    /// more (``MonitorReport/broughtAgain``).
    ///
    /// - Parameter isAccepting: the user confirms that everything found is their own doing, so that it raises no alarm the next
    ///   time. Alarms from an ended log are reported separately, and so they are accepted separately.
    /// - Throws: ``ClientError``: the check could not be finished, and nothing was accepted. That alone proves nothing, except
    ///   for an answer that fails a check.
    public func checkOwnAccount(isAccepting: Bool = false) async throws(ClientError) -> MonitorReport {
        var report = try await bringingAgain { () throws(ClientError) in
            try await checkedAccount(isAccepting: isAccepting)
        }
        report.broughtAgain = takeBroughtAgain()
        return report
    }

    private func checkedAccount(isAccepting: Bool) async throws(ClientError) -> MonitorReport {
        guard let owner else { throw .misuse(.noAccount) }
        guard try await isConfirmed(owner) else { throw .misuse(.deviceNotAddedYet) }
        let former = try await formerLook()
        if let former, !former.alarms.isEmpty {
            guard isAccepting else { return .former(owner.handle, former.alarms) }
            return try await accept(former, of: owner.handle)
        }
        // Another process was faster; the next check does it.
        if let former { _ = try await settle(former) }
        for _ in 0..<8 {
            let record = try await ownRecord()
            guard let look = try await look(at: owner.handle, record) else {
                return .vanished(owner.handle, record.watch ?? .beginning)
            }
            if try await settle(look, isAccepting: isAccepting) { return .found(look, isAccepting: isAccepting) }
        }
        throw .viewKeepsMoving
    }

    /// Accepts what was found in ended logs, and checks this log without accepting any of its findings, because the user has
    /// not seen them yet.
    ///
    /// The check comes first. Otherwise a directory could make it fail once, and a user who repeats the same confirmation would
    /// accept findings unseen.
    private func accept(_ former: FormerLook, of handle: Handle) async throws(ClientError) -> MonitorReport {
        let look = try await look(at: handle, former.next)
        guard try await settle(former) else { throw .viewKeepsMoving }
        var report = MonitorReport.vanished(handle, former.next.watch ?? .beginning)
        if let look {
            // Another process was faster; the next check does it.
            _ = try await settle(look, isAccepting: false)
            report = .found(look, isAccepting: false)
        }
        report.acceptedFormer = former.alarms
        return report
    }

    /// - Returns: nil if the directory now denies an account that it proved.
    private func look(at handle: Handle, _ record: OwnRecord) async throws(ClientError) -> OwnLook? {
        let watch = record.watch ?? .beginning
        guard let history = try await history(of: handle, since: watch.history) else { return nil }
        if case .absent = history.answer, watch.version > 0 { return nil }
        var decision = try await decide(history, since: watch, acts: record.acts)
        if record.watch == nil { try await acceptWhatIsPinned(&decision, history, record.acts) }
        let milestones = try await checkMilestones(history, watch, &decision)
        return OwnLook(history: history, record: record, decision: decision, milestoneCount: milestones)
    }

    /// Records a check without an alarm, or one of which the user says that everything found is their own doing.
    ///
    /// - Returns: false if another process has changed the user's own record meanwhile; then nothing was changed.
    private func settle(_ look: OwnLook, isAccepting: Bool) async throws(ClientError) -> Bool {
        guard look.decision.alarms.isEmpty || isAccepting else { return true }
        guard try await keep(look.decision.watch, in: look.record) else { return false }
        try await keepCheck()
        return true
    }

    /// What the owner has to confirm or deny, by the log's epochs and by this device's own clock.
    func decide(
        _ history: VerifiedHistory, since watch: OwnWatch, acts: [OwnAct]
    ) async throws(ClientError) -> MonitorDecision {
        let last = try await stored { () throws(StoreError) in try await store.lastCheck() }
        return MonitorDecision(history, since: watch, acts: acts, lookedAt: last, at: surroundings.now())
    }

    /// Whether a check is due: there was none yet; or a day has begun since, in the log or by this device's own clock; or a
    /// lookup showed entries that no check has seen; or keys of other people are to be looked for again.
    ///
    /// The log's days alone would not be enough, because the log's operator could let its clock stand still.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func isCheckDue() async throws(ClientError) -> Bool {
        guard let owner, let pinned = try await pinnedPeer(owner.handle) else { return false }
        guard let watch = try await ownRecord().watch, let mark = watch.milestone else { return true }
        let last = try await stored { () throws(StoreError) in try await store.lastCheck() }
        guard let last, last / 86_400 == surroundings.now() / 86_400 else { return true }
        if try await hasDueShownKeys() { return true }
        let day = try await logView()?.epoch.map { $0.time / 86_400_000 } ?? 0
        return day > mark.day || pinned.history.count > watch.history.size
    }

    /// Since when no check of the user's own account has been finished, by this device's clock, in seconds since 1970; nil if
    /// that is less than a day ago. A directory that answers lookups but no history request must not go unnoticed.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func uncheckedSince() async throws(ClientError) -> UInt64? {
        guard let owner, let pinned = try await pinnedPeer(owner.handle) else { return nil }
        let last = try await stored { () throws(StoreError) in try await store.lastCheck() } ?? pinned.pinnedAt
        return surroundings.now() >= last + 86_400 ? last : nil
    }

    /// A handle's entries since what is known of it; nil if the directory now denies an account that it proved before.
    package func history(
        of handle: Handle, since frontier: MerkleFrontier
    ) async throws(ClientError) -> VerifiedHistory? {
        for _ in 0..<8 {
            let (known, now) = (try await logView(), surroundings.now())
            let request = LookupRequest(
                handle: handle, knownSize: known?.head.size ?? 0, knownCount: frontier.size)
            let bytes: [UInt8]
            do { bytes = try await calls.history(HistoryRequest(request)) } catch {
                throw error.judged(knowing: known, at: now)
            }
            let history: VerifiedHistory
            do {
                history = try HistoryVerifier(trust: profile.trust).verify(
                    bytes, for: handle, knowing: known, since: frontier, at: now)
            } catch .lookup(.history(.vanished)) {
                return nil
            } catch .lookup(let error) {
                throw await refusal(of: handle, error, bytes, known, at: now)
            } catch { throw .history(error) }
            let isStored = try await stored { () throws(StoreError) in
                try await store.advance(to: history.epoch.view, from: known)
            }
            if isStored { return history }
        }
        throw .viewKeepsMoving
    }

    /// The first check on a device that joined: the pinned state, and what led to it, are accepted as they are.
    private func acceptWhatIsPinned(
        _ decision: inout MonitorDecision, _ history: VerifiedHistory, _ acts: [OwnAct]
    ) async throws(ClientError) {
        switch history.answer {
        case .registered(let lookup):
            guard try await pinnedPeer(lookup.handle)?.stateHash == lookup.state.authored.hash else { return }
            decision.accept()
            // No one may accept a recovery under way unseen, except the device that requests it.
            if lookup.state.pendingRecovery != nil, !acts.contains(where: { $0.stateHash == lookup.state.hash }) {
                decision.raise(.recovery(version: lookup.state.version))
            }
        case .absent(let absence): throw .notRegistered(absence)
        case .closed: return
        }
    }

    /// - Returns: how many milestones were checked; a fault becomes an alarm.
    private func checkMilestones(
        _ history: VerifiedHistory, _ watch: OwnWatch, _ decision: inout MonitorDecision
    ) async throws(ClientError) -> Int {
        let (record, size) = (history.epoch.record, history.epoch.checkpoint.checkpoint.head.size)
        guard let mark = watch.milestone else {
            decision.check(at: MilestoneMark(history.epoch))
            return 0
        }
        let verifier = MilestoneVerifier(history)
        // On the mark's own day there is no later milestone, because times do not run backwards.
        guard let newest = verifier.newest, newest > mark.index || record.day > mark.day else { return 0 }
        let bytes = try await calls.milestones(
            MilestonesRequest(handle: history.handle, size: size, after: mark.index))
        do {
            let verified = try verifier.verify(bytes, since: mark)
            decision.check(at: verified.mark)
            if let days = verified.unseen { decision.raise(.unseenDays(days)) }
            return verified.count
        } catch {
            decision.raise(.milestone(error))
            return 0
        }
    }

    private func keepCheck() async throws(ClientError) {
        let now = surroundings.now()
        try await stored { () throws(StoreError) in try await store.setLastCheck(now) }
    }

    private func keep(_ watch: OwnWatch, in record: OwnRecord) async throws(ClientError) -> Bool {
        let next = record.watching(watch)
        guard next != record else { return true }
        return try await stored { () throws(StoreError) in
            try await store.setOwnRecord(next, replacing: record)
        }
    }
}

extension MonitorReport {
    fileprivate static func found(_ look: OwnLook, isAccepting: Bool) -> MonitorReport {
        let (history, decision) = (look.history, look.decision)
        return MonitorReport(
            handle: history.handle, alarms: decision.alarms, epoch: history.epoch.record.number,
            version: decision.watch.version, entryCount: history.entries.count, milestoneCount: look.milestoneCount,
            isFirst: look.record.watch == nil, isAccepted: isAccepting && !decision.alarms.isEmpty)
    }

    /// What was found in a log that has ended.
    fileprivate static func former(_ handle: Handle, _ alarms: [MonitorAlarm]) -> MonitorReport {
        MonitorReport(
            handle: handle, alarms: alarms, epoch: 0, version: 0, entryCount: 0, milestoneCount: 0, isFirst: false,
            isAccepted: false)
    }

    fileprivate static func vanished(_ handle: Handle, _ watch: OwnWatch) -> MonitorReport {
        MonitorReport(
            handle: handle, alarms: [.vanished], epoch: 0, version: watch.version, entryCount: 0,
            milestoneCount: 0, isFirst: false, isAccepted: false)
    }
}
