// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// Follows a log entry by entry and recomputes the index of every epoch: what an auditor does.
///
/// It keeps no proof and trusts none: the entries are everything. Entries may be checked up to any point; the log is
/// what it should be when it ends in an epoch record and nothing was thrown.
public struct DirectoryReplay: ~Copyable, Sendable {
    /// Every label's entries.
    public private(set) var histories = LabelHistories()
    /// The right edge of the log, whose root a checkpoint of this size must have.
    public private(set) var frontier = MerkleFrontier()
    private var index = EpochIndex()

    /// A replay that has read nothing.
    public init() {}

    /// The last epoch; nil before the first.
    public var lastEpoch: EpochRecord? { index.epochs.last }

    /// The first epoch; nil before it.
    public var firstEpoch: EpochRecord? { index.epochs.first }

    /// Takes the log's next entry.
    ///
    /// - Throws: ``IndexFault``. The replay is over then; what it would say afterwards means nothing.
    public mutating func add(_ bytes: [UInt8]) throws(IndexFault) {
        let entry: LogEntry
        do { entry = try LogEntry(decoding: bytes) } catch { throw .unknownEntry(at: histories.size) }
        let leaf = TreeHash.leaf(bytes)
        if case .epoch(let record) = entry {
            try index.close(histories.settle(), with: record, index: histories.size)
        }
        try histories.add(entry, leaf: leaf)
        frontier.append(leaf)
    }

    /// Demands what rule E demands of a log that is published as it is now.
    ///
    /// - Throws: ``IndexFault/noEpochRecord(size:)``.
    public func requireEnd() throws(IndexFault) {
        guard lastEpoch != nil, index.epochs.lastIndex + 1 == histories.size else {
            throw .noEpochRecord(size: histories.size)
        }
    }
}
