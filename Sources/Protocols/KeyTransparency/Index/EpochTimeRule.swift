// SPDX-License-Identifier: Apache-2.0

/// How far the time that an epoch record states may be from the time at which an observer saw the log end in it.
///
/// The record's time is the server's own word, and owners, contacts and recoveries count days by it. An observer who
/// saw a checkpoint at a known time bounds the time of the record that it ends in, from both sides: a client by the
/// time of the quorum, an auditor by its own clock; a witness sees no record. A directory to which nothing happens
/// ends epochs all the same, so a log whose last epoch is older hides what came after it, or its clock stands still.
///
/// As times do not run back, an observer who found that a log keeps this rule knows that no later epoch is dated more
/// than the lag before that look: a log cannot be given a past all at once. Nor can one that goes on from another:
/// its first epoch is held to that one's end.
public struct EpochTimeRule: Hashable, Sendable {
    /// How long before it was seen the epoch may have ended, in seconds.
    public let maximumLag: UInt64
    /// How far two honest clocks may be apart, in seconds.
    public let clockSkew: UInt64

    /// One hour, and five minutes of skew.
    public static let standard = EpochTimeRule(clockSkew: 300)

    /// A rule of one hour.
    public init(clockSkew: UInt64) {
        maximumLag = 3600
        self.clockSkew = clockSkew
    }

    /// A checkpoint that was seen at a time ends in this record.
    ///
    /// - Parameter time: in seconds since 1970.
    /// - Throws: ``EpochError/behind(seconds:)``, ``EpochError/ahead(seconds:)``.
    public func check(_ record: EpochRecord, seenAt time: UInt64) throws(EpochError) {
        let ended = record.time / 1000
        guard ended >= time || time - ended <= maximumLag else { throw .behind(seconds: time - ended) }
        guard ended <= time || ended - time <= clockSkew else { throw .ahead(seconds: ended - time) }
    }

    /// A log goes on from another one: this record in it is not from before that one's end. Else a handover would give a log
    /// a past all at once.
    ///
    /// - Parameter end: when the other log ended, in seconds since 1970.
    /// - Throws: ``EpochError/behind(seconds:)``.
    public func check(_ record: EpochRecord, goingOnAfter end: UInt64) throws(EpochError) {
        let ended = record.time / 1000
        guard ended >= end || end - ended <= maximumLag else { throw .behind(seconds: end - ended) }
    }
}
