// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
public import LogEngine

/// Why a directory was not opened or created. The operator has to act; no retry helps, unless the error says so.
public enum DirectoryOpenError: Error, Hashable, Sendable {
    /// The log refused.
    case log(LogOpenError)
    /// The data directory could not be made or written to; the `errno`.
    case file(code: Int32)
    /// The database was not opened or read. If it is missing while the log is there: restore it, or check the mount.
    case database(DurableOpenError)
    /// The server that has the database did not answer, or refused with this `SQLSTATE`. A retry may help.
    case databaseAway(state: String?)
    /// The database belongs to the log of this origin.
    case databaseOfOtherLog(origin: [UInt8])
    /// The database holds labels made with another VRF key.
    case databaseOfOtherVRFKey
    /// The log has a later change of its keys or witnesses than what clients are told to trust.
    case keysChanged
    /// The entries of this bundle of the log cannot be read.
    case logUnreadable(bundle: UInt64)
    /// The log failed while it was taking up what a crash had interrupted.
    case logStopped
    /// The log is shorter than it was when the database was last opened: an old copy of it was restored.
    case logBehindDatabase(checked: UInt64, size: UInt64)
    /// The log holds a state of an account that the database never heard of: an old copy of the database was restored.
    case databaseBehindLog(index: UInt64)
}
