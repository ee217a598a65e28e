// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import TransparencyLog

/// Keys that the directory showed to this user but that its log does not confirm.
public struct ShownKeysAlarm: Hashable, Sendable {
    /// The keys that were shown, and whose they are.
    public let shown: ShownKeys
    /// What is wrong.
    public let fault: ShownKeysFault
}

/// Keys that are to be looked for again.
private struct DueKeys {
    let shown: ShownKeys
    /// The log that showed the keys, if it has ended.
    let former: FormerLog?
}

extension Client {
    /// How many of the keys are looked for again in one go.
    private static var shownKeysAtATime: Int { 32 }

    /// Checks once more, after the next milestone, the keys of other people that were used: each person's present history must
    /// begin with what was shown, and so must the history at each milestone since.
    ///
    /// What an ended log showed must be how the person's history ended there. Its milestones can no longer be requested, and
    /// the end is enough: if an index held keys for a while but not at the end, this check finds them, and keys that are in the
    /// history at the end are logged for good, where their owner finds them. An end that is not shown is an alarm. If an
    /// earlier version of this program followed the handover of a log, the log's end was not stored and cannot be checked.
    ///
    /// - Parameter isAccepting: the user has settled the matter with the people concerned; what raised an alarm is forgotten.
    /// - Returns: the keys that raise an alarm. They are kept, and raise it again the next time.
    /// - Throws: ``ClientError``: a check could not be finished, and none raised an alarm. That alone proves nothing, except
    ///   for an answer that fails a check.
    public func checkShownKeys(isAccepting: Bool = false) async throws(ClientError) -> [ShownKeysAlarm] {
        var (alarms, failure): ([ShownKeysAlarm], ClientError?) = ([], nil)
        // In any order: a person whose history is unavailable does not block the others.
        for due in try await dueKeys().shuffled().prefix(Self.shownKeysAtATime) {
            let fault: ShownKeysFault?
            do throws(ClientError) { fault = try await self.fault(of: due) } catch {
                failure = failure ?? error
                continue
            }
            if let fault { alarms.append(ShownKeysAlarm(shown: due.shown, fault: fault)) }
            if fault == nil || isAccepting { try await settle(due.shown, in: due.former?.origin ?? origin) }
        }
        if let failure, alarms.isEmpty { throw failure }
        return alarms
    }

    /// Since when keys of other people that were used have been waiting to be looked for again, by this device's clock, in
    /// seconds since 1970; nil if that is less than two days ago, because the next milestone comes within one. What ended logs
    /// showed counts as well.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func uncheckedShownKeysSince() async throws(ClientError) -> UInt64? {
        let all = try await shownKeys(in: origin) + formerKeys().map(\.shown)
        guard let oldest = all.map(\.shownAt).min(), surroundings.now() >= oldest + 2 * 86_400 else { return nil }
        return oldest
    }

    /// Whether a milestone has come since keys were shown that have not been looked for again, or the log that showed them has
    /// ended.
    func hasDueShownKeys() async throws(ClientError) -> Bool { try await !dueKeys().isEmpty }

    private func dueKeys() async throws(ClientError) -> [DueKeys] {
        let day = try await logView()?.epoch.map { $0.time / 86_400_000 } ?? 0
        let present = try await shownKeys(in: origin).filter { $0.epoch.day < day }
        return try await present.map { DueKeys(shown: $0, former: nil) } + formerKeys()
    }

    private func formerKeys() async throws(ClientError) -> [DueKeys] {
        let logs = try await stored { () throws(StoreError) in try await store.formerLogs() }
        var found: [DueKeys] = []
        // A log that is known to have ended is trusted until the user follows the handover.
        for log in logs where log.origin != origin {
            found += try await shownKeys(in: log.origin).map { DueKeys(shown: $0, former: log) }
        }
        return found
    }

    private func shownKeys(in origin: KeyName) async throws(ClientError) -> [ShownKeys] {
        try await stored { () throws(StoreError) in try await store.shownKeys(in: origin) }
    }

    private func settle(_ shown: ShownKeys, in origin: KeyName) async throws(ClientError) {
        try await stored { () throws(StoreError) in try await store.settle(shown, in: origin) }
    }

    /// Forgets what an ended log showed of a person, if the history begins with what that log ended with.
    func settleShownKeys(in history: VerifiedHistory) async throws(ClientError) {
        let origin = history.epoch.checkpoint.checkpoint.origin
        for shown in try await shownKeys(in: origin) where (try? shown.check(history)) != nil {
            try await settle(shown, in: origin)
        }
    }

    private func fault(of due: DueKeys) async throws(ClientError) -> ShownKeysFault? {
        guard let log = due.former else { return try await fault(of: due.shown) }
        let history: VerifiedHistory
        do { history = try await past(of: due.shown.handle, in: log, .known(LabelHead(.empty))) } catch {
            guard case .former = error else { throw error }
            return .withheld
        }
        do { try due.shown.check(history) } catch { return error }
        return nil
    }

    private func fault(of shown: ShownKeys) async throws(ClientError) -> ShownKeysFault? {
        guard let history = try await history(of: shown.handle, since: OwnWatch.beginning.history) else {
            return .takenBack
        }
        do { try shown.check(history) } catch { return error }
        let size = history.epoch.checkpoint.checkpoint.head.size
        let bytes = try await calls.milestones(
            MilestonesRequest(handle: shown.handle, size: size, after: shown.epoch.index))
        do { try shown.check(bytes, with: history) } catch { return error }
        return nil
    }
}
