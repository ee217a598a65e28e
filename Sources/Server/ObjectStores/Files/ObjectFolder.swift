// SPDX-License-Identifier: Apache-2.0

import Platform
import Synchronization

/// The files of ``FileObjects``. Its calls block.
///
/// A file is written under a name in `.new`, made durable, and then given its own name: by a link where nothing may be there, by a
/// renaming where this version must be. Folders are made durable before a write counts as done. After a folder could not be, the disk
/// may have dropped what it was told, so no later write is believed.
final class ObjectFolder: Sendable {
    private static let lock = ".lock"
    private static let temporaries = ".new"

    private let root: String
    private let flush: @Sendable (Int32) -> Int32
    private let durable = Mutex<Set<String>>([])
    private let broken = Mutex<Int32?>(nil)

    init(root: String, flush: @escaping @Sendable (Int32) -> Int32) { (self.root, self.flush) = (root, flush) }

    /// Makes the folder, and takes away what writers that ended have left half written.
    func prepare() throws(ObjectFault) {
        for folder in [root, absolute(Self.temporaries)] { try makeFolder(folder) }
        for name in try names(in: absolute(Self.temporaries)) {
            let path = absolute("\(Self.temporaries)/\(name)")
            guard let file = try? OpenFile(path, O_RDWR | O_NOFOLLOW), file.tryLock() else { continue }
            _ = unlink(path)
        }
    }

    /// The bytes at a path; nil if there is no file.
    func read(_ path: String, limit: Int) throws(ObjectFault) -> [UInt8]? {
        let file: OpenFile
        do throws(DiskError) {
            file = try OpenFile(absolute(path), O_RDONLY | O_NOFOLLOW)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw .unavailable(.disk(code: error.code))
        }
        guard let status = FileStatus(of: file.number), !status.isFolder else { return nil }
        guard status.byteCount <= UInt64(limit) else { throw .tooLarge(limit: limit) }
        return try unavailable { () throws(DiskError) in try file.read(Int(status.byteCount)) }
    }

    /// Writes a file if none has this path.
    func create(_ path: String, _ bytes: [UInt8]) throws(ObjectFault) -> Bool {
        try withTemporary(for: path, bytes) { (temporary) throws(ObjectFault) in
            let isNew = link(temporary, absolute(path)) == 0
            guard isNew || errno == EEXIST else { throw .unavailable(.disk(code: errno)) }
            guard isNew || FileStatus(ofEntry: absolute(path))?.isFolder == false else { throw .invalidPath }
            // Of what another process wrote, too: the caller is going to believe that it is there.
            try keepFolder(of: path)
            return isNew
        }
    }

    /// Writes a file if the one at this path is as expected.
    func replace(
        _ path: String, _ bytes: [UInt8], limit: Int, if isExpected: ([UInt8]) -> Bool
    ) throws(ObjectFault) -> Bool {
        try withLock { () throws(ObjectFault) in
            guard let current = try read(path, limit: limit), isExpected(current) else { return false }
            return try withTemporary(for: path, bytes) { (temporary) throws(ObjectFault) in
                guard rename(temporary, absolute(path)) == 0 else { throw .unavailable(.disk(code: errno)) }
                try keepFolder(of: path)
                return true
            }
        }
    }

    /// Removes a file, if there is one.
    func remove(_ path: String) throws(ObjectFault) {
        try withLock { () throws(ObjectFault) in
            guard unlink(absolute(path)) == 0 else {
                if errno == ENOENT || errno == ENOTDIR || errno == EISDIR || errno == EPERM { return }
                throw .unavailable(.disk(code: errno))
            }
            try keepFolder(of: path)
        }
    }

    /// The paths of the files that begin with these characters, sorted.
    func list(_ prefix: String) throws(ObjectFault) -> [String] {
        let folder = prefix.lastIndex(of: "/").map { String(prefix[..<$0]) } ?? ""
        guard folder.isEmpty || ObjectPath.isValid(folder) else { return [] }
        var (open, found): ([String], [String]) = ([folder], [])
        while let next = open.popLast() {
            for name in try names(in: absolute(next)) where !name.hasPrefix(".") {
                let path = next.isEmpty ? name : "\(next)/\(name)"
                switch FileStatus(ofEntry: absolute(path)) {
                case let status? where status.isFolder: open.append(path)
                case let status? where status.isFile && path.utf8.starts(with: prefix.utf8): found.append(path)
                default: break
                }
            }
        }
        return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    // MARK: Parts

    private func absolute(_ path: String) -> String { path.isEmpty ? root : "\(root)/\(path)" }

    private func withTemporary<Value>(
        for path: String, _ bytes: [UInt8], _ body: (String) throws(ObjectFault) -> Value
    ) throws(ObjectFault) -> Value {
        if let code = broken.withLock({ $0 }) { throw .unavailable(.disk(code: code)) }
        try makeFolders(above: path)
        let temporary = absolute("\(Self.temporaries)/\(probeName())")
        let file = try unavailable { () throws(DiskError) in
            try OpenFile(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        }
        defer { _ = unlink(temporary) }
        guard file.tryLock() else { throw .unavailable(.disk(code: EWOULDBLOCK)) }
        try unavailable { () throws(DiskError) in try file.write(bytes) }
        guard flush(file.number) == 0 else { throw .unavailable(.disk(code: errno)) }
        return try body(temporary)
    }

    private func withLock<Value>(_ body: () throws(ObjectFault) -> Value) throws(ObjectFault) -> Value {
        let lock = try unavailable { () throws(DiskError) in try OpenFile(absolute(Self.lock), O_RDWR | O_CREAT) }
        try unavailable { () throws(DiskError) in try lock.lock() }
        return try body()
    }

    private func makeFolders(above path: String) throws(ObjectFault) {
        let parts = path.split(separator: "/").dropLast()
        for count in parts.indices {
            let folder = parts[...count].joined(separator: "/")
            guard !durable.withLock({ $0.contains(folder) }) else { continue }
            try makeFolder(absolute(folder))
            guard FileStatus(of: absolute(folder))?.isFolder == true else { throw .invalidPath }
            try keepFolder(of: folder)
            durable.withLock { _ = $0.insert(folder) }
        }
    }

    private func makeFolder(_ path: String) throws(ObjectFault) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw errno == ENOTDIR ? .invalidPath : .unavailable(.disk(code: errno))
        }
    }

    /// Makes the names in the folder of a path durable.
    private func keepFolder(of path: String) throws(ObjectFault) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        do throws(DiskError) {
            let open = try OpenFile(absolute(folder), O_RDONLY | O_DIRECTORY)
            guard flush(open.number) == 0 else { throw DiskError() }
        } catch {
            broken.withLock { $0 = $0 ?? error.code }
            throw .outcomeUnknown(.disk(code: error.code))
        }
    }

    private func names(in path: String) throws(ObjectFault) -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw .unavailable(.disk(code: errno))
        }
        defer { closedir(folder) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .unavailable(.disk(code: errno)) }
        return names
    }

    private func unavailable<Value>(_ body: () throws(DiskError) -> Value) throws(ObjectFault) -> Value {
        do throws(DiskError) { return try body() } catch { throw .unavailable(.disk(code: error.code)) }
    }
}
