// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SQLStores
import SignetAPI
import TransparencyLog
import VRF

/// A label of which the log has records that the database does not know.
struct LostLabel: Hashable, Sendable {
    let label: LabelIndex
    /// The version of the first such record.
    let first: UInt64
    /// The version of the last one.
    var last: UInt64
    /// Whether the last one closes the account.
    var isClosed: Bool
}

/// The table `lost`.
enum LostStates {
    /// Writes down that the states of a label are lost, so that nothing older is taken for its newest.
    ///
    /// What front ends have accepted for the label from a database that knew no better, and no log ever had, is taken out again. An account
    /// that the log has closed is erased again.
    static func note(_ lost: LostLabel, in database: SQLTransaction) throws {
        let label = lost.label.bytes
        let account = try database.row("SELECT id FROM accounts WHERE label = ?", [label])?.integer(0)
        if lost.isClosed {
            try database.run("DELETE FROM accounts WHERE label = ?", [label])
            try database.run(
                "INSERT INTO erased (label, version) VALUES (?, ?) ON CONFLICT (label) DO NOTHING",
                [label, Int64(clamping: lost.last)])
            return
        }
        if let account { try takeBack(account, from: Int64(clamping: lost.first), in: database) }
        try database.run(
            "INSERT INTO lost (label, version) VALUES (?, ?) ON CONFLICT (label) DO UPDATE SET version = excluded.version",
            [label, Int64(clamping: lost.last)])
    }

    private static func takeBack(_ account: Int64, from version: Int64, in database: SQLTransaction) throws {
        guard version > 1 else {
            try database.run("DELETE FROM accounts WHERE id = ?", [account])
            return
        }
        try database.run("DELETE FROM states WHERE account = ? AND version >= ?", [account, version])
        try database.run("DELETE FROM devices WHERE account = ? AND added >= ?", [account, version])
        try database.run(
            "UPDATE devices SET revoked = NULL WHERE account = ? AND revoked >= ?", [account, version])
    }
}

extension DirectoryDatabase {
    /// Whether a label's history is over.
    func isErased(_ label: VRFHash) async throws(DirectoryError) -> Bool {
        try await read { try $0.row("SELECT 1 FROM erased WHERE label = ?", [LabelIndex(label).bytes]) != nil }
    }

    /// Writes a state whose record the log has already, in one transaction.
    ///
    /// - Parameters:
    ///   - known: the account, which ends if the log calls the state a reset; nil: its first state is lost, too.
    ///   - label: of the handle, with the proof of it.
    /// - Throws: `versionConflict`: the newest state is not the one before; `keyInUse`.
    func restore(
        _ statement: Statement, _ row: StateRow, of known: AccountRow?, _ label: (hash: VRFHash, proof: VRFProof)
    ) async throws(DirectoryError) {
        try await write { database in
            if let known {
                guard try StateRow.newest(of: known.id, in: database)?.version == row.version - 1 else {
                    throw DirectoryError.refused(.versionConflict)
                }
            }
            let account =
                switch (known, row.kind) {
                case (let known?, .reset): try known.replaced(after: row.version - 1, in: database)
                case (let known?, _): known
                case (nil, _):
                    try AccountRow.insert(statement.state.handle, label: label.hash, proof: label.proof, in: database)
                }
            try insert(statement, row, of: account, isLogged: true, in: database)
            try database.run(
                "DELETE FROM lost WHERE label = ? AND version <= ?",
                [LabelIndex(label.hash).bytes, Int64(clamping: row.version)])
            try AuditEvent.updated.record(account.id, at: statement.time, in: database)
        }
    }
}
