// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeyTransparency
public import LogFencing
public import TransparencyLog

/// Why entries were not appended.
public enum LogAppendError: Error, Hashable, Sendable {
    /// A group without entries. The caller's mistake.
    case emptyGroup
    /// An entry without bytes. The caller's mistake.
    case emptyEntry(position: Int)
    /// An entry of more than 65,535 bytes. The caller's mistake.
    case entryTooLong(position: Int, byteCount: Int)
    /// The entries of the group are too long to be written at once. The caller's mistake.
    case groupTooLarge(byteCount: Int, maximum: Int)
    /// Too many entries wait already. Nothing was appended; the environment is busy, and trying again later helps.
    case queueFull(waiting: Int)
    /// The group breaks a rule of the log's index. The caller's mistake.
    case breaksRule(IndexFault)
    /// The log holds as many entries as this engine can (2^32 - 1).
    case logFull
    /// The log was closed. Nothing was appended.
    case closed
    /// Another process writes this log. Nothing was appended.
    case writtenElsewhere
    /// A file that the log writes was removed or replaced under it, so that what is appended would be gone with the process. Nothing was
    /// appended; it goes on when the file is in its place again.
    case displaced
    /// The log has failed for good. Whether the entries are in it is unknown until it has been opened again: look for
    /// them with ``DurableLog/index(ofLeaf:)`` then.
    case stopped

    /// Whether the same call can succeed later.
    public var isWorthRetrying: Bool {
        if case .queueFull = self { true } else { false }
    }
}

/// Why a caller that waited for a checkpoint did not get one.
public enum LogWaitError: Error, Hashable, Sendable {
    /// The task that waited was cancelled.
    case cancelled
    /// The log was closed.
    case closed
    /// Too few witnesses cosigned: what was appended is durable, and is published as soon as enough do.
    case belowQuorum(missing: [KeyName])
    /// A file of the log is not in its place, so that what witnesses cosigned cannot be put down beside it. What was appended is durable in
    /// the files that are open, and is published when they are in their places again.
    case displaced
    /// The log has failed for good.
    case stopped
}

/// Why a question about the log has no answer.
public enum DurableLogReadError: Error, Hashable, Sendable {
    /// The published log is not that large.
    case beyondPublished(size: UInt64)
    /// There is no such tile in any log.
    case tile(TileError)
    /// There is no such proof.
    case tree(MerkleTreeError)
    /// The file of this bundle does not hold the entries of the log. Opening the log again repairs it.
    case bundleDamaged(index: UInt64)
    /// The storage failed.
    case file(LogFileError)
    /// The object store does not have this bundle, or did not answer. A retry may help.
    case bundleUnavailable(index: UInt64)
}

/// Why a log has failed for good.
///
/// Nothing that was acknowledged is lost and nothing was published that could be contradicted, but this process can no
/// longer know what is on the disk.
public enum LogFailure: Error, Hashable, Sendable {
    /// Entries could not be made durable.
    case writeAheadLog(LogFileError)
    /// A checkpoint could not be recorded.
    case lockRecord(LockRecordError)
    /// The last checkpoint that was witnessed could not be kept.
    case publishedFile(LogFileError)
    /// A full tile or bundle could not be written.
    case tiles(LogFileError)
    /// A frame could not be sealed: our bug, or bad memory.
    case sealing(IndexFault)
    /// A checkpoint could not be signed.
    case signing(LogSigningError)
    /// The tree lacks a node that it must have: our bug, or bad memory.
    case tree(MerkleTreeError)
    /// The entries of a full bundle are gone from memory before they were in a file: our bug, or bad memory.
    case entriesLost(bundle: UInt64)
    /// A witness has cosigned what this log does not extend, and without it there is no quorum: the log's data is older than what others
    /// have seen. What was signed since it was opened was not published.
    case contradicted
    /// This process writes a log no more that several machines share. Nothing that it began and did not finish was acknowledged.
    case leadershipEnded(LeadershipEnd)
    /// What the shared database or object store holds is not what a log can hold.
    case sharedStore(SharedLogFault)
}

extension LogFailure {
    /// Whether a file was not opened because this process, or the system, has too many open: no disk has failed.
    package var isOfOpenFiles: Bool {
        switch self {
        case .writeAheadLog(let error), .lockRecord(.file(let error)), .publishedFile(let error), .tiles(let error):
            error.isOfOpenFiles
        default: false
        }
    }
}

extension LogFailure {
    /// Whether the folder of a tile, or the file itself, was removed while it was written: somebody removes the files of the log, and those
    /// that are open may be next. The tile is written again later.
    var isOfMissingFile: Bool {
        if case .tiles(let error) = self { error.code == ENOENT } else { false }
    }
}

extension LogFileError {
    /// Whether this process, or the system, has too many files open.
    package var isOfOpenFiles: Bool { code == EMFILE || code == ENFILE }
}
