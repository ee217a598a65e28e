public import KeyTransparency
import SignetAPI
import TransparencyLog

/// Keys that the directory showed to this user and does not stand by.
public struct ShownKeysAlarm: Hashable, Sendable {
    /// Whose keys, and what was shown.
    public let shown: ShownKeys
    /// What is wrong.
    public let fault: ShownKeysFault
}

extension Client {
    /// How many of the keys are looked for again in one go.
    private static var shownKeysAtATime: Int { 32 }

    /// Looks once more, after the next milestone, for the keys of others that were used: the present history of each person
    /// must begin with what was shown, and so must the one at each milestone since.
    ///
    /// - Parameter isAccepting: the user has settled it with the people concerned; what raised an alarm is forgotten.
    /// - Returns: what raises an alarm. It is kept, and raises it again the next time.
    /// - Throws: ``ClientError``: a look could not be finished, and none raised an alarm. That proves nothing; an answer that fails a
    ///   check does.
    public func checkShownKeys(isAccepting: Bool = false) async throws(ClientError) -> [ShownKeysAlarm] {
        var (alarms, failure): ([ShownKeysAlarm], ClientError?) = ([], nil)
        // In any order: somebody whose history cannot be had is in nobody's way.
        for shown in try await dueShownKeys().shuffled().prefix(Self.shownKeysAtATime) {
            let fault: ShownKeysFault?
            do throws(ClientError) { fault = try await self.fault(of: shown) } catch {
                failure = failure ?? error
                continue
            }
            if let fault { alarms.append(ShownKeysAlarm(shown: shown, fault: fault)) }
            if fault == nil || isAccepting { try await settle(shown) }
        }
        if let failure, alarms.isEmpty { throw failure }
        return alarms
    }

    /// Since when keys of others that were used wait to be looked for again, by this device's clock, in seconds since 1970; nil if that
    /// is less than two days ago: the next milestone comes within one.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func uncheckedShownKeysSince() async throws(ClientError) -> UInt64? {
        let origin = origin
        let all = try await stored { () throws(StoreError) in try await store.shownKeys(in: origin) }
        guard let oldest = all.map(\.shownAt).min(), surroundings.now() >= oldest + 2 * 86_400 else { return nil }
        return oldest
    }

    /// Keys for which a milestone has come since they were shown.
    func dueShownKeys() async throws(ClientError) -> [ShownKeys] {
        guard let day = try await logView()?.epoch.map({ $0.time / 86_400_000 }) else { return [] }
        let origin = origin
        let all = try await stored { () throws(StoreError) in try await store.shownKeys(in: origin) }
        return all.filter { $0.epoch.day < day }
    }

    private func settle(_ shown: ShownKeys) async throws(ClientError) {
        let origin = origin
        try await stored { () throws(StoreError) in try await store.settle(shown, in: origin) }
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
