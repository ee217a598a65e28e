// SPDX-License-Identifier: Apache-2.0

public import VerifiableMap

/// The index and its epochs: takes what an epoch changed, and gives or checks the record that ends it.
public struct EpochIndex: ~Copyable, Sendable {
    /// The epochs so far.
    public private(set) var epochs = EpochChain()
    private var trie = MapTrie()

    /// An index before the first epoch.
    public init() {}

    /// The index after the last epoch.
    public var current: MapVersion { trie.current }

    /// Ends an epoch.
    ///
    /// - Parameters:
    ///   - changes: what ``LabelHistories/settle()`` gave.
    ///   - time: in milliseconds since 1970.
    ///   - index: where the record is to stand.
    /// - Returns: the record.
    /// - Throws: ``IndexFault/tooLarge``. Nothing has changed then.
    public mutating func close(
        _ changes: [MapEntry], at time: UInt64, index: UInt64
    ) throws(IndexFault) -> EpochRecord {
        let prediction = try predict(changes)
        let record = epochs.next(
            at: time, index: index, labelCount: UInt64(prediction.next.count), root: prediction.root)
        try take(record, prediction, at: index)
        return record
    }

    /// Ends an epoch as its record says.
    ///
    /// - Throws: ``IndexFault``: the record is not the one that these changes lead to. Nothing has changed then.
    public mutating func close(
        _ changes: [MapEntry], with record: EpochRecord, index: UInt64
    ) throws(IndexFault) {
        try take(record, predict(changes), at: index)
    }

    /// Takes a part of what changed since the last epoch that was closed, before the next one is closed.
    ///
    /// - Throws: ``IndexFault/tooLarge``.
    package mutating func add(_ changes: [MapEntry]) throws(IndexFault) {
        do { try trie.update(changes) } catch { throw .tooLarge }
    }

    /// Ends an epoch with the root that its record names, for which a signed root of the log vouches. What the epoch changed goes
    /// into the index with the next one that is closed.
    ///
    /// - Parameter labelCount: how many labels have entries.
    /// - Throws: ``IndexFault``: another field of the record is wrong. Nothing has changed then.
    package mutating func pass(
        _ record: EpochRecord, labelCount: UInt64, index: UInt64
    ) throws(IndexFault) {
        try epochs.append(record, at: index, labelCount: labelCount, root: record.root)
    }

    private mutating func predict(_ changes: [MapEntry]) throws(IndexFault) -> MapPrediction {
        do { return try trie.predict(changes) } catch { throw .tooLarge }
    }

    private mutating func take(
        _ record: EpochRecord, _ prediction: MapPrediction, at index: UInt64
    ) throws(IndexFault) {
        try epochs.append(
            record, at: index, labelCount: UInt64(prediction.next.count), root: prediction.root)
        do { try trie.commit(prediction) } catch { throw .tooLarge }
    }
}
