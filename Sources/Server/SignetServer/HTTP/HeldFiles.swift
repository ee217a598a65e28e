// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Platform

/// The files of a data directory, beside log and accounts, that have to be there while a server runs. The directory looks after those two.
struct HeldFiles: Sendable {
    /// Databases that a server has open from its start to its end. If somebody removes or replaces a file of one of them, the server writes on
    /// to a file without a name.
    private static let open = ["notes/notes.sqlite", "recovery.sqlite", "signals.sqlite", "cards/tokens.sqlite"]
    /// Those that a server has read, and that its next start needs. Commands that change keys replace them.
    private static let read = [
        "directory.signet", "keys/log.key", "keys/clock.key", "keys/vrf.key", "notes/login.key",
        "records/parts",
    ]

    private let folder: String
    private let opened: [DatabasePlace]
    private let needed: [String]

    /// Those that are there now.
    init(of data: DataDirectory) {
        folder = data.path
        opened = Self.open.map { DatabasePlace(of: $0, in: data.path) }
        needed = Self.read.filter { FileStatus(of: "\(data.path)/\($0)") != nil }
    }

    /// The names of those that the server has open and that are others now, or gone.
    var lost: [String] { opened.flatMap(\.displaced).sorted() }

    /// The names of those that the next start needs and that are gone.
    var missing: [String] { needed.filter { FileStatus(of: "\(folder)/\($0)") == nil } }
}
