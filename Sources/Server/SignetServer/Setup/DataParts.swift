// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform

/// The databases and keys beside the log that a data directory of one machine has had: so that one that is gone is not taken for one that
/// was never made.
///
/// `records/parts` names those that a server has found or made, one a line; lines of others are left as they are. A directory of an earlier
/// version has no such file until its next start, and the database of accounts says so. A file that is not such a list is damaged: `EBADMSG`.
struct DataParts {
    /// What is recorded once it is there.
    private static let names = [
        "notes/notes.sqlite", "notes/login.key", "recovery.sqlite", "signals.sqlite", "cards/statement",
        "cards/signer.key", "cards/token.key", "cards/tokens.sqlite",
    ]

    private let data: DataDirectory
    private var list: String { data.records + "/parts" }

    init(_ data: DataDirectory) { self.data = data }

    /// Those that were there, and are missing or empty.
    ///
    /// - Throws: `FileFailure`.
    func lost() throws(FileFailure) -> [String] { try recorded().filter { Self.names.contains($0) && !isThere($0) } }

    /// Refuses a directory without something that it had, before anything is made anew.
    ///
    /// - Throws: ``StoredDirectoryError/lostParts(_:)``, ``StoredDirectoryError/file(_:)``.
    func requireAll() throws(StoredDirectoryError) {
        let lost: [String]
        do { lost = try self.lost() } catch { throw .file(error) }
        guard lost.isEmpty else { throw .lostParts(lost) }
    }

    /// Refuses a directory that has lost the list itself.
    ///
    /// - Parameter wasWritten: whether a server has written one.
    /// - Throws: `FileFailure` of code `ENOENT`.
    func requireList(_ wasWritten: Bool) throws(FileFailure) {
        guard !wasWritten || access(list, F_OK) == 0 || errno != ENOENT else { throw FileFailure(list, code: ENOENT) }
    }

    /// Takes down what is there now, durably.
    ///
    /// - Throws: ``StoredDirectoryError/file(_:)``.
    func record() throws(StoredDirectoryError) {
        do throws(FileFailure) {
            let known = try recorded()
            let new = Self.names.filter { !known.contains($0) && isThere($0) }
            guard !new.isEmpty else { return }
            try PrivateFile.replace(list, with: (known + new).map { $0 + "\n" }.joined().utf8)
        } catch { throw .file(error) }
    }

    /// Lets everything go elsewhere: of a log that has ended. The list stays, as it does in every directory that had one, and names a file that
    /// stays too.
    ///
    /// - Throws: `FileFailure`.
    func forget() throws(FileFailure) { try PrivateFile.replace(list, with: "directory.signet\n".utf8) }

    private func recorded() throws(FileFailure) -> [String] {
        guard access(list, F_OK) == 0 || errno != ENOENT else { return [] }
        let bytes = try PrivateFile.read(list)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // Every line ends, and is a path, be it one of another version.
        guard lines.count > 1, lines.last?.isEmpty == true, lines.dropLast().allSatisfy(Self.isPath) else {
            throw FileFailure(list, code: EBADMSG)
        }
        return lines.dropLast().map { String(decoding: $0, as: UTF8.self) }
    }

    private static func isPath(_ line: ArraySlice<UInt8>) -> Bool {
        !line.isEmpty
            && line.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }

    /// An SQLite file that was never closed may have everything in its write-ahead file.
    private func isThere(_ name: String) -> Bool {
        let path = "\(data.path)/\(name)"
        guard let status = FileStatus(of: path) else { return errno != ENOENT && errno != ENOTDIR }
        return status.byteCount > 0 || FileStatus(of: path + "-wal").map { $0.byteCount > 0 } ?? false
    }
}
