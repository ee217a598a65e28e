// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import Platform

/// The files of a directory that goes back to one machine, until they are at their places.
///
/// ```
/// return.draft   being written; of no use to anybody
/// return.ready   whole and durable: the copy that goes on once the database has let go of the log
/// ```
/// Below it, the files have the paths that they get in the data directory. `copy` says which copy it is, and how much it holds.
struct ReturnDraft: Sendable {
    private let data: DataDirectory
    /// Where the files are written.
    let draft: DataDirectory
    /// Where they are when they are whole.
    let ready: DataDirectory

    init(_ data: DataDirectory) {
        self.data = data
        draft = DataDirectory(path: data.path + "/return.draft")
        ready = DataDirectory(path: data.path + "/return.ready")
    }

    /// Whether a whole copy is there.
    var isReady: Bool { access(ready.path, F_OK) == 0 }

    /// What a copy is.
    struct Copy: Hashable, Sendable {
        /// 32 random bytes.
        let name: [UInt8]
        let report: DirectoryMove.Report

        fileprivate var text: String {
            "\(String(decoding: Hex.encode(name), as: UTF8.self)) \(report.entries) \(report.rows)\n"
        }

        fileprivate init?(_ bytes: [UInt8]) {
            let parts = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            guard parts.count == 3 else { return nil }
            let digits = Array(parts[0].utf8)
            guard let name = try? Hex.decode(digits.span), let entries = UInt64(parts[1]), let rows = Int(parts[2])
            else { return nil }
            self.init(name: name, report: DirectoryMove.Report(entries: entries, rows: rows))
        }

        init(name: [UInt8], report: DirectoryMove.Report) {
            self.name = name
            self.report = report
        }
    }

    /// The whole copy that is there.
    ///
    /// - Throws: ``FileFailure``.
    func copy() throws(FileFailure) -> Copy {
        let path = ready.path + "/copy"
        guard let copy = Copy(try PrivateFile.read(path)) else { throw FileFailure(path, code: EINVAL) }
        return copy
    }

    /// Makes an empty draft; what an interrupted move has left goes.
    ///
    /// - Throws: ``FileFailure``.
    func begin() throws(FileFailure) {
        try remove(draft)
        try remove(ready)
        try PrivateFile.makeFolder(draft.path)
        for path in [draft.records, draft.log, draft.notes, draft.path + "/cards"] { try PrivateFile.makeFolder(path) }
    }

    /// Calls the draft whole, durably.
    ///
    /// - Throws: ``FileFailure``.
    func finish(_ copy: Copy) throws(FileFailure) {
        try PrivateFile.write(Array(copy.text.utf8), to: draft.path + "/copy")
        try BackupFiles.synchronizeFolders(draft.path)
        try move(draft.path, to: ready.path)
    }

    /// Puts the files at their places, the log as the last: from then on the directory is one of one machine. It can be repeated.
    ///
    /// A server that is started meanwhile opens either the engines or nothing.
    ///
    /// - Throws: ``FileFailure``, with `EEXIST` where something else is at such a place.
    func activate() throws(FileFailure) {
        let names = ["notes/notes.sqlite", "recovery.sqlite", "cards/tokens.sqlite"]
        for name in names { try place("\(ready.path)/\(name)", at: "\(data.path)/\(name)") }
        if access(data.engines, F_OK) == 0 { try move(data.engines, to: data.engines + ".moved") }
        try place(ready.records, at: data.records)
        // Under this name it is taken for a whole copy no more.
        try move(ready.path, to: draft.path)
        try remove(draft)
    }

    /// The paths at which nothing may be before.
    var places: [String] {
        [data.records, data.notesDatabase, data.recovery, data.path + "/cards/tokens.sqlite"]
    }

    private func place(_ path: String, at target: String) throws(FileFailure) {
        guard access(path, F_OK) == 0 else { return }
        guard access(target, F_OK) != 0 else { throw FileFailure(target, code: EEXIST) }
        let folder = String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)])
        if access(folder, F_OK) != 0 { try PrivateFile.makeFolder(folder) }
        try move(path, to: target)
    }

    private func move(_ path: String, to target: String) throws(FileFailure) {
        guard rename(path, target) == 0 else { throw FileFailure(target) }
        for folder in [path, target] {
            try PrivateFile.synchronize(folder: String(folder[...(folder.lastIndex(of: "/") ?? folder.startIndex)]))
        }
    }

    private func remove(_ place: DataDirectory) throws(FileFailure) {
        guard access(place.path, F_OK) == 0 else { return }
        do { try FileManager.default.removeItem(atPath: place.path) } catch {
            throw FileFailure(place.path, code: EIO)
        }
    }
}
