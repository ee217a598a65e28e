// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeyTransparency
import LogEngine
import Synchronization
import TransparencyLog
import VerifiableMap

/// Makes the log index itself: every frame ends in an epoch record, and every group is one step of one account.
///
/// One thread writes, and many read: what readers need is behind locks that are never held while the index grows.
final class EpochSealer: LogSealing {
    /// How many entries are added, or labels read, before readers get their turn.
    static let stepCount = 256
    /// How many labels go into the index at a time while a log is replayed.
    private static let pieceCount = 1 << 14

    private let histories = Mutex(LabelHistories())
    private let recent = Mutex(RecentEpochs())
    private let index = Mutex(EpochIndex())
    /// Where every epoch record stands, in rising order: 4 bytes each.
    private let ends = Mutex<[UInt32]>([])
    private let snapshot: Mutex<SnapshotUse>
    /// What time an epoch gets that ends now, in seconds since 1970.
    let clock: @Sendable () -> UInt64

    /// A sealer for a log that has not been read yet.
    ///
    /// - Parameters:
    ///   - snapshot: what a file says of the log, which is used only as far as the log confirms it; nil for none.
    ///   - clock: seconds since 1970.
    init(snapshot: IndexSnapshot? = nil, clock: @escaping @Sendable () -> UInt64) {
        self.snapshot = Mutex(snapshot.map { .open($0) } ?? .none)
        self.clock = clock
    }

    // MARK: Replaying

    func replay(_ entries: [ArraySlice<UInt8>], leaves: [TreeHash], shown: UInt64) throws(IndexFault) {
        let use = try usable(shown: shown)
        try histories.withLock { (histories) throws(IndexFault) in
            if let use, histories.size == 0 { histories.reserve(labels: use.labels.count) }
            for (entry, leaf) in zip(entries, leaves) {
                if let use, histories.size < use.size {
                    try add(entry, leaf, by: use, shown: shown, &histories)
                    if histories.size == use.size { try finish(use, histories) }
                } else {
                    try add(entry, leaf, shown: shown, &histories)
                }
            }
            guard index.withLock({ $0.epochs.last != nil && $0.epochs.lastIndex + 1 == histories.size }) else {
                throw .noEpochRecord(size: histories.size)
            }
        }
        recent.withLock { $0.keepLast(and: shown) }
    }

    private func add(
        _ entry: ArraySlice<UInt8>, _ leaf: TreeHash, shown: UInt64, _ histories: inout LabelHistories
    ) throws(IndexFault) {
        let position = histories.size
        let content: LogEntry
        do { content = try LogEntry(decoding: [UInt8](entry)) } catch { throw .unknownEntry(at: position) }
        try add(content, leaf, shown: shown, &histories)
    }

    /// The index of an epoch is made if it will be shown.
    private func add(
        _ content: LogEntry, _ leaf: TreeHash, shown: UInt64, _ histories: inout LabelHistories
    ) throws(IndexFault) {
        if case .epoch(let record) = content {
            if histories.size + 1 >= shown || index.withLock({ $0.epochs.beginsDay(record) }) {
                try close(with: record, &histories)
            } else {
                try pass(record, &histories)
            }
        }
        try histories.add(content, leaf: leaf)
    }

    /// Takes an epoch without making its index, which will not be shown.
    private func pass(_ record: EpochRecord, _ histories: inout LabelHistories) throws(IndexFault) {
        let position = histories.size
        try histories.endEpoch()
        try index.withLock { (index) throws(IndexFault) in
            try index.pass(record, labelCount: histories.labelCount, index: position)
        }
        ends.withLock { $0.append(UInt32(truncatingIfNeeded: position)) }
    }

    private func close(with record: EpochRecord, _ histories: inout LabelHistories) throws(IndexFault) {
        let position = histories.size
        let numbers = try histories.settledLabels()
        for start in stride(from: 0, to: numbers.count, by: Self.pieceCount) {
            let piece = numbers[start..<min(numbers.count, start + Self.pieceCount)]
            let changes = Self.entries(of: piece, in: histories)
            try index.withLock { (index) throws(IndexFault) in try index.add(changes) }
        }
        try index.withLock { (index) throws(IndexFault) in
            try index.close([], with: record, index: position)
            remember(record, index, size: position + 1)
        }
    }

    /// What the index is to hold for labels, in their order. All processors hash.
    private static func entries(of numbers: ArraySlice<UInt32>, in histories: LabelHistories) -> [MapEntry] {
        let share = 1024
        let found = Mutex<[Int: [MapEntry]]>([:])
        DispatchQueue.concurrentPerform(iterations: (numbers.count + share - 1) / share) { place in
            let start = numbers.startIndex + place * share
            let entries = numbers[start..<min(numbers.endIndex, start + share)].map { histories.entry(of: $0) }
            found.withLock { $0[place] = entries }
        }
        return found.withLock { found in found.keys.sorted().flatMap { found[$0] ?? [] } }
    }

    func share(_ tree: MerkleTree) { histories.withLock { $0.shareLeaves(with: tree) } }

    // MARK: Replaying by a snapshot

    /// What became of the snapshot.
    private enum SnapshotUse {
        /// There was none.
        case none
        /// Nothing of it, or not enough of it, has been compared with the log.
        case open(IndexSnapshot)
        /// It was used, and each epoch whose index is made from then on confirms it.
        case used(size: UInt64)
        /// It was not used, or the log contradicts it.
        case refused(IndexSnapshot.Fault)
    }

    /// How many entries of the log the snapshot covered, and the log confirmed; nil if there was none or it was refused.
    var usedSnapshot: UInt64? { snapshot.withLock { if case .used(let size) = $0 { size } else { nil } } }

    /// Why the snapshot was not used, if there was one.
    var refusedSnapshot: IndexSnapshot.Fault? {
        snapshot.withLock { if case .refused(let fault) = $0 { fault } else { nil } }
    }

    private func usable(shown: UInt64) throws(IndexFault) -> IndexSnapshot? {
        snapshot.withLock { use in
            guard case .open(let snapshot) = use else { return nil }
            guard snapshot.size <= shown else {
                use = .refused(.ahead(size: snapshot.size, shown: shown))
                return nil
            }
            return snapshot
        }
    }

    /// Adds an entry of the label that the snapshot names.
    private func add(
        _ entry: ArraySlice<UInt8>, _ leaf: TreeHash, by snapshot: IndexSnapshot, shown: UInt64,
        _ histories: inout LabelHistories
    ) throws(IndexFault) {
        let position = histories.size
        let number = snapshot.numbers[Int(position)]
        guard number != IndexSnapshot.none else { return try addUnlabeled(entry, leaf, shown: shown, &histories) }
        if number == histories.labelCount, Int(number) < snapshot.labels.count {
            guard histories.addLabel(snapshot.labels[Int(number)]) else {
                throw refused(.repeatsLabel(entry: position), at: position)
            }
        }
        guard number < histories.labelCount else { throw refused(.skipsLabel(entry: position), at: position) }
        let step: (version: UInt64, kind: StateKind)?
        do { step = try StateRecord.step(in: entry) } catch { throw .unknownEntry(at: position) }
        if let step {
            try histories.addState(step.version, step.kind, leaf: leaf, under: number)
        } else {
            try histories.addDevice(leaf: leaf, under: number)
        }
    }

    private func addUnlabeled(
        _ entry: ArraySlice<UInt8>, _ leaf: TreeHash, shown: UInt64, _ histories: inout LabelHistories
    ) throws(IndexFault) {
        let position = histories.size
        let content: LogEntry
        do { content = try LogEntry(decoding: [UInt8](entry)) } catch { throw .unknownEntry(at: position) }
        switch content {
        case .device, .state: throw refused(.hidesLabel(entry: position), at: position)
        case .epoch, .succession, .predecessor: try add(content, leaf, shown: shown, &histories)
        }
    }

    /// All of the snapshot has been used. Each index that is made from here on confirms it, the one of the log's last epoch at the latest.
    private func finish(_ snapshot: IndexSnapshot, _ histories: borrowing LabelHistories) throws(IndexFault) {
        let unused = snapshot.labels.count - Int(histories.labelCount)
        guard unused == 0 else { throw refused(.unusedLabels(count: unused), at: histories.size) }
        self.snapshot.withLock { $0 = .used(size: snapshot.size) }
    }

    /// Notes why the snapshot is not used; the fault that is thrown is never seen, since the replay begins again.
    private func refused(_ fault: IndexSnapshot.Fault, at position: UInt64) -> IndexFault {
        snapshot.withLock { $0 = .refused(fault) }
        return .unknownEntry(at: position)
    }

    func beginsAgain(after fault: IndexFault) -> Bool {
        let isAstray = snapshot.withLock { use in
            switch use {
            case .none, .refused(.ahead): return false
            case .refused: return true
            case .open, .used:
                use = .refused(.contradictsLog(fault))
                return true
            }
        }
        guard isAstray else { return false }
        forget()
        return true
    }

    func beginAgain() {
        snapshot.withLock { use in
            if case .refused = use { return }
            use = .none
        }
        forget()
    }

    private func forget() {
        histories.withLock { $0 = LabelHistories() }
        recent.withLock { $0 = RecentEpochs() }
        index.withLock { $0 = EpochIndex() }
        ends.withLock { $0 = [] }
    }

    // MARK: Writing

    func read(_ entries: [[UInt8]]) throws(IndexFault) -> any ReadGroup { try LogStep(entries) }

    func check(_ group: PendingGroup) throws(IndexFault) {
        guard let step = group.logStep else { throw .noStateRecord }
        try histories.withLock { (histories) throws(IndexFault) in try histories.demand(step.last) }
    }

    func fitting(_ groups: [PendingGroup]) -> Int {
        var labels: Set<LabelIndex> = []
        let count = groups.prefix { group in
            guard let label = group.logStep?.label else { return false }
            return labels.insert(label).inserted
        }.count
        // What is not a step of an account goes alone.
        return max(count, min(1, groups.count))
    }

    func seal(_ groups: [PendingGroup]) throws(IndexFault) -> [UInt8] {
        for group in groups { try add(group.logStep?.contents ?? [], group.leaves) }
        let changes = try settle()
        let position = histories.withLock { $0.size }
        let record = try index.withLock { (index) throws(IndexFault) in
            let record = try index.close(changes, at: clock() * 1000, index: position)
            remember(record, index, size: position + 1)
            return record
        }
        let entry = record.entry
        try add([.epoch(record)], [TreeHash.leaf(entry)])
        return entry
    }

    /// A checkpoint of this size was published: what belongs to smaller ones may be forgotten.
    func published(size: UInt64) { recent.withLock { $0.forget(before: size) } }

    private func add(_ contents: [LogEntry], _ leaves: [TreeHash]) throws(IndexFault) {
        for start in stride(from: 0, to: contents.count, by: Self.stepCount) {
            try histories.withLock { (histories) throws(IndexFault) in
                for place in start..<min(start + Self.stepCount, contents.count) {
                    try histories.add(contents[place], leaf: leaves[place])
                }
            }
        }
    }

    private func settle() throws(IndexFault) -> [MapEntry] {
        try histories.withLock { (histories) throws(IndexFault) in try histories.settle() }
    }

    private func remember(_ record: EpochRecord, _ index: borrowing EpochIndex, size: UInt64) {
        let epoch = LoggedEpoch(size: size, record: record, index: index.current)
        let isMilestone = index.epochs.endsInMilestone
        recent.withLock { $0.append(epoch, isMilestone: isMilestone) }
        ends.withLock { $0.append(UInt32(truncatingIfNeeded: size - 1)) }
    }

    // MARK: Reading

    /// The epoch that ends a log of this size; nil when it is not published, or no longer held.
    func epoch(size: UInt64) -> LoggedEpoch? { recent.withLock { $0.epoch(size: size) } }

    /// The record of the last epoch, published or not.
    var lastRecord: EpochRecord? { recent.withLock { $0.last?.record } }

    /// When the last epoch ended, in seconds since 1970; nil if there is none.
    var lastTime: UInt64? { lastRecord.map { $0.time / 1000 } }

    /// The newest milestone in a log of at most this size, if it is one of the last ``RecentEpochs/milestoneCount``.
    func milestone(size: UInt64) -> LoggedEpoch? { recent.withLock { $0.milestone(size: size) } }

    /// Where the first epoch record after an entry stands; nil while there is none.
    func end(after index: UInt64) -> UInt64? {
        ends.withLock { ends in
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if UInt64(ends[middle]) > index { high = middle } else { low = middle + 1 }
            }
            return low < ends.count ? UInt64(ends[low]) : nil
        }
    }

    /// Writes for each of the first entries whose label is one of these by its number.
    func number(_ labels: Range<Int>, in numbers: inout [UInt32]) {
        histories.withLock { histories in
            for label in labels {
                let number = UInt32(truncatingIfNeeded: label)
                histories.forEachIndex(of: number) { if Int($0) < numbers.count { numbers[Int($0)] = number } }
            }
        }
    }

    /// The keys of labels by their numbers, 32 bytes each.
    func keys(_ labels: Range<Int>) -> [UInt8] {
        histories.withLock { histories in
            labels.flatMap { histories.key(of: UInt32(truncatingIfNeeded: $0))?.bytes ?? [] }
        }
    }

    /// The log indexes of a label's entries in a log of this size, and the tree they are the leaves of.
    func history(of label: LabelIndex, size: UInt64) -> (indexes: [UInt64], tree: MerkleTree) {
        histories.withLock { histories in
            let indexes = histories.indexes(of: label.key, size: size)
            var tree = MerkleTree()
            for index in indexes {
                if let leaf = histories.leaf(at: index) { tree.append(leaf) }
            }
            return (indexes, tree)
        }
    }

    /// Where the last entry of a label stands in a log of this size; nil if it has none.
    func lastIndex(of label: LabelIndex, size: UInt64) -> UInt64? {
        histories.withLock { $0.indexes(of: label.key, size: size).last }
    }

    /// The number of the last change of the directory's keys, published or not.
    var succession: UInt64 { histories.withLock { $0.succession } }

    /// Whether the log has handed over to another one.
    var hasEnded: Bool { histories.withLock { $0.hasEnded } }

    /// The version of a label's last state record, published or not; 0 if it has none.
    func version(of label: LabelIndex) -> UInt64 { histories.withLock { $0.version(of: label) } }

    /// The newest record under a label of the log's own statements, published or not; nil if there is none.
    func newest(under label: ReservedLabel) -> ReservedRecord? {
        histories.withLock { histories in
            guard let index = histories.indexes(of: label.index.key, size: .max).last,
                let leaf = histories.leaf(at: index)
            else { return nil }
            return ReservedRecord(label: label, version: histories.version(of: label.index), leaf: leaf)
        }
    }

    /// Whether a record is the last under its label, published or not.
    func isLast(_ record: StateRecord) -> Bool {
        histories.withLock { histories in
            guard let index = histories.indexes(of: record.label.key, size: .max).last else { return false }
            return histories.leaf(at: index) == TreeHash.leaf(record.entry)
        }
    }
}

extension EpochSealer {
    /// Whether two sealers of one log, which may have read it in different ways, know the same: for tests.
    func holdsSame(as other: EpochSealer) -> Bool {
        knowsSame(as: other) && recent.withLock { $0 }.holdsSame(as: other.recent.withLock { $0 })
    }

    /// Whether they know the same of the log, whichever epochs before the last they can still prove from: for tests.
    func knowsSame(as other: EpochSealer) -> Bool {
        let (mine, theirs) = (histories.withLock { $0 }, other.histories.withLock { $0 })
        return mine.holdsSame(as: theirs) && ends.withLock { $0 } == other.ends.withLock { $0 }
            && index.withLock { $0.state } == other.index.withLock { $0.state }
    }
}

extension EpochIndex {
    fileprivate var state: [String] { ["\(epochs)", "\(current.root)"] }
}
