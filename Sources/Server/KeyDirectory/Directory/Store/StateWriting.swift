// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import SQLStores
import SignetAPI
import TransparencyLog
import VRF

extension DirectoryDatabase {
    /// Writes a new account with its first state, in one transaction.
    ///
    /// - Throws: `notInvited`, `handleTaken`, `keyInUse`.
    func insertAccount(
        _ statement: Statement, _ row: StateRow, label: VRFHash, proof: VRFProof, admitting admission: RegistrationRight
    ) async throws(DirectoryError) -> AccountRow {
        let account = try await accept(statement) { database in
            let invitation = try admission.claim(statement.state.handle, at: statement.time, in: database)
            let account = try AccountRow.insert(statement.state.handle, label: label, proof: proof, in: database)
            try insert(statement, row, of: account, in: database)
            try invitation?.record(account.id, in: database)
            try AuditEvent.registered.record(account.id, at: statement.time, in: database)
            return account
        }
        guard let account else { throw .database }
        return account
    }

    /// Writes the first state of another holder of a released handle, and removes what is left of the former one, in one
    /// transaction.
    ///
    /// - Throws: `notInvited`; `handleTaken`: the handle is not released; `versionConflict`: the newest state is not the one
    ///   before; `keyInUse`.
    func replaceAccount(
        _ former: AccountRow, with statement: Statement, _ row: StateRow, admitting admission: RegistrationRight
    ) async throws(DirectoryError) -> AccountRow {
        let account = try await accept(statement) { database in
            guard try AccountRow.find(id: former.id, in: database)?.releasedAt != nil else {
                throw DirectoryError.refused(.handleTaken)
            }
            guard try StateRow.newest(of: former.id, in: database)?.version == row.version - 1 else {
                throw DirectoryError.refused(.versionConflict)
            }
            let invitation = try admission.redeem(former.handle, at: statement.time, in: database)
            let account = try former.replaced(after: row.version - 1, in: database)
            try insert(statement, row, of: account, in: database)
            try invitation?.record(account.id, in: database)
            try AuditEvent.registered.record(account.id, at: statement.time, in: database)
            return account
        }
        guard let account else { throw .database }
        return account
    }

    /// Writes the next state of an account, in one transaction: compare-and-set on its version.
    ///
    /// - Throws: `versionConflict`: the newest state is not the one before; `keyInUse`.
    func insertState(_ statement: Statement, _ row: StateRow, of account: AccountRow) async throws(DirectoryError) {
        _ = try await accept(statement) { database in
            let newest = try StateRow.newest(of: account.id, in: database)?.version
            guard newest == row.version - 1 else { throw DirectoryError.refused(.versionConflict) }
            try insert(statement, row, of: account, in: database)
            try AuditEvent.updated.record(account.id, at: statement.time, in: database)
            return nil
        }
    }

    /// Runs one transaction, together with those of other requests where several processes write.
    private func accept(
        _ statement: Statement, _ body: @escaping @Sendable (SQLTransaction) throws -> AccountRow?
    ) async throws(DirectoryError) -> AccountRow? {
        guard let acceptance else { return try await write(body) }
        return try await acceptance.accept(.change(byteCount: statement.submission.encoded.count, body))
    }

    /// - Parameter isLogged: whether the log has the state's record already, so that nobody need log it.
    func insert(
        _ statement: Statement, _ row: StateRow, of account: AccountRow, isLogged: Bool = false,
        in database: SQLTransaction
    ) throws {
        try DeviceRow.replace(of: account.id, with: statement.state, label: account.label, in: database)
        let state = try database.insert(
            """
            INSERT INTO states (account, \(StateRow.columns), statement, cards, time)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                account.id, Int64(clamping: row.version), Int(row.kind.rawValue), row.encoding,
                row.opening, row.leaf.bytes, statement.signature.headerValue,
                statement.cards, Int64(clamping: statement.time),
            ])
        if handsOver && !isLogged { try WaitingRows.insert(state: state, in: database) }
    }
}

extension AccountRow {
    /// Removes what is left of the account, and makes one for the next holder of its handle.
    ///
    /// - Parameter version: of the former holder's last state.
    func replaced(after version: UInt64, in database: SQLTransaction) throws -> AccountRow {
        try database.run("DELETE FROM accounts WHERE id = ?", [id])
        try database.run(
            """
            INSERT INTO taken_over (label, version) VALUES (?, ?)
            ON CONFLICT (label) DO UPDATE SET version = excluded.version
            """,
            [LabelIndex(label).bytes, Int64(clamping: version)])
        return try AccountRow.insert(handle, label: label, proof: vrfProof, in: database)
    }
}
