// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import VerifiableMap

/// An epoch that is in the log: its record, and the index that the record names.
struct LoggedEpoch: Sendable {
    /// The log's size with the record.
    let size: UInt64
    let record: EpochRecord
    let index: MapVersion
}

/// The epochs whose index can still be proved from: the published one, those after it, and the daily milestones.
struct RecentEpochs: Sendable {
    /// For how many days milestones are kept: those of a whole answer, and the present day's.
    static let milestoneCount = MilestonesResponse.maximumCount + 1

    /// In rising order of size.
    private var epochs: [LoggedEpoch] = []
    private var milestones: [LoggedEpoch] = []

    /// Adds the newest epoch.
    mutating func append(_ epoch: LoggedEpoch, isMilestone: Bool) {
        epochs.append(epoch)
        guard isMilestone else { return }
        milestones.append(epoch)
        if milestones.count > Self.milestoneCount { milestones.removeFirst() }
    }

    /// Forgets the epochs before the one of a log of this size; the one right before it stays for answers under way.
    mutating func forget(before size: UInt64) {
        guard let current = epochs.lastIndex(where: { $0.size <= size }), current > 1 else { return }
        epochs.removeFirst(current - 1)
    }

    /// Forgets all but the last epoch and those of a log of at least this size; milestones stay.
    mutating func keepLast(and size: UInt64) {
        let kept = epochs.firstIndex { $0.size >= size } ?? epochs.count
        epochs.removeFirst(max(0, min(kept, epochs.count - 1)))
    }

    /// The epoch that ends a log of this size.
    func epoch(size: UInt64) -> LoggedEpoch? {
        epochs.last { $0.size == size } ?? milestones.last { $0.size == size }
    }

    /// The last epoch, published or not.
    var last: LoggedEpoch? { epochs.last }

    /// The newest milestone in a log of at most this size.
    func milestone(size: UInt64) -> LoggedEpoch? { milestones.last { $0.size <= size } }
}

extension LoggedEpoch {
    fileprivate func holdsSame(as other: LoggedEpoch) -> Bool {
        size == other.size && record == other.record && index.root == other.index.root
            && Array(index.entries) == Array(other.index.entries)
    }
}

extension RecentEpochs {
    /// Whether the same epochs can be proved from: for tests.
    func holdsSame(as other: RecentEpochs) -> Bool {
        epochs.elementsEqual(other.epochs) { $0.holdsSame(as: $1) }
            && milestones.elementsEqual(other.milestones) { $0.holdsSame(as: $1) }
    }
}
