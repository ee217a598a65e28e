// SPDX-License-Identifier: Apache-2.0

/// The few calls the log makes to a disk, so that tests can make each of them fail.
///
/// Paths are relative to the data directory, with `/` between components; the empty path is the directory itself.
/// Calls block: the log makes them on its own threads only.
package protocol LogFileSystem: Sendable {
    /// Takes the exclusive lock on the data directory; nil when someone else holds it.
    ///
    /// The lock goes when the returned value is released, and when the process ends.
    func lockDirectory() throws(LogFileError) -> (any LogDirectoryLock)?
    /// Opens or creates a file.
    func open(_ path: String, _ mode: LogFileMode) throws(LogFileError) -> any LogFile
    /// The names in a directory, in no particular order.
    func list(_ path: String) throws(LogFileError) -> [String]
    /// Makes one directory; nothing happens when it exists.
    func makeDirectory(_ path: String) throws(LogFileError)
    /// Gives a file another name, replacing what had that name.
    func rename(_ path: String, to newPath: String) throws(LogFileError)
    /// Removes a file.
    func remove(_ path: String) throws(LogFileError)
    /// Makes the names in a directory durable.
    func synchronizeDirectory(_ path: String) throws(LogFileError)
    /// Whether a name leads to a file that is open: not if it was removed, moved away, or replaced by another one.
    func leads(_ path: String, to file: any LogFile) -> Bool
}

/// How ``LogFileSystem/open(_:_:)`` opens.
package enum LogFileMode: Hashable, Sendable {
    /// An existing file, for reading.
    case read
    /// An existing file, for reading and writing.
    case update
    /// A new file for reading and writing, empty; what had the name is emptied.
    case create
}

/// An open file. Closed when released.
package protocol LogFile: Sendable {
    /// Writes at an offset and returns how many bytes were taken, which may be fewer than given.
    func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(LogFileError) -> Int
    /// Reads up to `count` bytes at an offset; fewer only at the end of the file.
    func read(_ count: Int, at offset: UInt64) throws(LogFileError) -> [UInt8]
    /// The size in bytes.
    func size() throws(LogFileError) -> UInt64
    /// Cuts the file to `size` bytes.
    func truncate(to size: UInt64) throws(LogFileError)
    /// Makes written bytes durable (`fdatasync`).
    func synchronizeData() throws(LogFileError)
    /// Makes written bytes and metadata durable (`fsync`).
    func synchronize() throws(LogFileError)
}

/// The exclusive lock on a data directory, held for as long as this value lives.
package protocol LogDirectoryLock: Sendable {}

extension LogFile {
    /// Writes all of `bytes`, however many calls it takes.
    ///
    /// - Throws: ``LogFileError``: some of the bytes may have been written.
    func writeAll(_ bytes: [UInt8], at offset: UInt64) throws(LogFileError) {
        var written = 0
        while written < bytes.count {
            written += try write(bytes[written...], at: offset + UInt64(written))
        }
    }
}

extension LogFileSystem {
    /// All bytes of a file.
    func contents(of path: String) throws(LogFileError) -> [UInt8] {
        let file = try open(path, .read)
        return try file.read(Int(clamping: file.size()), at: 0)
    }

    /// Creates a file under its final name with all of its bytes, durably: a partial file is never visible.
    func createDurably(_ path: String, in directory: String, _ bytes: [UInt8]) throws(LogFileError) -> any LogFile {
        let file = try open(path + LogPath.temporarySuffix, .create)
        try file.writeAll(bytes, at: 0)
        try file.synchronize()
        try rename(path + LogPath.temporarySuffix, to: path)
        try synchronizeDirectory(directory)
        return file
    }
}
