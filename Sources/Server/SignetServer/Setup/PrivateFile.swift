// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform

/// Files and folders of the setup, each made durable before the next.
enum PrivateFile {
    /// Makes a file that is not there yet.
    ///
    /// - Parameter owner: whose it is to be; nil: this process's user's. It is given by the descriptor: in a folder of another user the name
    ///   may lead to any file by then.
    static func write(
        _ bytes: some Sequence<UInt8>, to path: String, mode: mode_t = 0o600, owner: uid_t? = nil
    ) throws(FileFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileFailure(path) }
        defer { close(descriptor) }
        try write(Array(bytes)[...], descriptor, path)
        if let owner { guard fchown(descriptor, owner, .max) == 0 else { throw FileFailure(path) } }
        guard fsync(descriptor) == 0 else { throw FileFailure(path) }
    }

    /// Replaces a file durably: a reader sees either the old bytes or the new ones.
    ///
    /// - Parameter owner: as for ``write(_:to:mode:owner:)``.
    static func replace(
        _ path: String, with bytes: some Sequence<UInt8>, mode: mode_t = 0o600, owner: uid_t? = nil
    ) throws(FileFailure) {
        let draft = path + ".new"
        guard unlink(draft) == 0 || errno == ENOENT else { throw FileFailure(draft) }
        try write(bytes, to: draft, mode: mode, owner: owner)
        guard rename(draft, path) == 0 else { throw FileFailure(path) }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        try synchronize(folder: folder)
    }

    /// Makes a folder for its owner alone.
    static func makeFolder(_ path: String) throws(FileFailure) {
        guard mkdir(path, 0o700) == 0 else { throw FileFailure(path) }
    }

    /// Whether a name is there, be it that of a link which leads nowhere. What cannot be asked for is not taken for missing.
    static func isThere(_ path: String) throws(FileFailure) -> Bool {
        guard FileStatus(ofEntry: path) == nil else { return true }
        guard errno == ENOENT else { throw FileFailure(path) }
        return false
    }

    /// The names in a folder.
    static func names(in folder: String) throws(FileFailure) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw FileFailure(folder, code: access(folder, R_OK | X_OK) == 0 ? EIO : errno)
        }
    }

    /// Copies the proofs of earlier changes of keys, and what earlier logs held, to another folder, where they replace what has their names.
    static func copyHistory(from source: String, to target: String) throws(FileFailure) {
        for name in try names(in: source) where name == "succession" || name.hasPrefix("former-") {
            guard unlink("\(target)/\(name)") == 0 || errno == ENOENT else { throw FileFailure("\(target)/\(name)") }
            try copy("\(source)/\(name)", to: "\(target)/\(name)")
        }
        try synchronize(folder: target)
    }

    /// Makes the names in a folder durable.
    static func synchronize(folder path: String) throws(FileFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileFailure(path) }
    }

    /// Copies a file to a name that is not there yet, durably; its owner alone may use the copy.
    static func copy(_ source: String, to target: String) throws(FileFailure) {
        let (from, to) = (
            open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC),
            open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        )
        let failure = FileFailure(from < 0 ? source : target)
        defer { for descriptor in [from, to] where descriptor >= 0 { close(descriptor) } }
        guard from >= 0, to >= 0 else { throw failure }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = buffer.withUnsafeMutableBytes { systemRead(from, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw FileFailure(source) }
            if count == 0 { break }
            if count > 0 { try write(buffer[..<count], to, target) }
        }
        guard fsync(to) == 0 else { throw FileFailure(target) }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, _ descriptor: Int32, _ path: String) throws(FileFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || (count < 0 && errno == EINTR) else { throw FileFailure(path) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// The bytes of a whole file.
    ///
    /// - Parameter followsLink: whether `path` may be a symbolic link.
    /// - Throws: ``FileFailure``; of code `EFBIG`: it is longer than allowed, and what follows is not passed over; of code `ELOOP`: it is a
    ///   link that is not followed.
    static func read(
        _ path: String, maximumByteCount: Int = 1 << 20, followsLink: Bool = true
    ) throws(FileFailure) -> [UInt8] {
        // A pipe is refused, and not waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw FileFailure(path) }
        defer { close(descriptor) }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw FileFailure(path) }
        // One more than there should be: who writes on meanwhile is noticed.
        var bytes = [UInt8](repeating: 0, count: min(Int(end), maximumByteCount) + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                systemRead(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard more >= 0 || errno == EINTR else { throw FileFailure(path) }
            guard more != 0 else { break }
            count += max(0, more)
        }
        guard count < bytes.count else { throw FileFailure(path, code: EFBIG) }
        return Array(bytes[..<count])
    }
}

private func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, start, count)
}

private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}

/// A call to the operating system failed.
public struct FileFailure: Error, Hashable, Sendable {
    /// The file or folder.
    public let path: String
    /// The `errno` of the call.
    public let code: Int32

    init(_ path: String, code: Int32 = errno) {
        self.path = path
        self.code = code
    }
}
