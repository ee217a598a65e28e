// SPDX-License-Identifier: Apache-2.0

/// What the log asked the storage to do when it failed.
public enum LogFileOperation: Hashable, Sendable, CaseIterable {
    /// Opening or creating a file or directory.
    case open
    /// Taking the exclusive lock on the data directory.
    case lock
    /// Reading at an offset.
    case read
    /// Writing at an offset.
    case write
    /// `fdatasync`: making written bytes durable.
    case synchronizeData
    /// `fsync`: making written bytes and the file's metadata durable.
    case synchronize
    /// Asking for the size of a file.
    case size
    /// Cutting a file.
    case truncate
    /// Giving a file its final name.
    case rename
    /// Removing a file.
    case remove
    /// Listing a directory.
    case list
    /// Making a directory.
    case makeDirectory
    /// `fsync` of a directory: making names durable.
    case synchronizeDirectory
}

/// Which kind of file of the data directory an operation was about.
public enum LogFileKind: Hashable, Sendable, CaseIterable {
    /// The data directory itself, or one of its folders.
    case directory
    /// A segment of the write-ahead log (`wal/`).
    case segment
    /// The record of the last checkpoint signed (`checkpoint.lock`).
    case lockRecord
    /// A file of 256 tree hashes (`tile/<L>/`).
    case tile
    /// A file of 256 entries (`tile/entries/`).
    case bundle
    /// What is known of the log's index at some size (`index.snapshot`), for a quicker start.
    case snapshot
}

/// A call to the storage that failed: the environment's fault.
///
/// Nothing in the log retries such a call: after a failed `fsync` the kernel may already have dropped the bytes.
public struct LogFileError: Error, Hashable, Sendable {
    /// What was asked for.
    public let operation: LogFileOperation
    /// What it was asked of.
    public let file: LogFileKind
    /// The `errno` of the call.
    public let code: Int32

    /// A failed call.
    public init(_ operation: LogFileOperation, of file: LogFileKind, code: Int32) {
        self.operation = operation
        self.file = file
        self.code = code
    }
}
