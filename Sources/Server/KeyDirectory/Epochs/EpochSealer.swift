// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import Synchronization
import TransparencyLog
import VerifiableMap

/// Makes the log index itself: every frame ends in an epoch record, and every group is one step of one account.
///
/// One thread writes, and many read: what readers need is behind locks that are never held while the index grows.
final class EpochSealer: LogSealing {
    /// How many entries are added before readers get their turn.
    private static let stepCount = 256

    private let histories = Mutex(LabelHistories())
    private let recent = Mutex(RecentEpochs())
    private let index = Mutex(EpochIndex())
    /// Where every epoch record stands, in rising order: 4 bytes each.
    private let ends = Mutex<[UInt32]>([])
    /// What epochs touched whose index was not made when the log was opened.
    private let passed = Mutex<Set<MapKey>>([])
    private let clock: @Sendable () -> UInt64

    /// A sealer for a log that has not been read yet.
    ///
    /// - Parameter clock: seconds since 1970.
    init(clock: @escaping @Sendable () -> UInt64) { self.clock = clock }

    // MARK: Writing

    func replay(_ entries: [[UInt8]], leaves: [TreeHash], shown: UInt64) throws(IndexFault) {
        for (entry, leaf) in zip(entries, leaves) {
            let position = histories.withLock { $0.size }
            let content: LogEntry
            do { content = try LogEntry(decoding: entry) } catch { throw .unknownEntry(at: position) }
            if case .epoch(let record) = content {
                let isShown = position + 1 >= shown || index.withLock { $0.epochs.beginsDay(record) }
                if isShown { try close(with: record, at: position) } else { try pass(record, at: position) }
            }
            try add([content], [leaf])
        }
        let size = histories.withLock { $0.size }
        guard index.withLock({ $0.epochs.last != nil && $0.epochs.lastIndex + 1 == size }) else {
            throw .noEpochRecord(size: size)
        }
        recent.withLock { $0.keepLast(and: shown) }
    }

    /// Takes an epoch without making its index, which will not be shown.
    private func pass(_ record: EpochRecord, at position: UInt64) throws(IndexFault) {
        let (labels, count) = try histories.withLock { (histories) throws(IndexFault) in
            (try histories.endEpoch(), histories.labelCount)
        }
        passed.withLock { $0.formUnion(labels) }
        try index.withLock { (index) throws(IndexFault) in
            try index.pass(record, labelCount: count, index: position)
        }
        ends.withLock { $0.append(UInt32(truncatingIfNeeded: position)) }
    }

    private func close(with record: EpochRecord, at position: UInt64) throws(IndexFault) {
        let earlier = passed.withLock { passed in
            defer { passed = [] }
            return passed
        }
        let changes = try histories.withLock { (histories) throws(IndexFault) in
            histories.heads(of: earlier.union(try histories.endEpoch()))
        }
        try index.withLock { (index) throws(IndexFault) in
            try index.close(changes, with: record, index: position)
            remember(record, index, size: position + 1)
        }
    }

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

    /// The number of the last change of the directory's keys, published or not.
    var succession: UInt64 { histories.withLock { $0.succession } }

    /// Whether the log has handed over to another one.
    var hasEnded: Bool { histories.withLock { $0.hasEnded } }

    /// The version of a label's last state record, published or not; 0 if it has none.
    func version(of label: LabelIndex) -> UInt64 { histories.withLock { $0.version(of: label) } }
}
