// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import TransparencyLog
import VRF

extension Directory {
    /// Gives every account to the directory that goes on where this one ended: it logs them when it is first opened.
    ///
    /// Only states that this log has are taken over, and of each account the latest; also whether the operator suspended it, what happened
    /// to it, and invitations. What was erased stays erased, and
    /// its handle can be registered again, because no record of it is left. The same holds for a released handle that nobody
    /// has taken over. A second call replaces what was given, as
    /// long as the successor has not been opened.
    ///
    /// - Parameters:
    ///   - path: the successor's data directory, made by ``create(at:keys:clock:logger:)``.
    ///   - keys: the successor's keys.
    /// - Throws: ``DirectoryError``; `versionConflict`: this log has not ended, or in favor of another one.
    public func handOver(to path: String, _ keys: DirectoryKeys) async throws(DirectoryError) {
        guard let chain = try succession(), let link = chain.links.last, link.record.kind == .log,
            link.record.vrfKey == keys.vrf.publicKey, link.record.policy.logs.contains(keys.log.verifierKey)
        else { throw .refused(.versionConflict) }
        let paths = DirectoryPaths(root: path)
        let successor: DirectoryDatabase
        do { successor = try DirectoryDatabase(at: paths.database, logger: logger) } catch { throw .database }
        defer { successor.close() }
        let (log, vrf) = (log, keys.vrf)
        try await database.read { old in
            try successor.rows.writeNow { new in
                try Inheritance(old: old, new: new, vrf: vrf) { log.index(ofLeaf: $0) != nil }.copy()
            }
        }
        try await handOverPast(to: successor, paths, ending: link)
        do { try SuccessionFile(path: paths.succession).write(chain) } catch { throw .database }
    }
}

/// The rows of one directory, on their way to the next.
private struct Inheritance {
    let old: SQLTransaction
    let new: SQLTransaction
    /// The new directory's key.
    let vrf: VRFPrivateKey
    /// Whether the old log has a record with this leaf hash.
    let isLogged: (TreeHash) -> Bool

    /// This many accounts are read at once.
    private static let pageCount = 256

    func copy() throws {
        for table in ["accounts", "audit", "invitations"] { try new.run("DELETE FROM \(table)") }
        var last = Int64.min
        while true {
            let accounts = try old.rows(
                "SELECT id, handle, suspended FROM accounts WHERE released IS NULL AND id > ? ORDER BY id LIMIT \(Self.pageCount)",
                [last])
            for row in accounts {
                try copyAccount(row.integer(0), Handle(canonical: row.bytes(1)), suspended: row.optionalInteger(2))
            }
            guard let end = accounts.last else { break }
            last = try end.integer(0)
        }
        try old.each("SELECT requester, invitee, accepted, asked, agreed, network, asked_at FROM friends", []) { row in
            try copyFriends(row)
            return true
        }
        try old.each(
            """
            SELECT time, event, account, \(AuditDetail.columns) FROM audit
            WHERE account IN (SELECT id FROM accounts WHERE released IS NULL) ORDER BY id
            """, []
        ) { row in
            try new.run(
                "INSERT INTO audit (time, event, account, \(AuditDetail.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row.values)
            return true
        }
        let columns = "handle, code_hash, until, made, \(Administrator.columns)"
        try old.each("SELECT \(columns) FROM invitations", []) { row in
            try new.run("INSERT INTO invitations (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?)", row.values)
            return true
        }
    }

    /// Copies a friendship, if both accounts were copied.
    private func copyFriends(_ row: SQLRow) throws {
        let pair = try [row.integer(0), row.integer(1)]
        let known = try new.row("SELECT COUNT(*) FROM accounts WHERE id IN (?, ?)", pair)
        guard try known?.integer(0) == 2 else { return }
        try new.run(
            """
            INSERT INTO friends (requester, invitee, accepted, asked, agreed, network, asked_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, row.values)
    }

    private func copyAccount(_ account: Int64, _ handle: Handle, suspended: Int64?) throws {
        guard let state = try StateRow.newest(of: account, in: old, where: isLogged) else { return }
        let (label, proof) = try vrf.prove(handle.vrfInput)
        try new.run(
            "INSERT INTO accounts (id, handle, vrf_hash, vrf_proof, label, suspended) VALUES (?, ?, ?, ?, ?, ?)",
            [account, handle.bytes, label.bytes, proof.bytes, LabelIndex(label).bytes, suspended])
        try copy(state, of: account, under: label)
        try copyDevices(of: account, at: Int64(clamping: state.version), under: label)
        for row in try old.rows("SELECT log, answer FROM former WHERE account = ?", [account]) {
            try FormerRows.insert(row.bytes(1), of: account, log: UInt64(clamping: row.integer(0)), in: new)
        }
    }

    private func copy(_ state: StateRow, of account: Int64, under label: VRFHash) throws {
        let version = Int64(clamping: state.version)
        let evidence = try old.row(
            "SELECT statement, cards, time FROM states WHERE account = ? AND version = ?", [account, version])
        guard let evidence else { throw DamagedRow() }
        let record = LogEntries.record(
            label: label, state: try state.state(), kind: state.kind, opening: state.opening)
        try new.run(
            """
            INSERT INTO states (account, \(StateRow.columns), statement, cards, time)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                account, version, Int(state.kind.rawValue), state.encoding, state.opening,
                TreeHash.leaf(record.entry).bytes, evidence.bytes(0), evidence.bytes(1),
                evidence.integer(2),
            ])
    }

    /// Devices that were revoked go along: their numbers are never given again.
    private func copyDevices(of account: Int64, at version: Int64, under label: VRFHash) throws {
        let rows = try old.rows(
            """
            SELECT number, signing_key, key_hash, added, CASE WHEN revoked <= ?2 THEN revoked END FROM devices
            WHERE account = ?1 AND added <= ?2
            """, [account, version])
        for row in rows {
            guard let leaf = DeviceLeaf(label: label, publicKey: try row.bytes(1)) else { throw DamagedRow() }
            try new.run(
                """
                INSERT INTO devices (account, number, signing_key, key_hash, leaf, added, revoked)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    account, row.integer(0), row.bytes(1), row.bytes(2),
                    TreeHash.leaf(leaf.entry).bytes, row.integer(3), row.optionalInteger(4),
                ])
        }
    }
}
