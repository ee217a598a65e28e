// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import KeyTransparency
import SignetAPI
import VRF

extension DirectoryDatabase {
    /// Removes everything personal of an account, overwrites it in the database file, and empties the write-ahead file.
    ///
    /// What stays is public in the log anyway: the label, so that its history cannot begin again. The overwriting is
    /// SQLite's `secure_delete`; copies that the file system or the disk keep of overwritten blocks are beyond it.
    ///
    /// - Parameter version: the version of the record that closes the account in the log.
    /// - Throws: `notFound`: the account does not exist, or was erased before; the write-ahead file was emptied all the
    ///   same.
    func erase(_ handle: Handle, closing version: UInt64, at time: UInt64) async throws(DirectoryError) {
        let wasFound = try await write { database in
            guard let account = try AccountRow.find(handle, in: database) else { return false }
            let label = Data(LabelIndex(account.label).bytes)
            try database.run(
                "INSERT INTO erased (label, version) VALUES (?, ?)", [label, Int64(clamping: version)])
            try database.run("DELETE FROM accounts WHERE id = ?", [account.id])
            try AuditEvent.erased.record(account.id, at: time, in: database)
            return true
        }
        try await truncateWriteAheadFile()
        guard wasFound else { throw .refused(.notFound) }
    }
}
