// SPDX-License-Identifier: Apache-2.0

package import DurableStorage
import SQLStores

/// Whether a server has listed the databases and keys beside the records: if it has, a directory without that list has lost it, and is not one
/// of a version that made none.
///
/// The mark is `user_version` of the SQLite file with the accounts, where no step of the schema uses it: earlier programs open the file as ever,
/// and every copy of the file has the mark.
extension Directory {
    /// Whether the list was written once.
    ///
    /// - Throws: ``DirectoryOpenError``.
    package func hasListOfParts() throws(DirectoryOpenError) -> Bool {
        try opening { try database.rows.readNow(Self.isMarked) }
    }

    /// The same in the records at a path, which no server opens meanwhile.
    ///
    /// - Throws: `DurableOpenError`.
    package static func hasListOfParts(at path: String) throws(DurableOpenError) -> Bool {
        try SQLiteDatabase.read(DirectoryPaths(root: path).database, isMarked)
    }

    /// Takes down, durably, that the list was written; it is durable itself.
    ///
    /// - Throws: ``DirectoryOpenError``.
    package func noteListOfParts() throws(DirectoryOpenError) {
        guard try !hasListOfParts() else { return }
        _ = try opening { try database.rows.writeNow { try $0.run("PRAGMA user_version = 1") } }
    }

    private static func isMarked(_ transaction: SQLTransaction) throws -> Bool {
        try transaction.row("PRAGMA user_version")?.integer(0) != 0
    }
}
