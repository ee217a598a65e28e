// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// What is wrong with a log that several machines share.
public enum SharedLogFault: Error, Hashable, Sendable {
    /// The database has no log.
    case noLog
    /// The log was here and has gone back to the files of one machine. Nobody may write it here.
    case movedAway
    /// The database or the object store has a log already.
    case logExists
    /// The database is of the log with this name, not of ours.
    case otherLog(origin: [UInt8])
    /// The row that says how far the log is cannot have been written by this program.
    case rowDamaged
    /// The frame that begins with this entry is not there.
    case frameMissing(firstIndex: UInt64)
    /// The frame that begins with this entry is not what was written: its checksum, its length or its place says so.
    case frameDamaged(firstIndex: UInt64)
    /// The frames make another root than the checkpoint says.
    case rootDiffers(size: UInt64)
    /// The checkpoint in the database, or in the second memory, is not signed by the log's key, or not of this log.
    case checkpointInvalid
    /// Keys or witnesses of the log are other ones than this process knows: they were changed on another machine, or a change was
    /// interrupted. Nobody who says this has signed anything.
    case keysChanged
    /// The database has published so many entries, and this machine's files are of a change of keys or witnesses that came later: it is an older
    /// copy, or another database.
    case databaseBeforeChange(published: UInt64, changed: UInt64)
    /// So many entries were signed last, as the object store says, and this machine's files are of a change of keys that came later: it is an
    /// older copy.
    case objectsBeforeChange(signed: UInt64, changed: UInt64)
    /// The database shows a smaller checkpoint than before.
    case shrinks(from: UInt64, to: UInt64)
    /// The object store shows a larger checkpoint than the database has published: it is another database, or an older copy.
    case servedIsNewer(served: UInt64, published: UInt64)
    /// The object store has other bytes at this path, which never change. They were not touched.
    case objectContradicts(path: String)
    /// The object store has nothing at this path, and entries are needed from there.
    case objectMissing(path: String)
    /// What the object store has at this path are no entries.
    case objectDamaged(path: String)
    /// The database or the object store did not answer, or refused; a retry may help.
    case unavailable(String)
}
