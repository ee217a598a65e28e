// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetClient
public import TransparencyLog

/// The client's store in memory. It can be made to fail once, either before or after the operation has taken effect.
public actor InMemoryStore: ClientStore {
    /// What the next write does instead of succeeding.
    public enum Fault: Hashable, Sendable {
        /// The write fails and changes nothing.
        case beforeWriting
        /// The write fails although the change is made, as after a lost confirmation.
        case afterWriting
    }

    private var peers: [Handle: PinnedPeer] = [:]
    private var views: [[UInt8]: LogView] = [:]
    private var kept: [LogContradiction] = []
    private var known: [Handle: Person] = [:]
    private var own = OwnRecord.initial
    private var submissions: [KeyName: [UInt64: KeptSubmission]] = [:]
    private var compared: [Handle: Comparison] = [:]
    private var meetings: [Handle: [UInt8]] = [:]
    private var forks: [ForkEvidence] = []
    private var friends: Set<Handle> = []
    private var link: [UInt8]?
    private var checkedAt: UInt64?
    private var shown: [KeyName: [ShownKeys]] = [:]
    private var looks: [Handle: PeerLook] = [:]
    private var deviceKeys: [Handle: [[UInt8]: [UInt8]]] = [:]
    private var logs: [FormerLog] = []
    private var past: [Handle: FormerHistory] = [:]
    private var watched: FormerWatch?
    private var fault: Fault?

    /// An empty store.
    public init() {}

    /// The stored evidence, from a property that cannot fail.
    public var keptEvidence: [LogContradiction] { kept }

    /// Makes the next write fail with ``StoreError/noSpace``.
    public func failNextWrite(_ fault: Fault) { self.fault = fault }

    /// As ``SignetClient/ClientStore`` says.
    public func pinnedPeer(_ handle: Handle) async throws(StoreError) -> PinnedPeer? { peers[handle] }

    /// As ``SignetClient/ClientStore`` says.
    public func pinnedPeers() async throws(StoreError) -> [PinnedPeer] {
        peers.values.sorted { $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func pin(_ peer: PinnedPeer, replacing expected: PinnedPeer?) async throws(StoreError) -> Bool {
        guard peers[peer.handle] == expected else { return false }
        try write { peers[peer.handle] = peer }
        return true
    }

    /// As ``SignetClient/ClientStore`` says.
    public func logView(origin: [UInt8]) async throws(StoreError) -> LogView? { views[origin] }

    /// As ``SignetClient/ClientStore`` says.
    public func advance(to view: LogView, from expected: LogView?) async throws(StoreError) -> Bool {
        guard views[view.origin.bytes] == expected else { return false }
        try write { views[view.origin.bytes] = view }
        return true
    }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(_ evidence: LogContradiction, at now: UInt64) async throws(StoreError) {
        try write { if !kept.contains(evidence) { kept.append(evidence) } }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func evidence() async throws(StoreError) -> [LogContradiction] { kept }

    /// As ``SignetClient/ClientStore`` says.
    public func people() async throws(StoreError) -> [Person] {
        known.values.sorted { $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func remember(_ person: Person) async throws(StoreError) {
        try write { known[person.handle] = person }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func ownRecord() async throws(StoreError) -> OwnRecord { own }

    /// As ``SignetClient/ClientStore`` says.
    public func setOwnRecord(
        _ record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        guard own == expected else { return false }
        try write { own = record }
        return true
    }

    /// As ``SignetClient/ClientStore`` says.
    public func setOwnRecord(
        _ record: OwnRecord, keeping submission: KeptSubmission, of origin: KeyName, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        guard own == expected else { return false }
        try write {
            own = record
            submissions[origin, default: [:]][submission.version] = submission
            let newest = submissions.values.flatMap(\.keys).sorted(by: >).prefix(KeptSubmission.maximumCount)
            guard let oldest = newest.last else { return }
            submissions = submissions.mapValues { $0.filter { $0.key >= oldest } }
        }
        return true
    }

    /// As ``SignetClient/ClientStore`` says.
    public func keptSubmissions(of origin: KeyName) async throws(StoreError) -> [KeptSubmission] {
        (submissions[origin] ?? [:]).values.sorted { $0.version < $1.version }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func comparisons() async throws(StoreError) -> [Comparison] {
        compared.values.sorted { $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(_ comparison: Comparison) async throws(StoreError) {
        try write { compared[comparison.handle] = comparison }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(_ meeting: KeptMeeting) async throws(StoreError) {
        let comparison = meeting.comparison
        try write {
            compared[comparison.handle] = comparison
            meetings[comparison.handle] = meeting.record
            known[comparison.handle] =
                known[comparison.handle] ?? Person(handle: comparison.handle, since: comparison.time)
        }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func meetingRecord(of handle: Handle) async throws(StoreError) -> [UInt8]? { meetings[handle] }

    /// As ``SignetClient/ClientStore`` says.
    public func metForks() async throws(StoreError) -> [ForkEvidence] { forks }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(_ fork: ForkEvidence, at now: UInt64) async throws(StoreError) {
        try write { if !forks.contains(fork) { forks.append(fork) } }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func metFriends() async throws(StoreError) -> Set<Handle> { friends }

    /// As ``SignetClient/ClientStore`` says.
    public func rememberMet(_ handle: Handle) async throws(StoreError) { try write { friends.insert(handle) } }

    /// As ``SignetClient/ClientStore`` says.
    public func pendingLink() async throws(StoreError) -> [UInt8]? { link }

    /// As ``SignetClient/ClientStore`` says.
    public func setPendingLink(_ card: [UInt8]?) async throws(StoreError) { try write { link = card } }

    /// As ``SignetClient/ClientStore`` says.
    public func lastCheck() async throws(StoreError) -> UInt64? { checkedAt }

    /// As ``SignetClient/ClientStore`` says.
    public func setLastCheck(_ time: UInt64) async throws(StoreError) { try write { checkedAt = time } }

    /// As ``SignetClient/ClientStore`` says.
    public func shownKeys(in origin: KeyName) async throws(StoreError) -> [ShownKeys] {
        (shown[origin] ?? []).sorted {
            $0.epoch.index == $1.epoch.index
                ? $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) : $0.epoch.index < $1.epoch.index
        }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(_ keys: ShownKeys, in origin: KeyName) async throws(StoreError) {
        try write { if !(shown[origin] ?? []).contains(where: keys.isSame) { shown[origin, default: []].append(keys) } }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func settle(_ keys: ShownKeys, in origin: KeyName) async throws(StoreError) {
        try write { shown[origin]?.removeAll(where: keys.isSame) }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func lastLook(at handle: Handle) async throws(StoreError) -> PeerLook? { looks[handle] }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(_ look: PeerLook) async throws(StoreError) { try write { looks[look.handle] = look } }

    /// As ``SignetClient/ClientStore`` says.
    public func deviceKeys(of handle: Handle) async throws(StoreError) -> [[UInt8]: [UInt8]] {
        deviceKeys[handle] ?? [:]
    }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(deviceKeys keys: [[UInt8]: [UInt8]], of handle: Handle) async throws(StoreError) {
        try write { deviceKeys[handle] = keys }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func keep(_ logs: [FormerLog]) async throws(StoreError) {
        try write { self.logs += logs.filter { log in !self.logs.contains { $0.origin == log.origin } } }
    }

    /// As ``SignetClient/ClientStore`` says.
    public func formerLogs() async throws(StoreError) -> [FormerLog] { logs }

    /// As ``SignetClient/ClientStore`` says.
    public func formerHistory(of handle: Handle) async throws(StoreError) -> FormerHistory? {
        peers[handle] == nil ? nil : past[handle]
    }

    /// As ``SignetClient/ClientStore`` says.
    public func settle(
        _ former: FormerHistory, pinning peer: PinnedPeer, replacing expected: PinnedPeer
    ) async throws(StoreError) -> Bool {
        guard past[former.handle] == former else { return true }
        guard peers[peer.handle] == expected else { return false }
        try write {
            peers[peer.handle] = peer
            past[former.handle] = nil
        }
        return true
    }

    /// As ``SignetClient/ClientStore`` says.
    public func formerWatch() async throws(StoreError) -> FormerWatch? { watched }

    /// As ``SignetClient/ClientStore`` says.
    public func settle(
        _ former: FormerWatch, with record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        guard own == expected else { return false }
        try write {
            own = record
            if watched?.origin == former.origin { watched = nil }
        }
        return true
    }

    /// Does what opening a store on the disk does if the log differs from the previous one. As ``SignetClient/ClientStore``
    /// says.
    public func moveToLog(from origin: KeyName) {
        for (handle, peer) in peers where peer.history.count > 0 {
            past[handle] = past[handle] ?? FormerHistory(handle: handle, origin: origin, history: peer.history)
            peers[handle] = peer.extended(to: LabelHead(.empty))
        }
        guard let watch = own.watch else { return }
        if watch.history.size > 0 { watched = FormerWatch(origin: origin, watch: watch) }
        own = OwnRecord(
            pending: own.pending, highestDeviceNumber: own.highestDeviceNumber, acts: own.acts,
            watch: watch.movedToNextLog(), pendingSignature: own.pendingSignature)
    }

    private func write(_ change: () -> Void) throws(StoreError) {
        defer { fault = nil }
        if fault == .beforeWriting { throw .noSpace }
        change()
        if fault == .afterWriting { throw .noSpace }
    }
}

extension ShownKeys {
    /// Whether a store treats the two as one.
    fileprivate func isSame(_ other: ShownKeys) -> Bool {
        handle == other.handle && history == other.history && epoch.day == other.epoch.day
    }
}
