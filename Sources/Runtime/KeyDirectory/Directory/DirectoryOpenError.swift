/// Why a directory was not opened or created. The operator has to act; no retry helps.
public enum DirectoryOpenError: Error, Hashable, Sendable {
    /// The log refused.
    case log(LogOpenError)
    /// The data directory could not be made or written to; the `errno`.
    case file(code: Int32)
    /// The log is there and the database is not: restore it, or check the mount.
    case databaseMissing
    /// There is a database already.
    case databaseExists
    /// SQLite failed with this extended result code.
    case database(code: Int32)
    /// A newer version of this program has changed the database's form.
    case databaseFromNewerVersion
    /// The connection that writes does not wait for the disk: its `synchronous` is this and not 2 (FULL).
    case notDurable(synchronous: Int)
    /// The database belongs to the log of this origin.
    case databaseOfOtherLog(origin: [UInt8])
    /// The database holds labels made with another VRF key.
    case databaseOfOtherVRFKey
    /// The entries of this bundle of the log cannot be read.
    case logUnreadable(bundle: UInt64)
    /// The log failed while it was taking up what a crash had interrupted.
    case logStopped
    /// The log is shorter than it was when the database was last opened: an old copy of it was restored.
    case logBehindDatabase(checked: UInt64, size: UInt64)
    /// The log holds a state of an account that the database never heard of: an old copy of the database was restored.
    case databaseBehindLog(index: UInt64)
    /// A row of the database is not what this program writes.
    case databaseDamaged
}
