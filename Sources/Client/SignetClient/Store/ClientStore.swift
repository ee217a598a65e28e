public import KeyTransparency
public import TransparencyLog

/// Everything a client keeps besides its keys: what it verified and accepted, whom its user chose, and
/// what of its own account is on the way.
///
/// As in `PeerTrustStore`, every change is durable when the call returns, and happens wholly or not at all.
public protocol ClientStore: PeerTrustStore where Failure == StoreError {
    /// The people the user added or accepted, in order of handle.
    func people() async throws(StoreError) -> [Person]

    /// Adds a person, or changes what is known of them.
    func remember(_ person: Person) async throws(StoreError)

    /// What this device knows of its own account's changes.
    func ownRecord() async throws(StoreError) -> OwnRecord

    /// Replaces that record if it still is `expected`.
    ///
    /// - Returns: false if it has changed meanwhile; nothing was changed.
    func setOwnRecord(_ record: OwnRecord, replacing expected: OwnRecord) async throws(StoreError) -> Bool

    /// Everyone whose identity key the user compared, in order of handle.
    func comparisons() async throws(StoreError) -> [Comparison]

    /// Keeps a comparison in the place of an earlier one with the same person.
    func keep(_ comparison: Comparison) async throws(StoreError)

    /// The forks of logs that checkpoints from contacts showed, oldest first.
    func metForks() async throws(StoreError) -> [ForkEvidence]

    /// Keeps a fork for ever; the same evidence is kept once.
    func keep(_ fork: ForkEvidence, at now: UInt64) async throws(StoreError)

    /// The friends whose signed request or agreement was compared.
    func metFriends() async throws(StoreError) -> Set<Handle>

    /// Keeps that somebody's was.
    func rememberMet(_ handle: Handle) async throws(StoreError)

    /// The card by which this device asked to be added to its account; nil when its person has confirmed the account, or it
    /// never asked.
    func pendingLink() async throws(StoreError) -> [UInt8]?

    /// Keeps that card, or forgets it.
    func setPendingLink(_ card: [UInt8]?) async throws(StoreError)

    /// When the last look at the own account and at shown keys ended without an alarm, in seconds since 1970; nil before
    /// the first.
    func lastCheck() async throws(StoreError) -> UInt64?

    /// Keeps that.
    func setLastCheck(_ time: UInt64) async throws(StoreError)

    /// The keys that a log showed and that have not been looked for again, those of the oldest epoch first.
    func shownKeys(in origin: KeyName) async throws(StoreError) -> [ShownKeys]

    /// Keeps them, once for each history and day: the first answer stays.
    func keep(_ shown: ShownKeys, in origin: KeyName) async throws(StoreError)

    /// Forgets them: they were found again, or the user has settled it.
    func settle(_ shown: ShownKeys, in origin: KeyName) async throws(StoreError)

    /// The last time that somebody was seen without a recovery under way; nil if never.
    func lastLook(at handle: Handle) async throws(StoreError) -> PeerLook?

    /// Keeps the look in the place of the one before.
    func keep(_ look: PeerLook) async throws(StoreError)

    /// The X-Wing keys of somebody's devices, by the hash under which their state lists them.
    ///
    /// Security: whoever takes one compares it with the hash that a verified state lists.
    func deviceKeys(of handle: Handle) async throws(StoreError) -> [[UInt8]: [UInt8]]

    /// Keeps these in the place of those before.
    func keep(deviceKeys keys: [[UInt8]: [UInt8]], of handle: Handle) async throws(StoreError)

    /// Keeps logs that ended, in their order; each is kept once.
    func keep(_ logs: [FormerLog]) async throws(StoreError)

    /// The logs that ended, in their order.
    func formerLogs() async throws(StoreError) -> [FormerLog]

    /// What was known of somebody pinned in a log that ended, and was not compared yet; nil when there is nothing.
    func formerHistory(of handle: Handle) async throws(StoreError) -> FormerHistory?

    /// Pins a peer whose former history was compared, and forgets that history, in one step.
    ///
    /// - Returns: false if something else is pinned by now; nothing was changed.
    func settle(
        _ former: FormerHistory, pinning peer: PinnedPeer, replacing expected: PinnedPeer
    ) async throws(StoreError) -> Bool

    /// How far the own account was watched in a log that ended; nil when that is done.
    func formerWatch() async throws(StoreError) -> FormerWatch?

    /// Replaces the own record when the former watch has ended, in one step.
    ///
    /// - Returns: false if it has changed meanwhile; nothing was changed.
    func settle(
        _ former: FormerWatch, with record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool
}

extension ClientStore {
    /// What the user compared with somebody; nil for nothing.
    public func comparison(with handle: Handle) async throws(StoreError) -> Comparison? {
        try await comparisons().first { $0.handle == handle }
    }
}

/// Somebody whose keys this user's client is to keep.
public struct Person: Hashable, Sendable {
    /// Their handle.
    public let handle: Handle
    /// When the user added or accepted them, in seconds since 1970.
    public let since: UInt64

    /// A person.
    public init(handle: Handle, since: UInt64) {
        self.handle = handle
        self.since = since
    }
}

/// What a device remembers of its own account's changes.
public struct OwnRecord: Hashable, Sendable {
    /// A `StateSubmission` that was sent, or was about to be, and is not confirmed by the log yet.
    public let pending: [UInt8]?
    /// The highest device number ever given, so that none is given twice; 0 before the first.
    public let highestDeviceNumber: UInt16
    /// The steps that this device made, or its user accepted, since ``watch``.
    public let acts: [OwnAct]
    /// How far the account's history was checked and found to be the user's own; nil before the first look at it.
    public let watch: OwnWatch?

    /// A device that has sent nothing yet.
    public static let initial = OwnRecord(pending: nil, highestDeviceNumber: 0)

    /// A record.
    public init(
        pending: [UInt8]?, highestDeviceNumber: UInt16, acts: [OwnAct] = [], watch: OwnWatch? = nil
    ) {
        self.pending = pending
        self.highestDeviceNumber = highestDeviceNumber
        self.acts = acts
        self.watch = watch
    }

    /// The same record without a pending submission.
    func settled() -> OwnRecord {
        OwnRecord(pending: nil, highestDeviceNumber: highestDeviceNumber, acts: acts, watch: watch)
    }

    /// The same record with one more act; each is kept once.
    func acting(_ act: OwnAct) -> OwnRecord {
        OwnRecord(
            pending: pending, highestDeviceNumber: highestDeviceNumber,
            acts: acts.contains(act) ? acts : acts + [act], watch: watch)
    }

    /// The same record after a look at the history; acts that it shows are done with.
    func watching(_ watch: OwnWatch) -> OwnRecord {
        OwnRecord(
            pending: pending, highestDeviceNumber: highestDeviceNumber,
            acts: acts.filter { $0.version > watch.version }, watch: watch)
    }
}
