// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import LogEngine

/// Where the log and the database of accounts have to be while a directory of one machine is open.
///
/// What is accepted while one of them is removed or replaced would be gone with the process, so nothing is: the answer is that the server is
/// unavailable, and clients ask again. What was acknowledged before is whole in the files that the process has open. So it is where what
/// SQLite keeps beside the database is another file or gone: the process moves it into the database when it closes that, and not if it is killed.
struct RecordPlaces: Sendable {
    private let log: DurableLog
    /// Nil where the accounts are in no file of this machine.
    private let database: DatabasePlace?

    /// Those of an open directory.
    ///
    /// - Parameter hasFile: whether the accounts are in a file of the folder.
    init(_ log: DurableLog, _ paths: DirectoryPaths, hasFile: Bool) {
        self.log = log
        database = hasFile ? DatabasePlace(of: "directory.sqlite", in: paths.root) : nil
    }

    /// Whether what is accepted now is there after the process has ended.
    var areKept: Bool { log.isKept && isDatabaseKept }

    /// The files that are not in their places, as paths in the folder of the records.
    var displaced: DisplacedFiles {
        let found = log.displaced
        var displaced = DisplacedFiles()
        displaced.open = (database?.displaced ?? []) + found.open.map { "log/" + $0 }
        displaced.read = found.read.map { "log/" + $0 }
        return displaced
    }

    /// The same of the database alone: the log looks after its own files.
    var isDatabaseKept: Bool { database?.displaced.isEmpty ?? true }
}
