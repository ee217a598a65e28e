// SPDX-License-Identifier: Apache-2.0

import Platform

/// The files of a data directory that a server has open from its start to its end. If somebody removes or replaces one of them, the server
/// writes on to a file without a name.
struct HeldFiles: Sendable {
    private static let names = [
        "records/directory.sqlite", "records/log/checkpoint.lock", "notes/notes.sqlite", "recovery.sqlite",
        "signals.sqlite",
    ]

    private let folder: String
    private let known: [String: FileStatus.Identity]

    /// Those that are there now.
    init(of data: DataDirectory) {
        folder = data.path
        let found = Self.names.compactMap { name in
            FileStatus(of: "\(data.path)/\(name)").map { (name, $0.identity) }
        }
        known = Dictionary(found) { first, _ in first }
    }

    /// The names of those that are others now, or gone.
    var lost: [String] {
        known.filter { FileStatus(of: "\(folder)/\($0.key)")?.identity != $0.value }.keys.sorted()
    }
}
