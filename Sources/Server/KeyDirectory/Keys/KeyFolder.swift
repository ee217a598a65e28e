// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import SecretMemory
import TransparencyLog

/// The folder that holds the key files.
struct KeyFolder {
    let path: String

    /// Lends the secret of a file.
    ///
    /// - Throws: ``KeyFileError``: the file is not there, not private or not a key file of this kind.
    func withSecret<Value>(
        of file: KeyFile, _ body: ([UInt8]) throws(KeyFileError) -> Value
    ) throws(KeyFileError) -> Value {
        var text = try contents(of: file)
        defer { text.wipe() }
        guard text.count == file.format.count + KeyFile.encodedByteCount, text.starts(with: file.format),
            text.last == UInt8(ascii: "\n"),
            var secret = try? Base64.decode(text[file.format.count..<text.count - 1]),
            secret.count == KeyFile.secretByteCount
        else { throw .malformed(file) }
        defer { secret.wipe() }
        return try body(secret)
    }

    /// Where a token keeps the key of a file, and which it is; nil: the key is in the file.
    ///
    /// - Throws: ``KeyFileError``.
    func token(of file: KeyFile) throws(KeyFileError) -> (key: VerifierKey, address: TokenAddress)? {
        let text = try contents(of: file)
        guard text.starts(with: KeyFile.tokenFormat) else { return nil }
        let lines = text.dropFirst(KeyFile.tokenFormat.count)
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 3, lines[2].isEmpty, let key = try? VerifierKey(decoding: Array(lines[0])),
            let address = try? TokenAddress(decoding: Array(lines[1]))
        else { throw .malformed(file) }
        return (key, address)
    }

    /// Makes a file that says where a token keeps the key, durably.
    ///
    /// - Throws: ``KeyFileError/exists(_:)``, ``KeyFileError/system(_:code:)``.
    func create(
        _ file: KeyFile, _ key: VerifierKey, at address: TokenAddress, isReplaced: Bool = false
    ) throws(KeyFileError) {
        let line = [UInt8(ascii: "\n")]
        try create(
            file, text: KeyFile.tokenFormat + key.encoded + line + address.encoded + line, isReplaced: isReplaced)
    }

    /// Makes a file that only its owner can use, durably.
    ///
    /// - Throws: ``KeyFileError/exists(_:)``, ``KeyFileError/system(_:code:)``.
    ///
    /// - Parameter isReplaced: whether it takes the place of one that is there.
    func create(_ file: KeyFile, secret: Span<UInt8>, isReplaced: Bool = false) throws(KeyFileError) {
        var text = file.format + Base64.encode(secret) + [UInt8(ascii: "\n")]
        defer { text.wipe() }
        try create(file, text: text, isReplaced: isReplaced)
    }

    /// The name is the file's only once all of it is on the disk: one that is full leaves no file that is no key.
    private func create(_ file: KeyFile, text: [UInt8], isReplaced: Bool) throws(KeyFileError) {
        let draft = path(of: file) + ".new"
        guard unlink(draft) == 0 || errno == ENOENT else { throw .system(file, code: errno) }
        defer { unlink(draft) }
        try write(text, to: draft, file)
        if isReplaced || link(draft, path(of: file)) != 0 {
            guard isReplaced || errno == EEXIST else { throw .system(file, code: errno) }
            guard isReplaced || isEmpty(file) else { throw .exists(file) }
            guard systemRename(draft, path(of: file)) == 0 else { throw .system(file, code: errno) }
        }
        unlink(draft)
        try synchronize(file)
    }

    private func write(_ text: [UInt8], to draft: String, _ file: KeyFile) throws(KeyFileError) {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(file, code: errno) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw .system(file, code: errno) }
        let count = systemWrite(descriptor, text, text.count)
        // A disk with room for a part of it is full.
        guard count == text.count else { throw .system(file, code: count < 0 ? errno : ENOSPC) }
        guard fsync(descriptor) == 0 else { throw .system(file, code: errno) }
    }

    /// Whether a file is there, and more than the empty one that a full disk has left of earlier versions of this program: it holds no key.
    func isMade(_ file: KeyFile) -> Bool { access(path(of: file), F_OK) == 0 && !isEmpty(file) }

    /// Whether there is a file without a byte.
    func isEmpty(_ file: KeyFile) -> Bool {
        var status = stat()
        return lstat(path(of: file), &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    private func contents(of file: KeyFile) throws(KeyFileError) -> [UInt8] {
        let descriptor = open(path(of: file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(file, code: errno) }
        defer { close(descriptor) }
        try checkPrivacy(of: descriptor, file)
        var text = [UInt8](repeating: 0, count: KeyFile.maximumByteCount)
        let count = read(descriptor, &text, text.count)
        guard count >= 0 else { throw .system(file, code: errno) }
        defer { text.wipe() }
        return Array(text[..<count])
    }

    private func refusal(_ file: KeyFile, code: Int32) -> KeyFileError {
        switch code {
        case ENOENT: .missing(file)
        case ELOOP: .notAFile(file)
        default: .system(file, code: code)
        }
    }

    /// The open file is asked, not the path: what was checked is what is read.
    private func checkPrivacy(of descriptor: Int32, _ file: KeyFile) throws(KeyFileError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(file, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(file) }
        guard status.st_uid == geteuid() else { throw .wrongOwner(file) }
        let mode = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
        guard mode & 0o177 == 0 else { throw .wrongMode(file, mode: mode) }
    }

    /// When a file was last written, in seconds since 1970.
    ///
    /// - Throws: ``KeyFileError/missing(_:)``, ``KeyFileError/system(_:code:)``.
    func writingTime(of file: KeyFile) throws(KeyFileError) -> UInt64 {
        var status = stat()
        guard lstat(path(of: file), &status) == 0 else { throw refusal(file, code: errno) }
        #if canImport(Darwin)
            return UInt64(max(0, status.st_mtimespec.tv_sec))
        #else
            return UInt64(max(0, status.st_mtim.tv_sec))
        #endif
    }

    /// Gives a file the name of another one, which it replaces. ``synchronize(_:)`` makes it durable.
    ///
    /// - Throws: ``KeyFileError/missing(_:)``, ``KeyFileError/system(_:code:)``.
    func rename(_ file: KeyFile, to other: KeyFile) throws(KeyFileError) {
        guard systemRename(path(of: file), path(of: other)) == 0 else { throw refusal(file, code: errno) }
    }

    /// Makes the present time that of a file's writing.
    ///
    /// - Throws: ``KeyFileError/system(_:code:)``.
    func touch(_ file: KeyFile) throws(KeyFileError) {
        guard utimes(path(of: file), nil) == 0 else { throw .system(file, code: errno) }
    }

    /// Removes a file. No harm if there is none.
    ///
    /// - Throws: ``KeyFileError/system(_:code:)``.
    func remove(_ file: KeyFile) throws(KeyFileError) {
        guard unlink(path(of: file)) == 0 || errno == ENOENT else { throw .system(file, code: errno) }
    }

    func synchronize(_ file: KeyFile) throws(KeyFileError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(file, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(file, code: errno) }
    }

    private func path(of file: KeyFile) -> String { "\(path)/\(file.name)" }
}

private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }

private func systemWrite(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Int { write(descriptor, bytes, count) }
