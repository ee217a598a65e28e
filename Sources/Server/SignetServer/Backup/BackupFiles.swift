// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import Platform

/// The files of a data directory as a backup has them.
enum BackupFiles {
    /// The list of a backup's files with their SHA-256, as sha256sum(1) writes and reads it.
    static let list = "backup.sha256"

    /// Whether a file is one that a server needs and no one else may have.
    static func isSecret(_ path: String) -> Bool {
        path.hasPrefix("keys/") || path == "notes/login.key" || path == "tls/server.key"
            || path == "tls.next/server.key" || path == "cards/signer.key" || path == "cards/token.key"
    }

    /// Private keys that the server never reads. They belong elsewhere: beside the others, one theft would take all.
    /// A change of TLS keys has the next ones in `tls.next` until they are in place.
    static func staysBehind(_ path: String) -> Bool {
        ["tls/backup.key", "tls/ca.key", "tls.next/backup.key", "tls.next/ca.key"].contains(path)
    }

    /// What is copied with SQLite's own backup.
    static func isDatabase(_ path: String) -> Bool { path.hasSuffix(".sqlite") }

    /// What is copied by the log's own rules, or not at all: SQLite's side files, drafts, the mark of a restored copy, and that of the
    /// newest backup.
    static func isCopiedOtherwise(_ path: String) -> Bool {
        path.hasPrefix("records/log/") || isDatabase(path) || path.hasSuffix("-wal") || path.hasSuffix("-shm")
            || path.hasSuffix(".new") || path.hasPrefix("tls.next.new/") || path == "restored" || path == list
            || path == BackupMark.name
    }

    /// Every file below a folder, by its path from there, in order.
    static func paths(in folder: String) throws(FileFailure) -> [String] {
        try entries(of: folder, below: "").sorted()
    }

    /// The folder that cannot be read is named.
    private static func entries(of root: String, below place: String) throws(FileFailure) -> [String] {
        let folder = place.isEmpty ? root : "\(root)/\(place)"
        let names = try PrivateFile.names(in: folder)
        var paths: [String] = []
        for name in names {
            let path = place.isEmpty ? name : "\(place)/\(name)"
            guard let status = FileStatus(ofEntry: "\(root)/\(path)") else { continue }
            if status.isFolder { paths += try entries(of: root, below: path) }
            if status.isFile { paths.append(path) }
        }
        return paths
    }

    /// Makes the folders above a file, for their owner alone.
    static func makeFolders(above path: String, in root: String) throws(FileFailure) {
        let parts = path.split(separator: "/").dropLast()
        for end in parts.indices {
            let folder = "\(root)/\(parts[...end].joined(separator: "/"))"
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw FileFailure(folder) }
        }
    }

    private static func subpaths(of folder: String) throws(FileFailure) -> [String] {
        do { return try FileManager.default.subpathsOfDirectory(atPath: folder) } catch {
            throw FileFailure(folder, code: access(folder, R_OK | X_OK) == 0 ? EIO : errno)
        }
    }

    /// Leaves only the owner's rights on everything below a folder. What a link leads to is not touched.
    ///
    /// - Throws: ``FileFailure``; of code `ELOOP`: there is a link.
    static func makePrivate(_ folder: String) throws(FileFailure) {
        for name in try subpaths(of: folder) { try takeFromOthers("\(folder)/\(name)") }
    }

    private static func takeFromOthers(_ path: String) throws(FileFailure) {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(path) }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), fchmod(descriptor, status.permissions & 0o700) == 0 else {
            throw FileFailure(path)
        }
    }

    /// SHA-256 of a file, in hexadecimal digits.
    static func digest(of path: String) throws(FileFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(path) }
        defer { close(descriptor) }
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw FileFailure(path) }
            if count == 0 { break }
            if count > 0 { hash.update(data: buffer[..<count]) }
        }
        return String(decoding: Hex.encode(Array(hash.finalize())), as: UTF8.self)
    }

    /// Writes the list of a folder's files into it, and makes every folder's names durable.
    static func seal(_ folder: String) throws(FileFailure) {
        var text = ""
        for path in try paths(in: folder) { text += "\(try digest(of: "\(folder)/\(path)"))  \(path)\n" }
        try PrivateFile.write(text.utf8, to: "\(folder)/\(list)")
        try synchronizeFolders(folder)
    }

    /// Makes the names in a folder and in those below it durable.
    static func synchronizeFolders(_ folder: String) throws(FileFailure) {
        for name in try subpaths(of: folder) {
            var isFolder: ObjCBool = false
            let path = "\(folder)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                continue
            }
            try PrivateFile.synchronize(folder: path)
        }
        try PrivateFile.synchronize(folder: folder)
    }

    /// The digests that the list of a folder names, by path; nil if it has none.
    static func listed(in folder: String) throws(FileFailure) -> [String: String]? {
        let path = "\(folder)/\(list)"
        guard access(path, F_OK) == 0 else { return nil }
        let text = String(decoding: try PrivateFile.read(path, maximumByteCount: 64 << 20), as: UTF8.self)
        var digests: [String: String] = [:]
        for line in text.split(separator: "\n") where line.count > 66 {
            digests[String(line.dropFirst(66))] = String(line.prefix(64))
        }
        return digests
    }

    /// How the files of a folder differ from the list in a backup; nil if that has no list.
    ///
    /// - Parameter copy: where the files are that are read; those that the list should name are the backup's.
    static func faults(of backup: String, in copy: String) throws(FileFailure) -> [DataFault]? {
        guard let listed = try listed(in: backup) else { return nil }
        let present = try paths(in: backup).filter { $0 != list }
        var faults: [DataFault] = []
        for (path, digest) in listed.sorted(by: { $0.key < $1.key }) {
            if !present.contains(path) {
                faults.append(.lost(path: path))
            } else if try self.digest(of: "\(copy)/\(path)") != digest {
                faults.append(.changed(path: path))
            }
        }
        return faults + present.filter { listed[$0] == nil }.map { .added(path: $0) }
    }

    /// Gives finished folders their names, durably, one after the other: all of them, or each is a draft again.
    ///
    /// - Parameter synchronize: makes the names in a folder durable.
    static func rename(
        _ folders: [(draft: String, path: String)],
        synchronize: (String) throws(FileFailure) -> Void = { path throws(FileFailure) in
            try PrivateFile.synchronize(folder: path)
        }
    ) throws(FileFailure) {
        var done: [(draft: String, path: String)] = []
        do throws(FileFailure) {
            for folder in folders {
                guard access(folder.path, F_OK) != 0 else { throw FileFailure(folder.path, code: EEXIST) }
                guard systemRename(folder.draft, folder.path) == 0 else { throw FileFailure(folder.path) }
                done.append(folder)
                try synchronize(folder.path.lastIndex(of: "/").map { String(folder.path[...$0]) } ?? ".")
            }
        } catch {
            for folder in done { _ = systemRename(folder.path, folder.draft) }
            throw error
        }
    }
}

private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }
