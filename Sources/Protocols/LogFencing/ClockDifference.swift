// SPDX-License-Identifier: Apache-2.0

/// How far the clock of a process is from the database's, which nobody needs to be right: it only is another one.
///
/// The lease goes by the database's clock alone. The times of epochs are those of the process that leads, and never run back: an epoch that
/// is dated an hour ahead is refused by clients for an hour, with all that follow it, whoever leads. So a process that is ahead of the database
/// ends none. One that is behind does no harm: its epochs have the time of the last one, and if it can publish nothing, see ``ShowingWatch``.
public struct ClockDifference: Hashable, Sendable {
    /// More than this is told, and a process that is further ahead ends no epoch, in seconds. Clients take five minutes, witnesses two.
    public static let bound: Int64 = 60

    /// At least so far is this process's clock ahead, in seconds; negative if it is behind, 0 if it may be right.
    public let seconds: Int64

    /// What is known of the difference when the database has told its time.
    ///
    /// - Parameters:
    ///   - before: by this process's clock, before the database was asked, in whole seconds since 1970.
    ///   - after: the same when it had answered.
    ///   - milliseconds: what it answered, since 1970.
    public init(before: UInt64, after: UInt64, database milliseconds: Int64) {
        let (first, last, seconds) = (Int64(clamping: before), Int64(clamping: after), milliseconds / 1000)
        // A clock of whole seconds may be one second further.
        self.seconds =
            first > seconds + 1 ? first - seconds - 1 : last + 1 < seconds ? last + 1 - seconds : 0
    }

    /// Whether an operator is to be told.
    public var isLarge: Bool { seconds.magnitude > UInt64(Self.bound) }

    /// Whether this process may end epochs.
    public var allowsEpochs: Bool { seconds <= Self.bound }
}
