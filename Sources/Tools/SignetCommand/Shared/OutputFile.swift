// SPDX-License-Identifier: Apache-2.0

import Platform
import Signet

/// Writes files that the user names.
enum OutputFile {
    /// Makes the file. Any other file under that name stays as it is, and nothing is written beside the keys.
    ///
    /// - Parameter isReplaced: whether what is there may be replaced, because this command wrote it before, for this account.
    static func write(
        _ bytes: [UInt8], to path: String, outside home: HomeFolder,
        replacing isReplaced: ([UInt8]) -> Bool = { _ in false }
    ) throws {
        try check(path, outside: home)
        let file = DurableFile(path: path)
        do throws(FileFault) { return try file.create(bytes) } catch {
            guard error == .exists, mayReplace(file, by: bytes, isReplaced) else {
                throw CommandFailure(error, path: path)
            }
        }
        do { try file.replace(with: bytes) } catch { throw CommandFailure(error, path: path) }
    }

    /// Before anything else is made that belongs to the file: nothing is there under that name, or what may be replaced.
    static func checkRoom(
        _ path: String, outside home: HomeFolder, replacing isReplaced: ([UInt8]) -> Bool = { _ in false }
    ) throws {
        try check(path, outside: home)
        let file = DurableFile(path: path)
        guard !file.exists || mayReplace(file, by: nil, isReplaced) else { throw CommandFailure(.exists, path: path) }
    }

    private static func mayReplace(
        _ file: DurableFile, by bytes: [UInt8]?, _ isReplaced: ([UInt8]) -> Bool
    ) -> Bool {
        guard let found = try? file.read(maximumByteCount: 1 << 20) else { return false }
        return found == bytes || isReplaced(found)
    }

    /// Makes files in a folder, and the folder unless it is there. If one of them is there with other bytes, none is written.
    static func write(_ files: [(name: String, bytes: [UInt8])], into path: String, outside home: HomeFolder) throws {
        try check(path + "/file", outside: home)
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw CommandFailure(.badFile, "The folder \(path) cannot be made.", "Check its name and permissions.")
        }
        for (name, bytes) in files where DurableFile(path: "\(path)/\(name)").exists {
            try write(bytes, to: "\(path)/\(name)", outside: home)
        }
        for (name, bytes) in files { try write(bytes, to: "\(path)/\(name)", outside: home) }
    }

    /// A file of this name would not lie in the home, however the name is spelled.
    static func check(_ path: String, outside home: HomeFolder) throws {
        var folder = folder(of: path)
        while realPath(folder) == nil, folder != Self.folder(of: folder) { folder = Self.folder(of: folder) }
        guard let own = realPath(home.path), let found = realPath(folder), found == own || found.hasPrefix(own + "/")
        else { return }
        throw CommandFailure(
            .usage, "\(path) would be beside your keys, in \(home.path).",
            "Name a file somewhere else. Nothing was written.")
    }

    private static func folder(of path: String) -> String {
        let name = path.dropLast(while: { $0 == "/" })
        guard let slash = name.lastIndex(of: "/") else { return path.hasPrefix("/") ? "/" : "." }
        let folder = name[..<slash].dropLast(while: { $0 == "/" })
        return folder.isEmpty ? "/" : String(folder)
    }

    private static func realPath(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}

extension StringProtocol {
    /// Without the characters at its end for which this holds.
    fileprivate func dropLast(while condition: (Character) -> Bool) -> SubSequence {
        guard let last = lastIndex(where: { !condition($0) }) else { return self[startIndex..<startIndex] }
        return self[...last]
    }
}
