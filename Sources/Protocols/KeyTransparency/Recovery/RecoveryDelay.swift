// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// Whether the log shows that a takeover waited: the quorum had seen the log with the request in it for the committed delay when it
/// still saw it without the takeover.
///
/// Guardians and an attacker who controls the server can write any time into a request, log it together with the
/// takeover, and date their epochs as they like. What the quorum cosigned bounds both from the safe side
/// (``SeenCheckpoint``).
public enum RecoveryDelay {
    /// How much less than the delay is still the delay, in seconds: an honest device's clock may be five minutes off when it
    /// asks, and five when it ends, and each epoch ends a little after what came in it.
    public static let tolerance: UInt64 = 900

    /// How old what a look showed may have been, in seconds: an hour.
    public static let lookAge: UInt64 = 3600

    /// In seconds. A delay of this length or less gives no protection if the quorum is the server's own: by a contact's
    /// own clock it may have passed at once (``couldHavePassed(_:sinceLookAt:at:)``).
    public static let uncountable: UInt64 = tolerance + lookAge

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

    /// Whether two steps are far enough apart. When their epochs claim to have ended is of no account.
    ///
    /// - Parameters:
    ///   - delay: what the account committed to, in seconds.
    ///   - seenAt: when the quorum had seen the log with the request, in seconds since 1970; nil where that is not shown.
    ///   - absentAt: when it saw the log without the takeover, in the same way.
    public static func hasPassed(_ delay: UInt32, since seenAt: UInt64?, to absentAt: UInt64?) -> Bool {
        guard let seenAt, let absentAt else { return false }
        let (latest, overflow) = absentAt.addingReportingOverflow(tolerance)
        return overflow || latest >= seenAt && latest - seenAt >= UInt64(delay)
    }

    /// Whether a request was logged after an epoch in which the account was seen without it, and claims nothing else.
    ///
    /// - Parameters:
    ///   - absentAt: when the quorum saw the log without the request, in seconds since 1970; nil where that is not shown.
    ///   - look: when that epoch ended, in seconds since 1970, by the server's clock.
    public static func isNew(_ start: RecoveryStart, absentAt: UInt64?, sinceLookAt look: UInt64) -> Bool {
        guard let absentAt else { return false }
        let skew = EpochTimeRule.standard.clockSkew
        return absentAt >= look - min(look, skew) && start.started + tolerance >= look
    }
}
