// SPDX-License-Identifier: Apache-2.0

public import VerifiableMap

/// How a log breaks the rules of its index. The log's signer is responsible: the log itself is the evidence.
public enum IndexFault: Error, Hashable, Sendable {
    /// An entry is of no known kind.
    case unknownEntry(at: UInt64)
    /// Rule S: a state record's version is not one more than the label's last one.
    case version(label: LabelIndex, expected: UInt64, found: UInt64, at: UInt64)
    /// Rule S: a second step of a label in one epoch.
    case secondStep(label: LabelIndex, at: UInt64)
    /// Rule S: a step of a label whose account has been closed.
    case stepAfterClose(label: LabelIndex, at: UInt64)
    /// A change of keys is not numbered one more than the last one.
    case successionNumber(expected: UInt64, found: UInt64, at: UInt64)
    /// The log goes on after it has handed over to another one.
    case afterTheEnd(at: UInt64)
    /// Only a log's first entry can say which log was before.
    case predecessorTooLate(at: UInt64)
    /// Rule S: in this epoch a label got an entry after its last state record, or got none.
    case unsettled(label: MapKey)
    /// Rule S: a group of entries that does not end in a state record was to be logged.
    case noStateRecord
    /// Rule E: the published log does not end in an epoch record.
    case noEpochRecord(size: UInt64)
    /// An epoch record's number, times, counts or milestone are not those of the log.
    case epochFields(found: EpochRecord, expected: EpochRecord)
    /// An epoch record names another index root than its log has.
    case indexRoot(found: EpochRecord, expected: MapHash)
    /// The time of an epoch is before that of the epoch before; both in milliseconds since 1970.
    case timeRunsBack(from: UInt64, to: UInt64, at: UInt64)
    /// More entries than a replay can hold (2^32 - 1), or more nodes than a map.
    case tooLarge
}
