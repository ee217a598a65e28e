import TransparencyLog

/// Whether the log shows that a takeover waited: the quorum had seen the request in the log for the committed delay when the
/// takeover was logged.
///
/// Guardians and whoever holds the server can write any time into a request, and log it in one go with the takeover, in an
/// epoch that is dated back. They have no cosignature from then over a log with the request in it (``SeenCheckpoint``).
public enum RecoveryDelay {
    /// How much less than the delay is still the delay, in seconds: an honest device's clock may be five minutes off when it
    /// asks, and five when it ends, and each epoch ends a little after what came in it.
    public static let tolerance: UInt64 = 900

    /// How old what a look showed may have been, in seconds: an hour.
    public static let lookAge: UInt64 = 3600

    /// A delay that is no longer protects nobody, in seconds: the log may show it to have passed at once, by an epoch that is ahead
    /// of the quorum's time by as much as ``EpochTimeRule`` allows.
    public static let uncountable: UInt64 = tolerance + EpochTimeRule.standard.clockSkew

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

    /// Whether two steps are far enough apart. When the first one's epoch claims to have ended is of no account.
    ///
    /// - Parameters:
    ///   - delay: what the account committed to, in seconds.
    ///   - seenAt: when the quorum had seen the request, in seconds since 1970; nil where that is not shown.
    ///   - taken: the epoch in which the takeover was logged.
    public static func hasPassed(_ delay: UInt32, since seenAt: UInt64?, to taken: EpochRecord) -> Bool {
        let taken = taken.time / 1000
        guard let seenAt, seenAt <= taken else { return false }
        return taken - seenAt + tolerance >= UInt64(delay)
    }

    /// Whether a request was logged after an epoch in which the account was seen without it, and claims nothing else.
    ///
    /// - Parameter look: when that epoch ended, in seconds since 1970.
    public static func isNew(_ start: RecoveryStart, in asked: EpochRecord, sinceLookAt look: UInt64) -> Bool {
        asked.time / 1000 >= look && start.started + tolerance >= look
    }
}
