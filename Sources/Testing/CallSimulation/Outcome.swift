// SPDX-License-Identifier: Apache-2.0

/// What a simulated call came to.
public struct Outcome: Sendable {
    /// Frames that reached a device for which they were meant.
    public var frames = 0
    /// Of these, frames that were never opened.
    public var undecryptable = 0
    /// Rotations after which at least one frame was lost for want of its key.
    public var rotationsWithLoss = 0
    /// Rotations.
    public var rotations = 0
    /// How long each missing key was missing, in milliseconds.
    public var recoveries: [UInt64] = []
    /// From each rotation until every device sent under it, in milliseconds.
    public var switches: [UInt64] = []
    /// After each leave, the time until no member sent under a key of the departed one, in milliseconds.
    public var oldKeyUses: [UInt64] = []
    /// From each crash of a host until a frame of the next term was opened, in milliseconds.
    public var successions: [UInt64] = []
    /// From each join until the first frame was opened, in milliseconds.
    public var joins: [UInt64] = []
    /// Messages, counting one for each sending.
    public var messages = 0
    /// Packets beside the messages, each to one device.
    public var packets = 0
    /// Messages that were refused.
    public var refusals = 0
    /// Frames that were sent, each counted once.
    public var sent = 0
    /// Frames that a member had and could not send, for want of a key.
    public var withheld = 0
    /// Of ``undecryptable``, those that arrived ten seconds after the last partition was over, or later.
    public var lateLosses = 0
    /// From the end of the last partition until there was one call again, in milliseconds; nil if there never was, or no partition.
    public var reunitedAfter: UInt64?
    /// When each signal was sent to each device, those that were lost included; only a search wants to know.
    var deliveryTimes: [UInt64] = []
    /// Whether in the end all remaining members have one host and one roster.
    public var isOneCall = false
    /// Rules that were broken; only an audited run counts them.
    public var violations: [Violation: Int] = [:]

    /// A rule of the design.
    public enum Violation: String, Sendable, Hashable, CaseIterable {
        /// A key encrypted two frames with one nonce.
        case nonceReused
        /// A device went back to an older epoch.
        case epochWentBack
        /// A device that had left opened a later frame.
        case leaverRead
        /// A device opened a frame from before it joined.
        case joinerReadBack
        /// Two hosts were accepted in one term.
        case twoHosts
        /// A device asked twice within three seconds.
        case askedTooOften
        /// A host asked.
        case hostAsked
    }

    /// Undecryptable frames in a million.
    public var undecryptablePerMillion: Double { frames == 0 ? 0 : Double(undecryptable) * 1e6 / Double(frames) }

    /// The value that this share of `values` does not exceed; nil if there are none.
    public static func percentile(_ values: [UInt64], _ share: Double) -> UInt64? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.down)))]
    }

    mutating func count(_ violation: Violation) { violations[violation, default: 0] += 1 }
}
