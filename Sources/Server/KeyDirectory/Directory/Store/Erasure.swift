// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SQLStores
import SignetAPI
import VRF

extension DirectoryDatabase {
    /// Removes everything personal of an account; in a file of this machine it is overwritten, and the write-ahead file
    /// emptied.
    ///
    /// What stays is public in the log anyway: the label, so that its history cannot begin again. So does the number
    /// that the account had, under which its audit trail is. The overwriting is
    /// SQLite's `secure_delete`; copies that the file system or the disk keep of overwritten blocks are beyond it, and so are
    /// those that a database server keeps.
    ///
    /// - Parameter version: the version of the record that closes the account in the log.
    /// - Throws: `notFound`: the account does not exist, or was erased before; the write-ahead file was emptied all the
    ///   same.
    func erase(
        _ handle: Handle, closing version: UInt64, at time: UInt64, by administrator: Administrator? = nil
    ) async throws(DirectoryError) {
        let wasFound = try await write { database in
            guard let account = try AccountRow.find(handle, in: database) else { return false }
            let label = LabelIndex(account.label).bytes
            try database.run(
                "INSERT INTO erased (label, version, account) VALUES (?, ?, ?)",
                [label, Int64(clamping: version), account.id])
            try database.run("DELETE FROM accounts WHERE id = ?", [account.id])
            if handsOver { try WaitingRows.insert(closing: label, version, in: database) }
            try AuditEvent.erased.record(
                account.id, at: time, AuditDetail(administrator: administrator), in: database)
            return true
        }
        try await expunge()
        guard wasFound else { throw .refused(.notFound) }
    }
}
