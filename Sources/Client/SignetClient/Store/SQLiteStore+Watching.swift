// SPDX-License-Identifier: Apache-2.0

import GRDB
public import KeyTransparency
public import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    /// When the last check of the user's own account and of shown keys ended without an alarm.
    ///
    /// - Throws: ``StoreError``.
    public func lastCheck() async throws(StoreError) -> UInt64? {
        try await read { db in
            try Row.fetchOne(db, sql: "SELECT ended_at FROM last_check").map { row in try row.number("ended_at") }
        }
    }

    /// Stores that time.
    ///
    /// - Throws: ``StoreError``.
    public func setLastCheck(_ time: UInt64) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO last_check VALUES (1, ?)", arguments: [Int64(bitPattern: time)])
        }
    }

    /// The keys that a log showed and that have not been looked for again, those of the oldest epoch first.
    ///
    /// - Throws: ``StoreError``.
    public func shownKeys(in origin: KeyName) async throws(StoreError) -> [ShownKeys] {
        try await read { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM shown_keys WHERE origin = ? ORDER BY epoch_index, handle",
                arguments: [Data(origin.bytes)]
            ).map(Self.shown)
        }
    }

    /// Stores shown keys, once for each history and day.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ shown: ShownKeys, in origin: KeyName) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO shown_keys VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    Data(origin.bytes), Data(shown.handle.bytes), Data(StoreRow.encode(shown.history)),
                    Int64(bitPattern: shown.epoch.day), Int64(bitPattern: shown.epoch.index),
                    Int64(bitPattern: shown.shownAt), Data(shown.response),
                ])
        }
    }

    /// Removes shown keys: they were found again, or the user has settled the matter.
    ///
    /// - Throws: ``StoreError``.
    public func settle(_ shown: ShownKeys, in origin: KeyName) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "DELETE FROM shown_keys WHERE origin = ? AND handle = ? AND history = ? AND epoch_day = ?",
                arguments: [
                    Data(origin.bytes), Data(shown.handle.bytes), Data(StoreRow.encode(shown.history)),
                    Int64(bitPattern: shown.epoch.day),
                ])
        }
    }

    /// The last time that a person was seen without a recovery under way.
    ///
    /// - Throws: ``StoreError``.
    public func lastLook(at handle: Handle) async throws(StoreError) -> PeerLook? {
        try await read { db in
            try Row.fetchOne(
                db, sql: "SELECT epoch_time, seen_at FROM peer_look WHERE handle = ?",
                arguments: [Data(handle.bytes)]
            ).map { row in
                let seenAt = row["seen_at"] as Int64?
                return PeerLook(
                    handle: handle, epochTime: try row.number("epoch_time"),
                    seenAt: seenAt.map(UInt64.init(bitPattern:)))
            }
        }
    }

    /// Stores the look in place of the previous one.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ look: PeerLook) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO peer_look VALUES (?, ?, ?)",
                arguments: [
                    Data(look.handle.bytes), Int64(bitPattern: look.epochTime),
                    look.seenAt.map(Int64.init(bitPattern:)),
                ])
        }
    }

    /// The X-Wing keys of a person's devices, by the hash under which their state lists them.
    ///
    /// - Throws: ``StoreError``.
    public func deviceKeys(of handle: Handle) async throws(StoreError) -> [[UInt8]: [UInt8]] {
        try await read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT keys_hash, kem FROM device_key WHERE handle = ?", arguments: [Data(handle.bytes)])
            var keys: [[UInt8]: [UInt8]] = [:]
            for row in rows { keys[try row.bytes("keys_hash")] = try row.bytes("kem") }
            return keys
        }
    }

    /// Stores these keys in place of the previous ones.
    ///
    /// - Throws: ``StoreError``.
    public func keep(deviceKeys keys: [[UInt8]: [UInt8]], of handle: Handle) async throws(StoreError) {
        try await write { db in
            try db.execute(sql: "DELETE FROM device_key WHERE handle = ?", arguments: [Data(handle.bytes)])
            for (hash, key) in keys {
                try db.execute(
                    sql: "INSERT INTO device_key VALUES (?, ?, ?)",
                    arguments: [Data(handle.bytes), Data(hash), Data(key)])
            }
        }
    }

    private static func shown(_ row: Row) throws -> ShownKeys {
        ShownKeys(
            handle: try Handle(canonical: row.bytes("handle")), history: try StoreRow.history(row.bytes("history")),
            epoch: MilestoneMark(index: try row.number("epoch_index"), day: try row.number("epoch_day")),
            shownAt: try row.number("shown_at"), response: try row.bytes("response"))
    }
}
