// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import Foundation
import GRDB
import KeyTransparency
import LogEngine
import SignetAPI
import TransparencyLog
import VRF

extension Directory {
    /// Gives every account to the directory that goes on where this one ended: it logs them when it is first opened.
    ///
    /// Only states that this log has are taken over, and of each account the latest. What was erased stays erased, and
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
            try successor.pool.write { new in
                try Inheritance(old: old, new: new, vrf: vrf) { log.index(ofLeaf: $0) != nil }.copy()
            }
        }
        try await handOverPast(to: successor, paths, ending: link)
        do { try SuccessionFile(path: paths.succession).write(chain) } catch { throw .database }
    }
}

/// The rows of one directory, on their way to the next.
private struct Inheritance {
    let old: Database
    let new: Database
    /// The new directory's key.
    let vrf: VRFPrivateKey
    /// Whether the old log has a record with this leaf hash.
    let isLogged: (TreeHash) -> Bool

    func copy() throws {
        try new.run("DELETE FROM accounts", [])
        let accounts = try Row.fetchCursor(
            old, sql: "SELECT id, handle FROM accounts WHERE released IS NULL ORDER BY id")
        while let row = try accounts.next() {
            try copyAccount(row.integer(0), Handle(canonical: row.bytes(1)))
        }
        let friends = try Row.fetchCursor(
            old, sql: "SELECT requester, invitee, accepted, asked, agreed, network, asked_at FROM friends")
        while let row = try friends.next() {
            try new.run(
                """
                INSERT INTO friends (requester, invitee, accepted, asked, agreed, network, asked_at)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE 2 = (SELECT COUNT(*) FROM accounts WHERE id IN (?1, ?2))
                """,
                [
                    row.integer(0), row.integer(1), row.integer(2), row[3] as Data?, row[4] as Data?,
                    row[5] as Data, row.integer(6),
                ])
        }
    }

    private func copyAccount(_ account: Int64, _ handle: Handle) throws {
        guard let state = try StateRow.newest(of: account, in: old, where: isLogged) else { return }
        let (label, proof) = try vrf.prove(handle.vrfInput)
        try new.run(
            "INSERT INTO accounts (id, handle, vrf_hash, vrf_proof, label) VALUES (?, ?, ?, ?, ?)",
            [account, Data(handle.bytes), Data(label.bytes), Data(proof.bytes), Data(LabelIndex(label).bytes)])
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
                account, version, Int(state.kind.rawValue), Data(state.encoding), Data(state.opening),
                Data(TreeHash.leaf(record.entry).bytes), Data(evidence.bytes(0)), Data(evidence.bytes(1)),
                evidence.integer(2),
            ])
    }

    /// Devices that were revoked go along: their numbers are never given again.
    private func copyDevices(of account: Int64, at version: Int64, under label: VRFHash) throws {
        let rows = try old.rows(
            """
            SELECT number, signing_key, key_hash, added, IIF(revoked > ?2, NULL, revoked) FROM devices
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
                    account, row.integer(0), Data(row.bytes(1)), Data(row.bytes(2)),
                    Data(TreeHash.leaf(leaf.entry).bytes), row.integer(3), row[4] as Int64?,
                ])
        }
    }
}
