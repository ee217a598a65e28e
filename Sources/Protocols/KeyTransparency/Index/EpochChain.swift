// SPDX-License-Identifier: Apache-2.0

public import VerifiableMap

/// Where the chain of epochs stands: what the next epoch record must say.
public struct EpochChain: Hashable, Sendable {
    /// The last epoch's record and where it stands; nil before the first.
    public private(set) var last: EpochRecord?
    /// The first epoch's record; nil before it.
    public private(set) var first: EpochRecord?
    /// Where the last one stands.
    public private(set) var lastIndex: UInt64 = 0
    /// The last milestone, which may be ``last``: its place and its day.
    private var milestone: (index: UInt64, day: UInt64)?

    /// The chain before the first epoch.
    public init() {}

    /// The record that ends an epoch now.
    ///
    /// - Parameters:
    ///   - time: in milliseconds since 1970; if it is before the last epoch's, that one's is used.
    ///   - index: where the record is to stand: how many entries the log has before it.
    ///   - labelCount: how many labels the index has.
    ///   - root: the root of the index.
    public func next(at time: UInt64, index: UInt64, labelCount: UInt64, root: MapHash) -> EpochRecord {
        EpochRecord(
            number: (last?.number ?? 0) + 1, time: max(time, last?.time ?? 0), start: last == nil ? 0 : lastIndex + 1,
            labelCount: labelCount, milestone: milestone?.index ?? index, root: root)
    }

    /// Takes a record as the last one.
    ///
    /// - Throws: ``IndexFault``: it is not the record that must stand there. Nothing has changed then.
    public mutating func append(
        _ record: EpochRecord, at index: UInt64, labelCount: UInt64, root: MapHash
    ) throws(IndexFault) {
        if let last, record.time < last.time {
            throw .timeRunsBack(from: last.time, to: record.time, at: index)
        }
        let expected = next(at: record.time, index: index, labelCount: labelCount, root: record.root)
        guard record == expected else { throw .epochFields(found: record, expected: expected) }
        guard record.root == root else { throw .indexRoot(found: record, expected: root) }
        first = first ?? record
        last = record
        lastIndex = index
        if beginsDay(record) { milestone = (index, record.day) }
    }

    /// Whether the next record would be the first of its day.
    package func beginsDay(_ record: EpochRecord) -> Bool { milestone.map { $0.day < record.day } ?? true }

    /// Whether the last epoch is the first of its day.
    public var endsInMilestone: Bool { milestone?.index == lastIndex && last != nil }

    /// Where the newest milestone stands; nil before the first epoch.
    public var newestMilestone: UInt64? { milestone?.index }

    /// Two chains are equal when they demand the same of the next record.
    public static func == (left: EpochChain, right: EpochChain) -> Bool {
        left.last == right.last && left.lastIndex == right.lastIndex
            && left.milestone?.index == right.milestone?.index
    }

    /// Feeds what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(last)
        hasher.combine(lastIndex)
    }
}
