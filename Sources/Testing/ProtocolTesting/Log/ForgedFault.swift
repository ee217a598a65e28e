// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import TransparencyLog
import VerifiableMap

/// The ways in which a log breaks the rules of its index, one each.
public enum ForgedFault: String, CaseIterable, Sendable {
    /// An entry that is none.
    case unknownEntry
    /// A version left out.
    case skippedVersion
    /// An old version once more.
    case repeatedVersion
    /// Two steps of one person in one epoch.
    case secondStep
    /// A step of an account that has ended.
    case ghost
    /// A change of keys whose number was left out.
    case skippedSuccession
    /// A change of keys whose number was used.
    case repeatedSuccession
    /// A person who is logged after the log has handed over to another.
    case afterlife
    /// The end of another log in the middle of this one.
    case lateOrigin
    /// A device key without a step that vouches for it.
    case silentDevice
    /// A checkpoint that does not end in an epoch record.
    case missingEpochRecord
    /// An epoch number left out.
    case skippedEpoch
    /// One label less than there are.
    case hiddenLabel
    /// An index root of another epoch.
    case oldIndexRoot
    /// A key shown in the index of one epoch and never logged.
    case flashKey
    /// An epoch before the one before it.
    case timeRunsBack

    /// What an auditor calls it.
    public var name: FaultName {
        switch self {
        case .unknownEntry: .unknownEntry
        case .skippedVersion, .repeatedVersion: .version
        case .secondStep: .secondStep
        case .ghost: .stepAfterClose
        case .skippedSuccession, .repeatedSuccession: .successionNumber
        case .afterlife: .afterTheEnd
        case .lateOrigin: .predecessorTooLate
        case .silentDevice: .unsettled
        case .missingEpochRecord: .noEpochRecord
        case .skippedEpoch, .hiddenLabel: .epochFields
        case .oldIndexRoot, .flashKey: .indexRoot
        case .timeRunsBack: .timeRunsBack
        }
    }

    /// Whether few entries show it; otherwise only the whole log does.
    public var isShownByEntries: Bool {
        switch self {
        case .unknownEntry, .repeatedVersion, .secondStep, .ghost, .repeatedSuccession, .afterlife, .lateOrigin,
            .missingEpochRecord, .skippedEpoch, .hiddenLabel,
            .timeRunsBack:
            true
        case .skippedVersion, .skippedSuccession, .silentDevice, .oldIndexRoot, .flashKey: false
        }
    }
}

extension ForgedLog {
    /// Does it, after at least one honest epoch in which person 0 stepped.
    public func commit(_ fault: ForgedFault) throws {
        switch fault {
        case .unknownEntry:
            append(Array("hello\n".utf8))
            try closeEpoch()
        case .skippedVersion: try end(after: state(of: 0, version: 3).entry)
        case .repeatedVersion: try end(after: state(of: 0, version: 1).entry)
        case .secondStep:
            try step(0)
            try end(after: nextState(of: 0).entry)
        case .ghost:
            try close(0)
            try closeEpoch()
            try end(after: nextState(of: 0).entry)
        case .skippedSuccession: try end(after: succession(.keys, number: 2).entry)
        case .repeatedSuccession:
            try add(succession(.keys, number: 1).entry)
            try end(after: succession(.keys, number: 1).entry)
        case .afterlife:
            try add(succession(.log, number: 1).entry)
            try closeEpoch()
            append(device(of: 99))
            append(try nextState(of: 99).entry)
            try closeEpoch()
        case .lateOrigin: try end(after: PredecessorRecord(note: checkpoint()).entry)
        case .silentDevice: try end(after: device(of: 0))
        case .missingEpochRecord: try step(0)
        case .skippedEpoch: try closeEpoch { Self.edit($0, number: $0.number + 1) }
        case .hiddenLabel: try closeEpoch { Self.edit($0, labelCount: $0.labelCount - 1) }
        case .oldIndexRoot:
            let old = entries.compactMap { try? EpochRecord(decoding: $0) }.last?.root
            try step(0)
            try closeEpoch { Self.edit($0, root: old ?? $0.root) }
        case .flashKey: try flash()
        case .timeRunsBack: try closeEpoch { Self.edit($0, time: $0.time - 5000) }
        }
    }

    /// An entry that breaks a rule, and an epoch record after it as if there were none.
    private func end(after entry: [UInt8]) throws {
        append(entry)
        try closeEpoch()
    }

    /// One epoch's root over one key more than the log has; the next one's is right again.
    private func flash() throws {
        var map = MapTrie()
        let keys = Set(entries.compactMap { try? StateRecord(decoding: $0).label.key })
        try map.update(keys.map { MapEntry(key: $0, value: LabelHead(.empty).value) })
        let flashed = map.current.root
        try closeEpoch { Self.edit($0, root: flashed) }
        try grow(epochs: 1, people: 1, from: 1_000)
    }

    private static func edit(
        _ record: EpochRecord, number: UInt64? = nil, time: UInt64? = nil, labelCount: UInt64? = nil,
        root: MapHash? = nil
    ) -> EpochRecord {
        EpochRecord(
            number: number ?? record.number, time: time ?? record.time, start: record.start,
            labelCount: labelCount ?? record.labelCount, milestone: record.milestone, root: root ?? record.root)
    }
}
