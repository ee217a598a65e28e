// SPDX-License-Identifier: Apache-2.0

/// What an entry of the directory's log says. Every entry is of one of these kinds; their first bytes tell them apart.
public enum LogEntry: Hashable, Sendable {
    /// A device's key.
    case device(DeviceLeaf)
    /// A step of an account.
    case state(StateRecord)
    /// The end of an epoch.
    case epoch(EpochRecord)
    /// A change of the directory's own keys.
    case succession(SuccessionRecord)
    /// Where the log before this one ended.
    case predecessor(PredecessorRecord)

    /// Reads a raw log entry.
    ///
    /// - Throws: ``LogEntryError``: of none of the kinds, or not in its one spelling.
    public init(decoding entry: [UInt8]) throws(LogEntryError) {
        if entry.starts(with: StateRecord.format) {
            self = .state(try StateRecord(decoding: entry))
        } else if entry.starts(with: EpochRecord.format) {
            self = .epoch(try EpochRecord(decoding: entry))
        } else if entry.starts(with: SuccessionRecord.format) {
            self = .succession(try SuccessionRecord(decoding: entry))
        } else if entry.starts(with: PredecessorRecord.format) {
            self = .predecessor(try PredecessorRecord(decoding: entry))
        } else {
            self = .device(try DeviceLeaf(decoding: entry))
        }
    }

    /// The raw log entry.
    public var entry: [UInt8] {
        switch self {
        case .device(let leaf): leaf.entry
        case .state(let record): record.entry
        case .epoch(let record): record.entry
        case .succession(let record): record.entry
        case .predecessor(let record): record.entry
        }
    }
}
