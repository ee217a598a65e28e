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
            try admission.claim(statement.state.handle, at: statement.time, in: database)
            let account = try AccountRow.insert(statement.state.handle, label: label, proof: proof, in: database)
            try insert(statement, row, of: account, in: database)
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
            try admission.redeem(former.handle, at: statement.time, in: database)
            let account = try former.replaced(after: row.version - 1, in: database)
            try insert(statement, row, of: account, in: database)
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

/// What the audit table remembers: that something happened to an account, never to whom.
enum AuditEvent: String, Sendable {
    case registered
    case updated
    case friendRequested = "friend-requested"
    case friendAccepted = "friend-accepted"
    case suspended, resumed
    case quotaSet = "quota-set"
    case quotaRemoved = "quota-removed"
    case released, erased

    /// At most this many lines about friends are kept: endless requests, rejections and acceptances do not fill the
    /// disk. Of the other events each has a state or an operator behind it.
    static let keptOfFriends: Int64 = 1 << 20

    /// Adds a line, in the caller's transaction.
    func record(
        _ account: Int64, at time: UInt64, in database: SQLTransaction, keeping kept: Int64 = Self.keptOfFriends
    ) throws {
        let id = try database.insert(
            "INSERT INTO audit (time, event, account) VALUES (?, ?, ?)", [Int64(clamping: time), rawValue, account])
        try Self.trim(beside: id...id, keeping: kept, in: database)
    }

    /// Adds a line for each of some accounts, in the caller's transaction.
    func record(_ events: [(account: Int64, time: UInt64)], in database: SQLTransaction) throws {
        let rows = try database.insert(
            into: "audit (time, event, account)", events.map { [Int64(clamping: $0.time), rawValue, $0.account] },
            returning: "id")
        let ids = try rows.map { try $0.integer(0) }
        guard let first = ids.min(), let last = ids.max() else { return }
        try Self.trim(beside: first...last, keeping: Self.keptOfFriends, in: database)
    }

    /// A few at once: a server leaves out the numbers of transactions that it ran again.
    private static func trim(beside new: ClosedRange<Int64>, keeping kept: Int64, in database: SQLTransaction) throws {
        try database.run(
            "DELETE FROM audit WHERE id > ? AND id <= ? AND event IN (?, ?)",
            [new.lowerBound - kept - 16, new.upperBound - kept, friendRequested.rawValue, friendAccepted.rawValue])
    }
}
