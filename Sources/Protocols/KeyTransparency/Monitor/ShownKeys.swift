// SPDX-License-Identifier: Apache-2.0

/// A person's keys that a lookup showed and that were used, until they have been looked for at a later milestone.
///
/// What a directory shows to one person for a while and then takes back is in no history that the others see. The
/// client that was shown them looks once more: then the index has to hold a history that begins with this one, and held
/// it at each milestone since. If the log has ended meanwhile, the history with which it ended has to begin with this
/// one.
public struct ShownKeys: Hashable, Sendable {
    /// Whose keys.
    public let handle: Handle
    /// The label's history that the index held.
    public let history: LabelHead
    /// The epoch in which it was shown.
    public let epoch: MilestoneMark
    /// When, by this device's clock, in seconds since 1970.
    public let shownAt: UInt64
    /// The answer, ``LookupResponse``: signed by the log, and evidence if the keys are gone.
    public let response: [UInt8]

    /// Keys that were shown.
    public init(handle: Handle, history: LabelHead, epoch: MilestoneMark, shownAt: UInt64, response: [UInt8]) {
        self.handle = handle
        self.history = history
        self.epoch = epoch
        self.shownAt = shownAt
        self.response = response
    }

    /// What a verified lookup showed.
    public init(_ lookup: VerifiedLookup, response: [UInt8], at now: UInt64) {
        self.init(
            handle: lookup.handle, history: lookup.history, epoch: MilestoneMark(lookup.epoch), shownAt: now,
            response: response)
    }
}

extension ShownKeys {
    /// Demands that the person's whole history begins with what was shown.
    ///
    /// - Parameter history: from the first entry on.
    /// - Throws: ``ShownKeysFault/takenBack``.
    public func check(_ history: VerifiedHistory) throws(ShownKeysFault) {
        guard history.handle == handle, history.head(count: self.history.count) == self.history else {
            throw .takenBack
        }
    }

    /// Demands that the index held a part of that history at each milestone since.
    ///
    /// - Parameter bytes: the body as received, ``MilestonesResponse``, for the milestones after ``epoch``.
    /// - Throws: ``ShownKeysFault``.
    public func check(_ bytes: [UInt8], with history: VerifiedHistory) throws(ShownKeysFault) {
        let verified: VerifiedMilestones
        do { verified = try MilestoneVerifier(history).verify(bytes, since: epoch) } catch { throw .milestone(error) }
        if let days = verified.unseen { throw .unseenDays(days) }
    }
}

/// Why keys that were shown are not stood by.
public enum ShownKeysFault: Error, Hashable, Sendable {
    /// The person's history does not have them, or not in that place: no other client was shown them, or not for long.
    case takenBack
    /// The log that showed them has ended, and the directory does not show, or not in a form that holds, how the person's history
    /// ended there.
    case withheld
    /// A milestone since does not say what it should.
    case milestone(MilestoneFault)
    /// It is so long ago that what the index said on these days since 1970 can no longer be shown.
    case unseenDays(Range<UInt64>)
}

/// The last time that a person's account was seen without a recovery under way.
public struct PeerLook: Hashable, Sendable {
    /// Whose account.
    public let handle: Handle
    /// When the epoch ended in which it was seen, in seconds since 1970.
    public let epochTime: UInt64
    /// When that was by this device's clock, in seconds since 1970; nil if an earlier program kept the look.
    public let seenAt: UInt64?

    /// A look.
    public init(handle: Handle, epochTime: UInt64, seenAt: UInt64? = nil) {
        self.handle = handle
        self.epochTime = epochTime
        self.seenAt = seenAt
    }
}
