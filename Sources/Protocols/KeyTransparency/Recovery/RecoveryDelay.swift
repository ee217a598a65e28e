import TransparencyLog

/// Whether the log shows that a takeover waited: request and takeover were logged in epochs that are the committed delay
/// apart.
///
/// Guardians and whoever holds the server can write any time into a request. They cannot date an epoch back behind one
/// that somebody has seen, for the quorum's time bounds each epoch that a log ends in (``EpochTimeRule``).
public enum RecoveryDelay {
    /// How much less than the delay is still the delay, in seconds: an honest device's clock may be five minutes off when it
    /// asks, and five when it ends, and each epoch ends a little after what came in it.
    public static let tolerance: UInt64 = 900

    /// How old what a look showed may have been, in seconds: an hour.
    public static let lookAge: UInt64 = 3600

    /// Whether so much time has passed on this device since it saw the account without a request that one could have waited. It
    /// holds against a quorum whose clock goes as the server likes. What was seen at a look may have been an hour old.
    ///
    /// - Parameters:
    ///   - delay: what the account committed to, in seconds.
    ///   - look: when the account was seen, by this device's clock, in seconds since 1970.
    ///   - now: the same clock.
    public static func couldHavePassed(_ delay: UInt32, sinceLookAt look: UInt64, at now: UInt64) -> Bool {
        let (latest, overflow) = now.addingReportingOverflow(tolerance + lookAge)
        return overflow || latest >= look && latest - look >= UInt64(delay)
    }

    /// Whether two epochs are far enough apart.
    ///
    /// - Parameters:
    ///   - delay: what the account committed to, in seconds.
    ///   - asked: the epoch in which the request was logged.
    ///   - taken: the epoch in which the takeover was logged.
    public static func hasPassed(_ delay: UInt32, from asked: EpochRecord, to taken: EpochRecord) -> Bool {
        taken.time >= asked.time && (taken.time - asked.time) / 1000 + tolerance >= UInt64(delay)
    }

    /// Whether a request was logged after an epoch in which the account was seen without it, and claims nothing else.
    ///
    /// - Parameter look: when that epoch ended, in seconds since 1970.
    public static func isNew(_ start: RecoveryStart, in asked: EpochRecord, sinceLookAt look: UInt64) -> Bool {
        asked.time / 1000 >= look && start.started + tolerance >= look
    }
}

extension VerifiedHistory {
    /// The epoch in which the entry before was logged by which a takeover was asked for; nil if that is not shown.
    ///
    /// - Parameter count: which entry of the label the takeover is, counted from 1.
    func epoch(asking start: RecoveryStart, before count: UInt64) -> EpochRecord? {
        place(asking: start, before: count).flatMap { loggedIn[known.size + UInt64($0) + 1] }
    }

    private func place(asking start: RecoveryStart, before count: UInt64) -> Int? {
        guard count > known.size else { return nil }
        return entries.prefix(Int(count - known.size) - 1).lastIndex { $0.start == start }
    }

    /// Whether those whom the guardians in force replaced had their time: a request by the ones named last was logged no sooner
    /// after the change than the delay of those before, whatever time the change claims.
    ///
    /// A change that is not among the entries, because it was looked at before or an earlier log holds it, cannot be dated here.
    ///
    /// - Parameter count: which entry of the label the takeover is, counted from 1.
    func showsTimeOfFormer(in succession: RecoverySuccession, at count: UInt64) -> Bool {
        guard let place = place(asking: succession.start, before: count), case .state(_, let asked) = entries[place],
            asked.recoveryCommitment == succession.start.commitment.hash, let former = asked.formerRecovery
        else { return true }
        let change = entries.prefix(place).firstIndex { $0.state?.formerRecovery == former }
        guard let change, known.size > 0 || entries.prefix(change).contains(where: { $0.state != nil }) else {
            return true
        }
        guard let changed = loggedIn[known.size + UInt64(change) + 1],
            let asked = loggedIn[known.size + UInt64(place) + 1]
        else { return false }
        return RecoveryDelay.hasPassed(former.commitment.delay, from: changed, to: asked)
    }

    /// Whether the log shows that this takeover waited.
    ///
    /// - Parameter count: which entry of the label it is, counted from 1.
    func showsDelay(of succession: RecoverySuccession, at count: UInt64) -> Bool {
        guard let asked = epoch(asking: succession.start, before: count), let taken = loggedIn[count] else {
            return false
        }
        return RecoveryDelay.hasPassed(succession.start.commitment.delay, from: asked, to: taken)
    }
}

extension HistoryEntry {
    fileprivate var state: AccountState? { if case .state(_, let state) = self { state } else { nil } }

    /// The request that this entry logs, if it does.
    var start: RecoveryStart? {
        if case .state(_, let state) = self, case .started(let start, _, _) = state.step { start } else { nil }
    }
}
