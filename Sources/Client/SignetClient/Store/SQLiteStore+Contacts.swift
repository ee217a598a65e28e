// SPDX-License-Identifier: Apache-2.0

import GRDB
public import KeyTransparency

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    /// Everyone whose identity key the user compared, in order of handle.
    ///
    /// - Throws: ``StoreError``.
    public func comparisons() async throws(StoreError) -> [Comparison] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM comparison ORDER BY handle").map(Self.comparison)
        }
    }

    /// Stores a comparison in place of an earlier one with the same person.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ comparison: Comparison) async throws(StoreError) {
        try await write { try Self.keep(comparison, in: $0) }
    }

    /// Stores a meeting in place of an earlier one with the same person, in one step.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ meeting: KeptMeeting) async throws(StoreError) {
        let handle = Data(meeting.comparison.handle.bytes)
        try await write { db in
            try Self.keep(meeting.comparison, in: db)
            try db.execute(
                sql: "INSERT OR IGNORE INTO person VALUES (?, ?)",
                arguments: [handle, Int64(bitPattern: meeting.comparison.time)])
            try db.execute(
                sql: "INSERT OR REPLACE INTO meeting VALUES (?, ?)", arguments: [handle, Data(meeting.record)])
        }
    }

    /// The sealed record of the last meeting with a person; nil if there is none.
    ///
    /// - Throws: ``StoreError``.
    public func meetingRecord(of handle: Handle) async throws(StoreError) -> [UInt8]? {
        try await read { db in
            try Row.fetchOne(
                db, sql: "SELECT record FROM meeting WHERE handle = ?", arguments: [Data(handle.bytes)]
            ).map { row in try row.bytes("record") }
        }
    }

    private static func keep(_ comparison: Comparison, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO comparison VALUES (?, ?, ?, ?, ?)",
            arguments: [
                Data(comparison.handle.bytes), Data(comparison.identityKey), Int64(comparison.kind.rawValue),
                Int64(bitPattern: comparison.time), comparison.metOn.map { Int64(bitPattern: $0) },
            ])
    }

    /// The forks of logs that checkpoints from contacts showed, oldest first.
    ///
    /// - Throws: ``StoreError``.
    public func metForks() async throws(StoreError) -> [ForkEvidence] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT evidence FROM met_fork ORDER BY number").map { row in
                guard case .fork(let fork)? = try? Evidence(decoding: row.bytes("evidence")) else {
                    throw StoreError.damaged
                }
                return fork
            }
        }
    }

    /// Stores a fork permanently; the same evidence is stored once.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ fork: ForkEvidence, at now: UInt64) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO met_fork (kept_at, evidence) VALUES (?, ?)",
                arguments: [Int64(bitPattern: now), Data(Evidence.fork(fork).encoded)])
        }
    }

    /// The friends whose signed request or agreement was compared.
    ///
    /// - Throws: ``StoreError``.
    public func metFriends() async throws(StoreError) -> Set<Handle> {
        try await read { db in
            Set(
                try Row.fetchAll(db, sql: "SELECT handle FROM met_friend").map { row in
                    try Handle(canonical: row.bytes("handle"))
                })
        }
    }

    /// Records that the request or agreement of this friend was compared.
    ///
    /// - Throws: ``StoreError``.
    public func rememberMet(_ handle: Handle) async throws(StoreError) {
        try await write { db in
            try db.execute(sql: "INSERT OR IGNORE INTO met_friend VALUES (?)", arguments: [Data(handle.bytes)])
        }
    }

    /// The card with which this device asked to be added to its account, until the account is confirmed.
    ///
    /// - Throws: ``StoreError``.
    public func pendingLink() async throws(StoreError) -> [UInt8]? {
        try await read { db in
            try Row.fetchOne(db, sql: "SELECT card FROM pending_link").map { row in try row.bytes("card") }
        }
    }

    /// Stores that card, or removes it.
    ///
    /// - Throws: ``StoreError``.
    public func setPendingLink(_ card: [UInt8]?) async throws(StoreError) {
        try await write { db in
            try db.execute(sql: "DELETE FROM pending_link")
            guard let card else { return }
            try db.execute(sql: "INSERT INTO pending_link VALUES (1, ?)", arguments: [Data(card)])
        }
    }

    private static func comparison(_ row: Row) throws -> Comparison {
        guard let number = UInt8(exactly: try row.number("kind")), let kind = Comparison.Kind(rawValue: number) else {
            throw StoreError.damaged
        }
        return Comparison(
            handle: try Handle(canonical: row.bytes("handle")),
            identityKey: try row.bytes("identity_key", count: 33), kind: kind, time: try row.number("compared_at"),
            metOn: try row.isNull("met_on") ? nil : row.number("met_on"))
    }
}
