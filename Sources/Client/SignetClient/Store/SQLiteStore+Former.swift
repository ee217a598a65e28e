// SPDX-License-Identifier: Apache-2.0

import GRDB
public import KeyTransparency
import SignetAPI
import TransparencyLog
import VRF

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// Ended logs, and what was known of people in them.
extension SQLiteStore {
    /// Stores ended logs, in their order; each is stored once.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ logs: [FormerLog]) async throws(StoreError) {
        try await write { db in
            for log in logs {
                let rule = log.trust.freshness
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO former_log
                        (origin, vrf_key, policy, maximum_age, warning_age, clock_skew, note) VALUES (?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        Data(log.origin.bytes), Data(log.trust.vrfKey.bytes), Data(log.trust.policy.encoded),
                        Int64(bitPattern: rule.maximumAge), Int64(bitPattern: rule.warningAge),
                        Int64(bitPattern: rule.clockSkew), Data(log.end.note.encoded),
                    ])
            }
        }
    }

    /// The ended logs, in their order.
    ///
    /// - Throws: ``StoreError``.
    public func formerLogs() async throws(StoreError) -> [FormerLog] {
        try await read { db in try Row.fetchAll(db, sql: "SELECT * FROM former_log ORDER BY number").map(Self.formerLog)
        }
    }

    private static func formerLog(_ row: Row) throws -> FormerLog {
        let freshness = FreshnessRule(
            maximumAge: try row.number("maximum_age"), warningAge: try row.number("warning_age"),
            clockSkew: try row.number("clock_skew"))
        do {
            let trust = DirectoryTrust(
                policy: try Policy(decoding: row.bytes("policy")), vrfKey: try VRFPublicKey(row.bytes("vrf_key")),
                freshness: freshness)
            return try FormerLog(trust: trust, note: SignedNote(decoding: row.bytes("note")))
        } catch { throw StoreError.damaged }
    }

    /// What was known of a pinned person in an ended log and has not been compared yet; nil if there is nothing.
    ///
    /// - Throws: ``StoreError``.
    public func formerHistory(of handle: Handle) async throws(StoreError) -> FormerHistory? {
        try await read { try Self.formerHistory(of: handle, in: $0) }
    }

    private static func formerHistory(of handle: Handle, in db: Database) throws -> FormerHistory? {
        let row = try Row.fetchOne(
            db, sql: "SELECT former_history.* FROM former_history JOIN pinned_peer USING (handle) WHERE handle = ?",
            arguments: [Data(handle.bytes)])
        return try row.map { row in
            FormerHistory(
                handle: handle, origin: try KeyName(row.bytes("origin")),
                history: try StoreRow.history(row.bytes("history")))
        }
    }

    /// Pins a peer whose former history was compared, and forgets that history, in one transaction.
    ///
    /// - Returns: false if something else is pinned by now; then nothing was changed.
    /// - Throws: ``StoreError``.
    public func settle(
        _ former: FormerHistory, pinning peer: PinnedPeer, replacing expected: PinnedPeer
    ) async throws(StoreError) -> Bool {
        try await write { db in
            guard try Self.formerHistory(of: former.handle, in: db) == former else { return true }
            guard try Self.pinnedPeer(peer.handle, in: db) == expected else { return false }
            try Self.pin(peer, in: db)
            try db.execute(
                sql: "DELETE FROM former_history WHERE handle = ?", arguments: [Data(former.handle.bytes)])
            return true
        }
    }

    /// How far the user's own account was watched in an ended log; nil if that watch is done.
    ///
    /// - Throws: ``StoreError``.
    public func formerWatch() async throws(StoreError) -> FormerWatch? {
        try await read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM former_watch").map { row in
                FormerWatch(
                    origin: try KeyName(row.bytes("origin")), watch: try StoreRow.watch(row.bytes("watch")))
            }
        }
    }

    /// Replaces the user's own record when the former watch has ended, in one transaction.
    ///
    /// - Returns: false if either has changed meanwhile; then nothing was changed.
    /// - Throws: ``StoreError``.
    public func settle(
        _ former: FormerWatch, with record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        try await write { db in
            guard try Self.ownRecord(in: db) == expected else { return false }
            try Self.setOwnRecord(record, in: db)
            try db.execute(
                sql: "DELETE FROM former_watch WHERE origin = ?", arguments: [Data(former.origin.bytes)])
            return true
        }
    }

    /// Puts aside everything that is known of the previously trusted log, until it is compared with the end of that log.
    ///
    /// A view of a log is stored before anything from it is pinned, so without a view every history is of another log. If the
    /// end of a log was not stored, because an earlier version of this program followed its handover, nothing can be compared.
    static func moveToLog(_ origin: [UInt8], in db: Database) throws {
        let seen = try Data.fetchAll(db, sql: "SELECT origin FROM log_view")
        guard !seen.isEmpty, !seen.contains(Data(origin)) else { return }
        let nothing = Data(StoreRow.encode(LabelHead(.empty)))
        let last = try Data.fetchOne(
            db,
            sql:
                "SELECT origin FROM former_log WHERE origin IN (SELECT origin FROM log_view) ORDER BY number DESC LIMIT 1"
        )
        if let last {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO former_history
                    SELECT handle, ?, history FROM pinned_peer WHERE history != ?
                    """, arguments: [last, nothing])
        }
        try db.execute(sql: "UPDATE pinned_peer SET history = ?", arguments: [nothing])
        guard let watch = try ownRecord(in: db).watch else { return }
        if let last, watch.history.size > 0 {
            try db.execute(
                sql: "INSERT OR IGNORE INTO former_watch VALUES (1, ?, ?)",
                arguments: [last, Data(StoreRow.encode(watch))])
        }
        try db.execute(
            sql: "UPDATE own_record SET watch = ?", arguments: [Data(StoreRow.encode(watch.movedToNextLog()))])
    }
}
