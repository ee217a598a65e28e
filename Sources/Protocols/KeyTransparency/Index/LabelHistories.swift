// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VerifiableMap

/// Every label's entries, and which labels the epoch that is under way has touched.
///
/// In memory: 36 bytes for each log entry, 4 where the leaf hashes are shared with the log's tree, and 50 to 55 for each label.
///
/// Security: a value of this type holds what the log holds; it vouches for nothing by itself.
public struct LabelHistories: Sendable {
    static let none = UInt32.max

    /// The most log entries that fit.
    public static let maximumSize = UInt64(UInt32.max)

    private var labels = LabelTable()
    /// For each log entry, the one before it under the same label.
    private var before: [UInt32] = []
    private var leaves = LeafList()
    /// The numbers of the labels that the epoch under way has touched.
    private var touched: [UInt32] = []
    /// The numbers of the labels whose newest entries the index does not have yet.
    private var unsettled: [UInt32] = []
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
        try demandPlace(for: entry)
        switch entry {
        case .device, .epoch: return
        case .state(let record):
            try requireStep(record.version, of: record.label, labels.number(of: record.label.key))
        case .succession(let record):
            // The numbers go on where those of the log before ended.
            let isFree = succession == 0 && hasPredecessor
            guard isFree || record.number == succession + 1 else {
                throw .successionNumber(expected: succession + 1, found: record.number, at: size)
            }
        case .predecessor: guard leaves.count == 0 else { throw .predecessorTooLate(at: size) }
        }
    }

    private func demandPlace(for entry: LogEntry) throws(IndexFault) {
        guard leaves.count < Self.none else { throw .tooLarge }
        if hasEnded { guard case .epoch = entry else { throw .afterTheEnd(at: size) } }
    }

    /// Adds the next entry of the log.
    ///
    /// - Throws: ``IndexFault``: a rule is broken. Nothing has changed then.
    public mutating func add(_ entry: LogEntry, leaf: TreeHash) throws(IndexFault) {
        try demand(entry)
        switch entry {
        case .device(let device): add(leaf, under: labels.addedNumber(of: LabelIndex(device.label).key))
        case .state(let record):
            add(leaf, record.version, record.kind, under: labels.addedNumber(of: record.label.key))
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

    private mutating func add(_ leaf: TreeHash, under number: UInt32) {
        let index = UInt32(truncatingIfNeeded: leaves.count)
        before.append(labels[number].last)
        leaves.append(leaf)
        labels[number].last = index
        labels[number].endsInRecord = false
        if !labels[number].isTouched {
            labels[number].isTouched = true
            touched.append(number)
        }
        if !labels[number].isUnsettled {
            labels[number].isUnsettled = true
            unsettled.append(number)
        }
    }

    private mutating func add(_ leaf: TreeHash, _ version: UInt64, _ kind: StateKind, under number: UInt32) {
        add(leaf, under: number)
        labels[number].hasRecord = true
        labels[number].endsInRecord = true
        labels[number].version = UInt32(truncatingIfNeeded: version)
        labels[number].isClosed = kind == .close
    }

    /// Rule S, first half: one step a label and epoch, each version one more than the last, none after the end.
    private func requireStep(
        _ found: UInt64, of label: @autoclosure () -> LabelIndex, _ number: UInt32?
    ) throws(IndexFault) {
        let known = number.map { labels[$0] } ?? LabelTable.Label()
        guard !known.isClosed else { throw .stepAfterClose(label: label(), at: size) }
        let version = UInt64(known.version)
        let isFree = version == 0 && hasPredecessor
        guard isFree || found == version + 1 else {
            throw .version(label: label(), expected: version + 1, found: found, at: size)
        }
        guard found <= UInt64(UInt32.max) else { throw .tooLarge }
        guard !known.hasRecord else { throw .secondStep(label: label(), at: size) }
    }

    /// Ends the epoch: what the index is to hold for each label that was touched since this was last called.
    ///
    /// - Throws: ``IndexFault/unsettled(label:)``: rule S, second half: a label's last entry must be a state record.
    public mutating func settle() throws(IndexFault) -> [MapEntry] {
        try endEpoch()
        defer { unsettled.removeAll(keepingCapacity: unsettled.count < 4096) }
        return unsettled.map { number in
            labels[number].isUnsettled = false
            return entry(of: number)
        }
    }

    /// As ``settle()``, in the order of the keys and by their numbers: ``entry(of:)`` gives what the index is to hold for each, on
    /// any thread, as long as nothing is added.
    ///
    /// - Throws: ``IndexFault/unsettled(label:)``.
    package mutating func settledLabels() throws(IndexFault) -> [UInt32] {
        try endEpoch()
        let numbers = unsettled.sorted { labels.keys[Int($0)] < labels.keys[Int($1)] }
        unsettled = []
        for number in numbers { labels[number].isUnsettled = false }
        return numbers
    }

    /// What the index is to hold for a label with entries, by its number.
    package func entry(of number: UInt32) -> MapEntry {
        MapEntry(key: labels.keys[Int(number)], value: head(of: number).value)
    }

    /// Ends the epoch. What it touched is part of what ``settle()`` gives next.
    ///
    /// - Throws: ``IndexFault/unsettled(label:)``. Nothing has changed then.
    package mutating func endEpoch() throws(IndexFault) {
        let open = touched.filter { !labels[$0].endsInRecord }.map { labels.keys[Int($0)] }
        if let key = open.min() { throw .unsettled(label: key) }
        for number in touched {
            labels[number].isTouched = false
            labels[number].hasRecord = false
        }
        touched.removeAll(keepingCapacity: touched.count < 4096)
    }
}

// MARK: Reading

extension LabelHistories {
    /// Whether the epoch under way has a step of this label, so that another one must wait for the next epoch.
    public func isTouched(_ label: LabelIndex) -> Bool {
        labels.number(of: label.key).map { labels[$0].isTouched } ?? false
    }

    /// The version of a label's last state record; 0 if it has none.
    public func version(of label: LabelIndex) -> UInt64 {
        labels.number(of: label.key).map { UInt64(labels[$0].version) } ?? 0
    }

    /// The log indexes of a label's entries among the first `size` entries of the log, in order.
    public func indexes(of label: MapKey, size: UInt64) -> [UInt64] {
        guard let number = labels.number(of: label) else { return [] }
        var indexes: [UInt64] = []
        var index = labels[number].last
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

    private func head(of number: UInt32) -> LabelHead {
        var hashes: [TreeHash] = []
        var index = labels[number].last
        while index != Self.none {
            hashes.append(leaves[Int(index)])
            index = before[Int(index)]
        }
        hashes.reverse()
        return LabelHead(TreeHead(size: UInt64(hashes.count), root: .root(of: hashes)))
    }
}

// MARK: Without reading the labels

/// Which label each entry belongs to, said by a copy that is checked against the roots of the index, so that the entries' own labels
/// need not be read, hashed and looked up.
extension LabelHistories {
    /// Uses the same memory for leaf hashes as the log's tree, where both have them.
    ///
    /// - Parameter tree: of the same log.
    package mutating func shareLeaves(with tree: MerkleTree) { leaves.share(with: tree.leaves) }

    /// The key of a label by its number.
    package func key(of number: UInt32) -> MapKey? { number < labelCount ? labels.keys[Int(number)] : nil }

    /// The log indexes of a label's entries, the last first.
    package func forEachIndex(of number: UInt32, _ body: (UInt32) -> Void) {
        var index = labels[number].last
        while index != Self.none {
            body(index)
            index = before[Int(index)]
        }
    }

    /// Takes the memory for so many labels at once.
    package mutating func reserve(labels count: Int) { labels.reserve(count) }

    /// Gives a label the next number.
    ///
    /// - Returns: whether it had none yet.
    package mutating func addLabel(_ key: MapKey) -> Bool {
        let count = labels.count
        return labels.addedNumber(of: key) == count
    }

    /// Adds the next entry of the log, the leaf of a device of a label that has a number.
    ///
    /// - Throws: ``IndexFault``: a rule is broken. Nothing has changed then.
    package mutating func addDevice(leaf: TreeHash, under number: UInt32) throws(IndexFault) {
        guard leaves.count < Self.none else { throw .tooLarge }
        guard !hasEnded else { throw .afterTheEnd(at: size) }
        add(leaf, under: number)
    }

    /// Adds the next entry of the log, a state record of a label that has a number.
    ///
    /// - Throws: ``IndexFault``: a rule is broken. Nothing has changed then.
    package mutating func addState(
        _ version: UInt64, _ kind: StateKind, leaf: TreeHash, under number: UInt32
    ) throws(IndexFault) {
        guard leaves.count < Self.none else { throw .tooLarge }
        guard !hasEnded else { throw .afterTheEnd(at: size) }
        try requireStep(version, of: LabelIndex(labels.keys[Int(number)]), number)
        add(leaf, version, kind, under: number)
    }
}

extension LabelHistories {
    /// Whether two logs that were read in different ways left the same: for tests.
    package func holdsSame(as other: LabelHistories) -> Bool {
        guard before == other.before, labels.keys == other.labels.keys, leaves.count == other.leaves.count else {
            return false
        }
        return (0..<leaves.count).allSatisfy { leaves[$0] == other.leaves[$0] }
            && (0..<UInt32(labels.count)).allSatisfy { labels[$0] == other.labels[$0] }
            && touched == other.touched && unsettled == other.unsettled && succession == other.succession
            && hasEnded == other.hasEnded && hasPredecessor == other.hasPredecessor
    }
}
