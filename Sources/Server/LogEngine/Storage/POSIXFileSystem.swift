// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The data directory on a local disk.
///
/// Files are created readable by all users (less the umask): a transparency log holds nothing but public data. The snapshot of the
/// index is the server's own, and readable by its owner alone.
package struct POSIXFileSystem: LogFileSystem {
    private let root: String

    /// The directory at `root`, which need not exist yet.
    package init(root: String) { self.root = root }

    package func lockDirectory() throws(LogFileError) -> (any LogDirectoryLock)? {
        let descriptor = try Descriptor(root, O_RDONLY | O_DIRECTORY, .open, .directory)
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) != 0 else {
            return POSIXDirectoryLock(descriptor: descriptor)
        }
        guard errno == EWOULDBLOCK else { throw LogFileError(.lock, of: .directory, code: errno) }
        return nil
    }

    package func open(_ path: String, _ mode: LogFileMode) throws(LogFileError) -> any LogFile {
        let kind = LogFileKind(path: path)
        return POSIXFile(descriptor: try Descriptor(absolute(path), mode.flags, .open, kind), kind: kind)
    }

    package func list(_ path: String) throws(LogFileError) -> [String] {
        guard let directory = opendir(absolute(path)) else { throw failure(.list, path) }
        defer { closedir(directory) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw failure(.list, path) }
        return names
    }

    package func makeDirectory(_ path: String) throws(LogFileError) {
        guard mkdir(absolute(path), 0o755) == 0 || errno == EEXIST else { throw failure(.makeDirectory, path) }
    }

    package func rename(_ path: String, to newPath: String) throws(LogFileError) {
        guard systemRename(absolute(path), absolute(newPath)) == 0 else { throw failure(.rename, path) }
    }

    package func remove(_ path: String) throws(LogFileError) {
        guard unlink(absolute(path)) == 0 else { throw failure(.remove, path) }
    }

    package func synchronizeDirectory(_ path: String) throws(LogFileError) {
        let directory = try Descriptor(
            absolute(path), O_RDONLY | O_DIRECTORY, .synchronizeDirectory, .directory)
        guard fsync(directory.number) == 0 else { throw failure(.synchronizeDirectory, path) }
    }

    package func leads(_ path: String, to file: any LogFile) -> Bool {
        var (named, opened) = (stat(), stat())
        guard let file = file as? POSIXFile, fstat(file.descriptor.number, &opened) == 0,
            stat(absolute(path), &named) == 0
        else { return false }
        return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
    }

    private func absolute(_ path: String) -> String { path.isEmpty ? root : "\(root)/\(path)" }

    private func failure(_ operation: LogFileOperation, _ path: String) -> LogFileError {
        LogFileError(operation, of: LogFileKind(path: path), code: errno)
    }
}

/// An open file of a ``POSIXFileSystem``.
private struct POSIXFile: LogFile {
    let descriptor: Descriptor
    let kind: LogFileKind

    func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(LogFileError) -> Int {
        let written = uninterrupted {
            bytes.withUnsafeBytes { pwrite(descriptor.number, $0.baseAddress, $0.count, off_t(clamping: offset)) }
        }
        guard written > 0 else { throw LogFileError(.write, of: kind, code: written == 0 ? ENOSPC : errno) }
        return written
    }

    func read(_ count: Int, at offset: UInt64) throws(LogFileError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = uninterrupted {
                    pread(
                        descriptor.number, buffer.baseAddress.map { $0 + filled }, count - filled,
                        off_t(clamping: offset) + filled)
                }
                if got < 0 { code = errno }
                if got <= 0 { break }
                filled += got
            }
        }
        guard code == 0 else { throw LogFileError(.read, of: kind, code: code) }
        return bytes
    }

    func size() throws(LogFileError) -> UInt64 {
        var status = stat()
        try check(fstat(descriptor.number, &status), .size)
        return UInt64(clamping: status.st_size)
    }

    func truncate(to size: UInt64) throws(LogFileError) {
        try check(ftruncate(descriptor.number, off_t(clamping: size)), .truncate)
    }

    func synchronizeData() throws(LogFileError) {
        #if canImport(Darwin)
            try check(fcntl(descriptor.number, F_FULLFSYNC), .synchronizeData)
        #else
            try check(fdatasync(descriptor.number), .synchronizeData)
        #endif
    }

    func synchronize() throws(LogFileError) {
        #if canImport(Darwin)
            try check(fcntl(descriptor.number, F_FULLFSYNC), .synchronize)
        #else
            try check(fsync(descriptor.number), .synchronize)
        #endif
    }

    private func check(_ result: Int32, _ operation: LogFileOperation) throws(LogFileError) {
        guard result == 0 else { throw LogFileError(operation, of: kind, code: errno) }
    }
}

/// Let go by name, not by closing alone: a program that is being started holds a copy of every descriptor for a moment.
private final class POSIXDirectoryLock: LogDirectoryLock {
    private let descriptor: Descriptor

    init(descriptor: Descriptor) { self.descriptor = descriptor }

    deinit { flock(descriptor.number, LOCK_UN) }
}

/// A file descriptor that is closed when released.
private final class Descriptor: Sendable {
    let number: Int32

    init(
        _ path: String, _ flags: Int32, _ operation: LogFileOperation, _ kind: LogFileKind
    ) throws(LogFileError) {
        number = systemOpen(path, flags | O_CLOEXEC, kind == .snapshot ? 0o600 : 0o644)
        guard number >= 0 else { throw LogFileError(operation, of: kind, code: errno) }
    }

    deinit { if number >= 0 { close(number) } }
}

extension LogFileMode {
    fileprivate var flags: Int32 {
        switch self {
        case .read: O_RDONLY
        case .update: O_RDWR
        case .create: O_RDWR | O_CREAT | O_TRUNC
        }
    }
}

private func systemOpen(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 {
    open(path, flags, permissions)
}

private func systemRename(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

/// A call that a signal stopped before it did anything is made again; this is safe for reads and writes only.
private func uninterrupted(_ call: () -> Int) -> Int {
    var result = call()
    while result < 0 && errno == EINTR { result = call() }
    return result
}
