// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// What entries show by themselves, once each is proven to stand where it is said to.
extension RuleEvidence {
    /// The deed that the entries show in a tree with this head; nil if they do not show the fault.
    func deed(in head: TreeHead) -> ProvenFault.Deed? {
        switch fault {
        case .unknownEntry: unknownEntry
        case .noEpochRecord: noEpochRecord(in: head)
        case .secondStep: secondStep
        case .version: version
        case .stepAfterClose: stepAfterClose
        case .epochFields, .timeRunsBack: epochs
        case .successionNumber: succession
        case .afterTheEnd: afterTheEnd
        case .predecessorTooLate: predecessorTooLate
        case .unsettled, .indexRoot: nil
        }
    }

    private var unknownEntry: ProvenFault.Deed? {
        guard entries.count == 1, entries[0].inclusion.index == place else { return nil }
        guard (try? LogEntry(decoding: entries[0].bytes)) == nil else { return nil }
        return .unknownEntry(at: place)
    }

    private func noEpochRecord(in head: TreeHead) -> ProvenFault.Deed? {
        guard entries.count == 1, place == head.size, entries[0].inclusion.index + 1 == head.size else { return nil }
        guard (try? EpochRecord(decoding: entries[0].bytes)) == nil else { return nil }
        return .noEpochRecord(size: place)
    }

    /// Two steps of a label, and an epoch record after them that says that its epoch began before them.
    private var secondStep: ProvenFault.Deed? {
        guard entries.count == 3, let pair = steps, entries[1].inclusion.index == place,
            let epoch = try? EpochRecord(decoding: entries[2].bytes),
            entries[2].inclusion.index > place, epoch.start <= entries[0].inclusion.index
        else { return nil }
        return .secondStep(label: pair.1.label, first: entries[0].inclusion.index, second: place)
    }

    /// Two steps of a label of which the later has no higher version.
    private var version: ProvenFault.Deed? {
        guard entries.count == 2, let pair = steps, entries[1].inclusion.index == place,
            pair.1.version <= pair.0.version
        else { return nil }
        return .version(label: pair.1.label, earlier: pair.0.version, later: pair.1.version, at: place)
    }

    /// The end of a label, and any entry of it after that.
    private var stepAfterClose: ProvenFault.Deed? {
        guard entries.count == 2, entries[1].inclusion.index == place,
            let end = try? StateRecord(decoding: entries[0].bytes), end.kind == .close,
            entries[0].inclusion.index < place, LogEntry.label(of: entries[1].bytes) == end.label
        else { return nil }
        return .stepAfterClose(label: end.label, closed: entries[0].inclusion.index, at: place)
    }

    /// Two successions of which the later has no higher number.
    private var succession: ProvenFault.Deed? {
        guard entries.count == 2, entries[1].inclusion.index == place, entries[0].inclusion.index < place,
            let first = try? SuccessionRecord(decoding: entries[0].bytes),
            let second = try? SuccessionRecord(decoding: entries[1].bytes), second.number <= first.number
        else { return nil }
        return .succession(earlier: first.number, later: second.number, at: place)
    }

    /// The end of the log, and something other than an epoch record after it.
    private var afterTheEnd: ProvenFault.Deed? {
        guard entries.count == 2, entries[1].inclusion.index == place, entries[0].inclusion.index < place,
            let end = try? SuccessionRecord(decoding: entries[0].bytes), end.kind == .log,
            (try? EpochRecord(decoding: entries[1].bytes)) == nil
        else { return nil }
        return .afterTheEnd(ended: entries[0].inclusion.index, at: place)
    }

    /// The end of another log anywhere but at the beginning.
    private var predecessorTooLate: ProvenFault.Deed? {
        guard entries.count == 1, place > 0, entries[0].inclusion.index == place,
            (try? PredecessorRecord(decoding: entries[0].bytes)) != nil
        else { return nil }
        return .predecessorTooLate(at: place)
    }

    /// The first two entries, if they are state records of one label, in the order of the log.
    private var steps: (StateRecord, StateRecord)? {
        guard let first = try? StateRecord(decoding: entries[0].bytes),
            let second = try? StateRecord(decoding: entries[1].bytes),
            first.label == second.label, entries[0].inclusion.index < entries[1].inclusion.index
        else { return nil }
        return (first, second)
    }

    /// Two epoch records, in the order of the log, that cannot both be right.
    private var epochs: ProvenFault.Deed? {
        guard entries.count == 2, entries[1].inclusion.index == place,
            let first = try? EpochRecord(decoding: entries[0].bytes),
            let second = try? EpochRecord(decoding: entries[1].bytes)
        else { return nil }
        let index = entries[0].inclusion.index
        guard index < place, !second.canFollow(first, at: index) || second.start > place else { return nil }
        return .epochs(first, second, at: place)
    }
}

extension LogEntry {
    /// The label that the entry belongs to; nil if it belongs to none.
    static func label(of entry: [UInt8]) -> LabelIndex? {
        switch try? LogEntry(decoding: entry) {
        case .device(let leaf): LabelIndex(leaf.label)
        case .state(let record): record.label
        case .epoch, .succession, .predecessor, nil: nil
        }
    }
}

extension EpochRecord {
    /// Whether this record, somewhere after an earlier one, may be right as far as the two of them show.
    fileprivate func canFollow(_ earlier: EpochRecord, at index: UInt64) -> Bool {
        guard number > earlier.number, time >= earlier.time, labelCount >= earlier.labelCount else { return false }
        let isNext = number == earlier.number + 1
        return start > index && isNext == (start == index + 1)
    }
}
