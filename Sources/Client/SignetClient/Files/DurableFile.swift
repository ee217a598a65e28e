// SPDX-License-Identifier: Apache-2.0

import Platform

/// A small file that is read and replaced as a whole: after a crash, either the old file or the new one is there.
///
/// A replacement is written beside the file with mode 0600, synchronised and renamed over it; then the folder is synchronised.
public struct DurableFile: Sendable {
    /// The steps of a replacement, in order.
    package enum Step: Hashable, Sendable, CaseIterable {
        case createTemporary, write, synchronize, putInPlace, synchronizeFolder
    }

    /// The file's path.
    public let path: String
    /// Called before and after every step; tests make it throw.
    private let hook: @Sendable (Step, _ isDone: Bool) throws(FileFault) -> Void

    /// The file at a path, which need not exist.
    public init(path: String) { self.init(path: path) { _, _ throws(FileFault) in } }

    package init(path: String, hook: @escaping @Sendable (Step, Bool) throws(FileFault) -> Void) {
        self.path = path
        self.hook = hook
    }

    /// Whether something exists at the path.
    public var exists: Bool { access(path, F_OK) == 0 }

    /// Reads the whole file.
    ///
    /// - Parameters:
    ///   - maximumByteCount: the limit; longer files are refused before they are read.
    ///   - isSecret: refuses a file that the group or others may read.
    /// - Throws: ``FileFault``.
    public func read(maximumByteCount: Int, isSecret: Bool = false) throws(FileFault) -> [UInt8] {
        let descriptor = try Descriptor(path, flags: O_RDONLY)
        let status = try descriptor.status()
        guard !status.isFolder else { throw .isDirectory }
        if isSecret && status.isOpenToOthers { throw .openToOthers }
        return try descriptor.readAll(maximumByteCount: maximumByteCount)
    }

    /// Replaces the file with `bytes`, or makes it.
    ///
    /// - Throws: ``FileFault``: the old file still exists, unless only the last synchronisation failed.
    public func replace(with bytes: [UInt8]) throws(FileFault) {
        try put(bytes) { temporary throws(FileFault) in
            guard rename(temporary, path) == 0 else { throw .last }
        }
    }

    /// Makes the file.
    ///
    /// - Throws: ``FileFault``: ``FileFault/exists`` if something exists there already; it is left unchanged.
    public func create(_ bytes: [UInt8]) throws(FileFault) {
        try put(bytes) { temporary throws(FileFault) in
            guard link(temporary, path) == 0 else { throw .last }
            unlink(temporary)
        }
    }

    /// Makes an empty file with mode 0600 unless something exists there.
    ///
    /// - Throws: ``FileFault``, also if the existing file cannot be read and written.
    public func makeEmptyUnlessThere() throws(FileFault) {
        _ = try Descriptor(path, flags: O_RDWR | O_CREAT)
    }

    /// Removes the file, if it exists. After a crash it may be there again.
    ///
    /// - Throws: ``FileFault``.
    public func remove() throws(FileFault) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .last }
    }

    /// Puts another file of the same folder in this one's place, and keeps this one under another name. The other is on the disk already.
    /// After a crash, either this file or the other one is at the path.
    ///
    /// - Parameter kept: the path of this file afterwards.
    /// - Throws: ``FileFault``; ``FileFault/exists``: something exists at `kept`. This file is still at its path, unless only the
    ///   last synchronisation failed.
    public func makeWay(for other: String, keptAt kept: String) throws(FileFault) {
        guard link(path, kept) == 0 else { throw .last }
        guard rename(other, path) == 0 else {
            let fault = FileFault.last
            unlink(kept)
            throw fault
        }
        try synchronizeFolder()
    }

    private func put(
        _ bytes: [UInt8], inPlace: (String) throws(FileFault) -> Void
    ) throws(FileFault) {
        let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).new"
        do {
            let descriptor = try step(.createTemporary) { () throws(FileFault) in
                try Descriptor(temporary, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            }
            try step(.write) { () throws(FileFault) in try descriptor.write(bytes) }
            try step(.synchronize) { () throws(FileFault) in try descriptor.synchronize() }
            try step(.putInPlace) { () throws(FileFault) in try inPlace(temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
        try step(.synchronizeFolder) { () throws(FileFault) in try synchronizeFolder() }
    }

    private func synchronizeFolder() throws(FileFault) {
        try Descriptor(folder, flags: O_RDONLY | O_DIRECTORY).synchronize()
    }

    private func step<Result: ~Copyable>(
        _ step: Step, _ body: () throws(FileFault) -> Result
    ) throws(FileFault) -> Result {
        try hook(step, false)
        let result = try body()
        try hook(step, true)
        return result
    }

    private var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// An open file that closes itself.
private struct Descriptor: ~Copyable {
    private let number: Int32

    init(_ path: String, flags: Int32) throws(FileFault) {
        number = open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .last }
    }

    deinit { close(number) }

    func status() throws(FileFault) -> FileStatus {
        guard let status = FileStatus(of: number) else { throw .last }
        return status
    }

    func readAll(maximumByteCount: Int) throws(FileFault) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(number, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { return bytes }
            guard bytes.count + count <= maximumByteCount else { throw .tooLong(limit: maximumByteCount) }
            bytes += chunk[..<count]
        }
    }

    func write(_ bytes: [UInt8]) throws(FileFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            rest = rest.dropFirst(count)
        }
    }

    func synchronize() throws(FileFault) {
        guard fsync(number) == 0 else { throw .last }
    }
}

private func systemWrite(_ number: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(number, start, count)
}
