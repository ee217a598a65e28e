// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VerifiableMap

/// Every label's entries, and which labels the epoch that is under way has touched.
///
/// In memory: 36 bytes for each log entry and about 60 to 90 for each label.
///
/// Security: a value of this type holds what the log holds; it vouches for nothing by itself.
public struct LabelHistories: Sendable {
    /// What is known of a label.
    private struct Label {
        /// The log index of its last entry.
        var last: UInt32
        var count: UInt32
        /// Version of its last state record; 0 before the first.
        var version: UInt32
        var isClosed = false
    }

    /// What the epoch under way did to a label.
    private struct Touch {
        var hasRecord = false
        var endsInRecord = false
    }

    private static let none = UInt32.max

    /// The most log entries that fit.
    public static let maximumSize = UInt64(UInt32.max)

    private var labels: [MapKey: Label] = [:]
    /// For each log entry, the one before it under the same label.
    private var before: [UInt32] = []
    private var leaves: [TreeHash] = []
    private var touched: [MapKey: Touch] = [:]
    /// The number of the last change of keys.
    public private(set) var succession: UInt64 = 0
    /// Whether the log has handed over to another one.
    public private(set) var hasEnded = false
    /// Whether the log goes on where another one ended, so that labels and changes of keys begin with any
    /// number.
    public private(set) var hasPredecessor = false

    /// The histories of an empty log.
    public init() {}

    /// How many log entries have been added.
    public var size: UInt64 { UInt64(leaves.count) }

    /// How many labels have entries.
    public var labelCount: UInt64 { UInt64(labels.count) }

    /// Whether this may be the next entry of the log.
    ///
    /// - Throws: ``IndexFault``: a rule is broken.
    public func demand(_ entry: LogEntry) throws(IndexFault) {
        guard leaves.count < Self.none else { throw .tooLarge }
        if hasEnded { guard case .epoch = entry else { throw .afterTheEnd(at: size) } }
        switch entry {
        case .device, .epoch: return
        case .state(let record): try requireStep(record)
        case .succession(let record):
            // The numbers go on where those of the log before ended.
            let isFree = succession == 0 && hasPredecessor
            guard isFree || record.number == succession + 1 else {
                throw .successionNumber(expected: succession + 1, found: record.number, at: size)
            }
        case .predecessor: guard leaves.isEmpty else { throw .predecessorTooLate(at: size) }
        }
    }

    /// Adds the next entry of the log.
    ///
    /// - Throws: ``IndexFault``: a rule is broken. Nothing has changed then.
    public mutating func add(_ entry: LogEntry, leaf: TreeHash) throws(IndexFault) {
        try demand(entry)
        switch entry {
        case .device(let device): add(leaf, under: LabelIndex(device.label).key)
        case .state(let record):
            add(leaf, under: record.label.key)
            touched[record.label.key] = Touch(hasRecord: true, endsInRecord: true)
            labels[record.label.key]?.version = UInt32(truncatingIfNeeded: record.version)
            labels[record.label.key]?.isClosed = record.kind == .close
        case .epoch: addUnlabeled(leaf)
        case .succession(let record):
            addUnlabeled(leaf)
            succession = record.number
            hasEnded = record.kind == .log
        case .predecessor:
            addUnlabeled(leaf)
            hasPredecessor = true
        }
    }

    private mutating func addUnlabeled(_ leaf: TreeHash) {
        before.append(Self.none)
        leaves.append(leaf)
    }

    private mutating func add(_ leaf: TreeHash, under key: MapKey) {
        let index = UInt32(truncatingIfNeeded: leaves.count)
        var label = labels[key] ?? Label(last: Self.none, count: 0, version: 0)
        before.append(label.last)
        leaves.append(leaf)
        label.last = index
        label.count += 1
        labels[key] = label
        touched[key, default: Touch()].endsInRecord = false
    }

    /// Rule S, first half: one step a label and epoch, each version one more than the last, none after the end.
    private func requireStep(_ record: StateRecord) throws(IndexFault) {
        let label = labels[record.label.key]
        guard label?.isClosed != true else { throw .stepAfterClose(label: record.label, at: size) }
        let version = UInt64(label?.version ?? 0)
        let isFree = version == 0 && hasPredecessor
        guard isFree || record.version == version + 1 else {
            throw .version(label: record.label, expected: version + 1, found: record.version, at: size)
        }
        guard record.version <= UInt64(UInt32.max) else { throw .tooLarge }
        guard touched[record.label.key]?.hasRecord != true else { throw .secondStep(label: record.label, at: size) }
    }

    /// Ends the epoch: what the index is to hold for each label that it touched.
    ///
    /// - Throws: ``IndexFault/unsettled(label:)``: rule S, second half: a label's last entry must be a state record.
    public mutating func settle() throws(IndexFault) -> [MapEntry] { heads(of: try endEpoch()) }

    /// Ends the epoch: the labels that it touched.
    ///
    /// - Throws: ``IndexFault/unsettled(label:)``.
    package mutating func endEpoch() throws(IndexFault) -> [MapKey] {
        if let key = touched.filter({ !$0.value.endsInRecord }).keys.min() { throw .unsettled(label: key) }
        let labels = Array(touched.keys)
        touched.removeAll(keepingCapacity: touched.count < 4096)
        return labels
    }

    /// What the index is to hold for labels after the entries so far.
    package func heads(of labels: some Sequence<MapKey>) -> [MapEntry] {
        labels.map { MapEntry(key: $0, value: head(of: $0, size: size).value) }
    }
}

// MARK: Reading

extension LabelHistories {
    /// Whether the epoch under way has a step of this label, so that another one must wait for the next epoch.
    public func isTouched(_ label: LabelIndex) -> Bool { touched[label.key] != nil }

    /// The version of a label's last state record; 0 if it has none.
    public func version(of label: LabelIndex) -> UInt64 { UInt64(labels[label.key]?.version ?? 0) }

    /// The log indexes of a label's entries among the first `size` entries of the log, in order.
    public func indexes(of label: MapKey, size: UInt64) -> [UInt64] {
        guard let known = labels[label] else { return [] }
        var indexes: [UInt64] = []
        indexes.reserveCapacity(Int(known.count))
        var index = known.last
        while index != Self.none {
            if index < size { indexes.append(UInt64(index)) }
            index = before[Int(index)]
        }
        indexes.reverse()
        return indexes
    }

    /// The leaf hash of an entry.
    public func leaf(at index: UInt64) -> TreeHash? {
        index < size ? leaves[Int(index)] : nil
    }

    /// A label's entries among the first `size` entries of the log, as the tree they are the leaves of.
    public func tree(of label: MapKey, size: UInt64) -> MerkleTree {
        var tree = MerkleTree()
        for index in indexes(of: label, size: size) { tree.append(leaves[Int(index)]) }
        return tree
    }

    private func head(of label: MapKey, size: UInt64) -> LabelHead {
        let hashes = indexes(of: label, size: size).map { leaves[Int($0)] }
        return LabelHead(TreeHead(size: UInt64(hashes.count), root: .root(of: hashes)))
    }
}
