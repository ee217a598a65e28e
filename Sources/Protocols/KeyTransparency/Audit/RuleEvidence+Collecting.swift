// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

extension RuleEvidence {
    /// An entry to be looked up in a log, so that a fault is shown by few of them.
    public enum Search: Hashable, Sendable {
        /// The entry at this index.
        case entry(at: UInt64)
        /// The last state record of this label before an index.
        case lastStep(of: LabelIndex, before: UInt64)
        /// The last epoch record before an index.
        case lastEpoch(before: UInt64)
        /// The last change of keys before an index.
        case lastSuccession(before: UInt64)
        /// The first epoch record from an index on.
        case firstEpoch(from: UInt64)

        /// Whether this entry, wherever it stands, is of the kind that is looked for.
        public func isFound(in entry: [UInt8]) -> Bool {
            switch self {
            case .entry: true
            case .lastStep(let label, _): (try? StateRecord(decoding: entry))?.label == label
            case .lastEpoch, .firstEpoch: (try? EpochRecord(decoding: entry)) != nil
            case .lastSuccession: (try? SuccessionRecord(decoding: entry)) != nil
            }
        }
    }

    /// Which entries might show a fault by themselves, in the order of the log: at most ``maximumEntryCount``, so that
    /// the collector holds no more of the log than that, however large the log is.
    ///
    /// - Parameters:
    ///   - place: as ``CheckpointAudit/finding(at:)`` gave it.
    ///   - entry: what stands there; empty for ``FaultName/noEpochRecord``, whose place is behind the last entry.
    public static func searches(showing fault: FaultName, at place: UInt64, _ entry: [UInt8]) -> [Search] {
        switch fault {
        case .unknownEntry, .predecessorTooLate: [.entry(at: place)]
        case .noEpochRecord: place > 0 ? [.entry(at: place - 1)] : []
        case .secondStep: stepBefore(place, entry) + [.entry(at: place), .firstEpoch(from: place)]
        case .version, .stepAfterClose: stepBefore(place, entry) + [.entry(at: place)]
        case .epochFields, .timeRunsBack: [.lastEpoch(before: place), .entry(at: place)]
        case .successionNumber, .afterTheEnd: [.lastSuccession(before: place), .entry(at: place)]
        case .unsettled, .indexRoot: []
        }
    }

    /// The step before of the same label.
    private static func stepBefore(_ place: UInt64, _ entry: [UInt8]) -> [Search] {
        LogEntry.label(of: entry).map { [.lastStep(of: $0, before: place)] } ?? []
    }
}
