// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import TransparencyLog

/// Everything a client stores besides its keys: what it verified and accepted, whom its user chose, and which changes of its
/// own account are pending.
///
/// As in `PeerTrustStore`, every change is durable when the call returns, and takes effect completely or not at all.
public protocol ClientStore: PeerTrustStore where Failure == StoreError {
    /// The people the user added or accepted, in order of handle.
    func people() async throws(StoreError) -> [Person]

    /// Adds a person, or changes what is known about them.
    func remember(_ person: Person) async throws(StoreError)

    /// What this device knows of its own account's changes.
    func ownRecord() async throws(StoreError) -> OwnRecord

    /// Replaces that record if it is still `expected`.
    ///
    /// - Returns: false if it has changed meanwhile; then nothing was changed.
    func setOwnRecord(_ record: OwnRecord, replacing expected: OwnRecord) async throws(StoreError) -> Bool

    /// Replaces that record if it is still `expected`, and keeps a submission that this log has shown, in place of an earlier one of its version,
    /// in one step. Of all kept submissions the ``KeptSubmission/maximumCount`` newest stay.
    ///
    /// - Returns: false if it has changed meanwhile; then nothing was changed.
    func setOwnRecord(
        _ record: OwnRecord, keeping submission: KeptSubmission, of origin: KeyName, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool

    /// The submissions kept of a log, the oldest version first.
    func keptSubmissions(of origin: KeyName) async throws(StoreError) -> [KeptSubmission]

    /// Everyone whose identity key the user compared, in order of handle.
    func comparisons() async throws(StoreError) -> [Comparison]

    /// Stores a comparison in place of an earlier one with the same person.
    func keep(_ comparison: Comparison) async throws(StoreError)

    /// Stores a meeting in place of an earlier one with the same person: the comparison, the sealed record, and the person if they are
    /// not among the people yet, in one step.
    func keep(_ meeting: KeptMeeting) async throws(StoreError)

    /// The sealed record of the last meeting with a person; nil if there is none.
    func meetingRecord(of handle: Handle) async throws(StoreError) -> [UInt8]?

    /// The forks of logs that checkpoints from contacts showed, oldest first.
    func metForks() async throws(StoreError) -> [ForkEvidence]

    /// Stores a fork permanently; the same evidence is stored once.
    func keep(_ fork: ForkEvidence, at now: UInt64) async throws(StoreError)

    /// The friends whose signed request or agreement was compared.
    func metFriends() async throws(StoreError) -> Set<Handle>

    /// Records that the request or agreement of this friend was compared.
    func rememberMet(_ handle: Handle) async throws(StoreError)

    /// The card with which this device asked to be added to its account; nil if the user has confirmed the account, or if the
    /// device never asked.
    func pendingLink() async throws(StoreError) -> [UInt8]?

    /// Stores that card, or removes it.
    func setPendingLink(_ card: [UInt8]?) async throws(StoreError)

    /// When the last check of the user's own account and of shown keys ended without an alarm, in seconds since 1970; nil
    /// before the first.
    func lastCheck() async throws(StoreError) -> UInt64?

    /// Stores that time.
    func setLastCheck(_ time: UInt64) async throws(StoreError)

    /// The keys that a log showed and that have not been looked for again, those of the oldest epoch first.
    func shownKeys(in origin: KeyName) async throws(StoreError) -> [ShownKeys]

    /// Stores shown keys, once for each history and day: the first answer is kept.
    func keep(_ shown: ShownKeys, in origin: KeyName) async throws(StoreError)

    /// Removes shown keys: they were found again, or the user has settled the matter.
    func settle(_ shown: ShownKeys, in origin: KeyName) async throws(StoreError)

    /// The last time that a person was seen without a recovery under way; nil if never.
    func lastLook(at handle: Handle) async throws(StoreError) -> PeerLook?

    /// Stores the look in place of the previous one.
    func keep(_ look: PeerLook) async throws(StoreError)

    /// The X-Wing keys of a person's devices, by the hash under which their state lists them.
    ///
    /// Security: callers must compare each key with the hash that a verified state lists.
    func deviceKeys(of handle: Handle) async throws(StoreError) -> [[UInt8]: [UInt8]]

    /// Stores these keys in place of the previous ones.
    func keep(deviceKeys keys: [[UInt8]: [UInt8]], of handle: Handle) async throws(StoreError)

    /// Stores ended logs, in their order; each is stored once.
    func keep(_ logs: [FormerLog]) async throws(StoreError)

    /// The ended logs, in their order.
    func formerLogs() async throws(StoreError) -> [FormerLog]

    /// What was known of a pinned person in an ended log and has not been compared yet; nil if there is nothing.
    func formerHistory(of handle: Handle) async throws(StoreError) -> FormerHistory?

    /// Pins a peer whose former history was compared, and forgets that history, in one step.
    ///
    /// - Returns: false if something else is pinned by now; then nothing was changed.
    func settle(
        _ former: FormerHistory, pinning peer: PinnedPeer, replacing expected: PinnedPeer
    ) async throws(StoreError) -> Bool

    /// How far the user's own account was watched in an ended log; nil if that watch is done.
    func formerWatch() async throws(StoreError) -> FormerWatch?

    /// Replaces the user's own record when the former watch has ended, in one step.
    ///
    /// - Returns: false if it has changed meanwhile; then nothing was changed.
    func settle(
        _ former: FormerWatch, with record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool
}

extension ClientStore {
    /// What the user compared with a person; nil for nothing.
    public func comparison(with handle: Handle) async throws(StoreError) -> Comparison? {
        try await comparisons().first { $0.handle == handle }
    }
}

/// A person whose keys this user's client keeps.
public struct Person: Hashable, Sendable {
    /// The person's handle.
    public let handle: Handle
    /// When the user added or accepted the person, in seconds since 1970.
    public let since: UInt64

    /// Makes a person.
    public init(handle: Handle, since: UInt64) {
        self.handle = handle
        self.since = since
    }
}

/// A meeting in person, as a device stores it.
public struct KeptMeeting: Hashable, Sendable {
    /// What the meeting compared, for everything that asks whether the user knows the person's key.
    public let comparison: Comparison
    /// The record of the meeting, sealed by the device.
    public let record: [UInt8]

    /// A meeting.
    public init(comparison: Comparison, record: [UInt8]) {
        self.comparison = comparison
        self.record = record
    }
}

/// What a device remembers about changes of its own account.
public struct OwnRecord: Hashable, Sendable {
    /// A `StateSubmission` that was sent, or was about to be sent, and that the log has not confirmed yet.
    public let pending: [UInt8]?
    /// The highest device number ever given, so that no number is given twice; 0 before the first.
    public let highestDeviceNumber: UInt16
    /// The steps that this device made, or its user accepted, since ``watch``.
    public let acts: [OwnAct]
    /// How far the account's history was checked and found to be the user's own; nil before the first check.
    public let watch: OwnWatch?
    /// The signature with which ``pending`` can be brought again later (``KeptSubmission/signature``); nil if nothing is pending, or if an earlier
    /// version of this program sent it.
    public let pendingSignature: [UInt8]?

    /// The record of a device that has sent nothing yet.
    public static let initial = OwnRecord(pending: nil, highestDeviceNumber: 0)

    /// Makes a record.
    public init(
        pending: [UInt8]?, highestDeviceNumber: UInt16, acts: [OwnAct] = [], watch: OwnWatch? = nil,
        pendingSignature: [UInt8]? = nil
    ) {
        self.pendingSignature = pendingSignature
        self.pending = pending
        self.highestDeviceNumber = highestDeviceNumber
        self.acts = acts
        self.watch = watch
    }

    /// The same record without a pending submission.
    func settled() -> OwnRecord {
        OwnRecord(pending: nil, highestDeviceNumber: highestDeviceNumber, acts: acts, watch: watch)
    }

    /// The same record with one more act; each act is kept once.
    func acting(_ act: OwnAct) -> OwnRecord {
        OwnRecord(
            pending: pending, highestDeviceNumber: highestDeviceNumber,
            acts: acts.contains(act) ? acts : acts + [act], watch: watch, pendingSignature: pendingSignature)
    }

    /// The same record after a check of the history; acts that the history shows are removed.
    func watching(_ watch: OwnWatch) -> OwnRecord {
        OwnRecord(
            pending: pending, highestDeviceNumber: highestDeviceNumber,
            acts: acts.filter { $0.version > watch.version }, watch: watch, pendingSignature: pendingSignature)
    }
}
