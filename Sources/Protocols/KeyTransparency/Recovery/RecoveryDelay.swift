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

    /// A delay that is no longer protects nobody, in seconds: the log may show it to have passed at once, by epochs that are
    /// behind by as much as ``EpochTimeRule`` allows.
    public static let uncountable: UInt64 = tolerance + EpochTimeRule.standard.maximumLag

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
