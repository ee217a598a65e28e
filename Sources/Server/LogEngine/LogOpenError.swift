// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeyTransparency
public import TransparencyLog

/// Why a log was not opened or created. Nothing was signed, and what is on the disk was not changed by the refusal.
///
/// Every case is final: trying again without doing what ``remedy`` says gives the same answer.
public enum LogOpenError: Error, Hashable, Sendable {
    /// The data directory does not exist.
    case directoryMissing
    /// The data directory cannot be written to.
    case directoryNotWritable(LogFileError)
    /// Another process has the log open.
    case inUse
    /// The directory holds no log. Opening never makes one: an empty directory may be a disk that is not mounted.
    case noLog
    /// The directory already holds a log, or what is left of one.
    case logExists
    /// There is a write-ahead log but no record of what was signed for it.
    case lockRecordMissing
    /// Neither half of the lock record is intact.
    case lockRecordDamaged
    /// The checkpoint published last has this log's signature, and this tree does not extend it. Showing another one would look like a
    /// rollback.
    case publishedCheckpointContradicts
    /// The lock record is of the log with this origin, not of ours.
    case lockRecordOfOtherLog(origin: KeyName)
    /// A checkpoint was signed for more entries than the write-ahead log has: an older copy of it was restored, or
    /// its end is damaged. Going on would fork the log.
    case lockRecordAhead(locked: TreeHead, replayed: UInt64)
    /// The write-ahead log has another root at the size that was signed. Going on would fork the log.
    case rootMismatch(locked: TreeHead, computed: TreeHash)
    /// The segment that begins with this entry is not there, or the one before it is cut short.
    case segmentMissing(firstIndex: UInt64)
    /// The header of this segment is damaged.
    case segmentDamaged(firstIndex: UInt64)
    /// A frame in the middle of the log is damaged.
    case frameDamaged(segment: UInt64, offset: UInt64)
    /// The entries break a rule of the log's index: they were not written by this program.
    case breaksRule(IndexFault)
    /// The log has more entries than this engine keeps.
    case tooLarge
    /// The checkpoint could not be signed.
    case signing(LogSigningError)
    /// The new checkpoint was refused by the lock record.
    case lockRecord(LockRecordError)
    /// The storage failed.
    case file(LogFileError)

    /// What the operator is to do about a refusal.
    public enum Remedy: Hashable, Sendable {
        /// Check the path and the mount; make the directory.
        case provideDirectory
        /// Give this process the right to write to the directory, and check that the disk is mounted for writing.
        case allowWriting
        /// Stop the other process first.
        case stopOtherProcess
        /// Create the log first, once.
        case createLog
        /// Open the log instead of creating it, or choose an empty directory.
        case openExistingLog
        /// Bring back the newest copy of the whole data directory (`wal/` and `checkpoint.lock` together). Never delete
        /// the lock record to get past this.
        case restoreNewestCopy
        /// Start with the name and keys that this log was created with.
        case correctConfiguration
        /// Repair or replace the storage; the log itself says nothing against going on afterwards.
        case repairStorage
    }

    /// What to do.
    public var remedy: Remedy {
        switch self {
        case .directoryMissing: .provideDirectory
        case .directoryNotWritable: .allowWriting
        case .inUse: .stopOtherProcess
        case .noLog: .createLog
        case .logExists: .openExistingLog
        case .lockRecordMissing, .lockRecordDamaged, .lockRecordAhead, .rootMismatch: .restoreNewestCopy
        case .publishedCheckpointContradicts: .restoreNewestCopy
        case .segmentMissing, .segmentDamaged, .frameDamaged, .breaksRule: .restoreNewestCopy
        case .lockRecordOfOtherLog, .signing, .tooLarge: .correctConfiguration
        // What was there and is gone comes back with no other disk.
        case .file(let error) where error.code == ENOENT: .restoreNewestCopy
        case .lockRecord, .file: .repairStorage
        }
    }
}

extension LogOpenError {
    /// The refusal that fits a storage error seen while opening.
    init(opening error: LogFileError) {
        switch (error.operation, error.file, error.code) {
        case (.open, .directory, ENOENT), (.open, .directory, ENOTDIR): self = .directoryMissing
        case (_, _, EACCES), (_, _, EROFS), (_, _, EPERM): self = .directoryNotWritable(error)
        default: self = .file(error)
        }
    }
}
