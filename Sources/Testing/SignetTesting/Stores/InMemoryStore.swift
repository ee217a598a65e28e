package import KeyTransparency
package import SignetClient
package import TransparencyLog

/// The client's store in memory. It can be told to fail, once, with or without having done what it was asked.
package actor InMemoryStore: ClientStore {
    /// What the next write does instead of succeeding.
    package enum Fault: Hashable, Sendable {
        /// It fails and changes nothing.
        case beforeWriting
        /// It fails although the change is made, as after a lost confirmation.
        case afterWriting
    }

    private var peers: [Handle: PinnedPeer] = [:]
    private var views: [[UInt8]: LogView] = [:]
    private var kept: [LogContradiction] = []
    private var known: [Handle: Person] = [:]
    private var own = OwnRecord.initial
    private var compared: [Handle: Comparison] = [:]
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
    package init() {}

    /// The evidence, without the possibility of failure.
    package var keptEvidence: [LogContradiction] { kept }

    /// Makes the next write fail with ``StoreError/noSpace``.
    package func failNextWrite(_ fault: Fault) { self.fault = fault }

    package func pinnedPeer(_ handle: Handle) async throws(StoreError) -> PinnedPeer? { peers[handle] }

    package func pinnedPeers() async throws(StoreError) -> [PinnedPeer] {
        peers.values.sorted { $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) }
    }

    package func pin(_ peer: PinnedPeer, replacing expected: PinnedPeer?) async throws(StoreError) -> Bool {
        guard peers[peer.handle] == expected else { return false }
        try write { peers[peer.handle] = peer }
        return true
    }

    package func logView(origin: [UInt8]) async throws(StoreError) -> LogView? { views[origin] }

    package func advance(to view: LogView, from expected: LogView?) async throws(StoreError) -> Bool {
        guard views[view.origin.bytes] == expected else { return false }
        try write { views[view.origin.bytes] = view }
        return true
    }

    package func keep(_ evidence: LogContradiction, at now: UInt64) async throws(StoreError) {
        try write { if !kept.contains(evidence) { kept.append(evidence) } }
    }

    package func evidence() async throws(StoreError) -> [LogContradiction] { kept }

    package func people() async throws(StoreError) -> [Person] {
        known.values.sorted { $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) }
    }

    package func remember(_ person: Person) async throws(StoreError) {
        try write { known[person.handle] = person }
    }

    package func ownRecord() async throws(StoreError) -> OwnRecord { own }

    package func setOwnRecord(
        _ record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        guard own == expected else { return false }
        try write { own = record }
        return true
    }

    package func comparisons() async throws(StoreError) -> [Comparison] {
        compared.values.sorted { $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) }
    }

    package func keep(_ comparison: Comparison) async throws(StoreError) {
        try write { compared[comparison.handle] = comparison }
    }

    package func metForks() async throws(StoreError) -> [ForkEvidence] { forks }

    package func keep(_ fork: ForkEvidence, at now: UInt64) async throws(StoreError) {
        try write { if !forks.contains(fork) { forks.append(fork) } }
    }

    package func metFriends() async throws(StoreError) -> Set<Handle> { friends }

    package func rememberMet(_ handle: Handle) async throws(StoreError) { try write { friends.insert(handle) } }

    package func pendingLink() async throws(StoreError) -> [UInt8]? { link }

    package func setPendingLink(_ card: [UInt8]?) async throws(StoreError) { try write { link = card } }

    package func lastCheck() async throws(StoreError) -> UInt64? { checkedAt }

    package func setLastCheck(_ time: UInt64) async throws(StoreError) { try write { checkedAt = time } }

    package func shownKeys(in origin: KeyName) async throws(StoreError) -> [ShownKeys] {
        (shown[origin] ?? []).sorted {
            $0.epoch.index == $1.epoch.index
                ? $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes) : $0.epoch.index < $1.epoch.index
        }
    }

    package func keep(_ keys: ShownKeys, in origin: KeyName) async throws(StoreError) {
        try write { if !(shown[origin] ?? []).contains(where: keys.isSame) { shown[origin, default: []].append(keys) } }
    }

    package func settle(_ keys: ShownKeys, in origin: KeyName) async throws(StoreError) {
        try write { shown[origin]?.removeAll(where: keys.isSame) }
    }

    package func lastLook(at handle: Handle) async throws(StoreError) -> PeerLook? { looks[handle] }

    package func keep(_ look: PeerLook) async throws(StoreError) { try write { looks[look.handle] = look } }

    package func deviceKeys(of handle: Handle) async throws(StoreError) -> [[UInt8]: [UInt8]] {
        deviceKeys[handle] ?? [:]
    }

    package func keep(deviceKeys keys: [[UInt8]: [UInt8]], of handle: Handle) async throws(StoreError) {
        try write { deviceKeys[handle] = keys }
    }

    package func keep(_ logs: [FormerLog]) async throws(StoreError) {
        try write { self.logs += logs.filter { log in !self.logs.contains { $0.origin == log.origin } } }
    }

    package func formerLogs() async throws(StoreError) -> [FormerLog] { logs }

    package func formerHistory(of handle: Handle) async throws(StoreError) -> FormerHistory? {
        peers[handle] == nil ? nil : past[handle]
    }

    package func settle(
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

    package func formerWatch() async throws(StoreError) -> FormerWatch? { watched }

    package func settle(
        _ former: FormerWatch, with record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        guard own == expected else { return false }
        try write {
            own = record
            if watched?.origin == former.origin { watched = nil }
        }
        return true
    }

    /// Does what opening a store on the disk does when the log is another one than before.
    package func moveToLog(from origin: KeyName) {
        for (handle, peer) in peers where peer.history.count > 0 {
            past[handle] = past[handle] ?? FormerHistory(handle: handle, origin: origin, history: peer.history)
            peers[handle] = peer.extended(to: LabelHead(.empty))
        }
        guard let watch = own.watch else { return }
        if watch.history.size > 0 { watched = FormerWatch(origin: origin, watch: watch) }
        own = OwnRecord(
            pending: own.pending, highestDeviceNumber: own.highestDeviceNumber, acts: own.acts,
            watch: watch.movedToNextLog())
    }

    private func write(_ change: () -> Void) throws(StoreError) {
        defer { fault = nil }
        if fault == .beforeWriting { throw .noSpace }
        change()
        if fault == .afterWriting { throw .noSpace }
    }
}

extension ShownKeys {
    /// Whether a store keeps one of the two.
    fileprivate func isSame(_ other: ShownKeys) -> Bool {
        handle == other.handle && history == other.history && epoch.day == other.epoch.day
    }
}
