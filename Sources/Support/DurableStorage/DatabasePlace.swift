// SPDX-License-Identifier: Apache-2.0

import Platform

/// Where the files of an open database have to be: its own, and the two that SQLite keeps beside it.
///
/// What was committed is in `-wal` alone until SQLite moves it into the file itself, and another process that finds another `-shm` has locks
/// that this one does not see. Neither file is made anew while a connection is open that has read or written.
package struct DatabasePlace: Sendable {
    private let folder: String
    private let files: [(name: String, identity: FileStatus.Identity)]

    /// That of a database that was just opened, so that what SQLite keeps beside it is there.
    ///
    /// - Parameter name: of its own file, as a path in the folder.
    package init(of name: String, in folder: String) {
        self.folder = folder
        files = [name, name + "-wal", name + "-shm"].compactMap { name in
            FileStatus(of: "\(folder)/\(name)").map { (name, $0.identity) }
        }
    }

    /// That of a database that was just opened.
    package init(of path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        self.init(of: String(parts.last ?? ""), in: parts.count == 1 ? "." : folder)
    }

    /// The names of those that were removed, moved away, or replaced by other ones, so that what is written is gone with the process.
    package var displaced: [String] {
        files.filter { FileStatus(of: "\(folder)/\($0.name)")?.identity != $0.identity }.map(\.name)
    }

    /// Whether all of them are in their places.
    package var isKept: Bool { displaced.isEmpty }

    /// Whether another file is in the place of its own: a connection that is opened from now on would read that one.
    var isReplaced: Bool {
        guard let (name, identity) = files.first else { return false }
        return FileStatus(of: "\(folder)/\(name)").map { $0.identity != identity } ?? false
    }
}
