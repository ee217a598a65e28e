// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
public import RelyingParty

/// A site's members in one SQLite file. Every change is on the disk when it is answered.
public struct SiteDatabase: SiteStore {
    private let queue: DurableQueue

    /// Opens the file, or makes it.
    ///
    /// - Throws: `SiteStoreError`; damaged: it is none of ours, or a newer program has changed its form.
    public init(path: String) throws(SiteStoreError) {
        do { queue = try DurableDatabase.queue(at: path, Self.migrator) } catch {
            throw error == .fromNewerVersion || error == .damaged ? .damaged : .unavailable
        }
    }

    /// Files of before have the tables and no list of migrations.
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: member, key, challenges") { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS member (account BLOB PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS key (key BLOB PRIMARY KEY, account BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE IF NOT EXISTS challenges (
                        one INTEGER PRIMARY KEY CHECK (one = 1), memory BLOB NOT NULL);
                    """)
        }
        migrator.registerMigration("2: what members have shown") { database in
            try database.execute(
                sql: """
                    CREATE TABLE shown (
                        account BLOB NOT NULL, question TEXT NOT NULL, until INTEGER NOT NULL,
                        PRIMARY KEY (account, question)) WITHOUT ROWID;
                    """)
        }
        return migrator
    }

    /// Keeps that a member has proved something with a card, until a time in seconds since 1970. Of the card nothing is kept.
    func keep(_ question: String, shownBy account: [UInt8], until: UInt64) async throws(SiteStoreError) {
        do {
            try await queue.write { database in
                try database.execute(
                    sql: "INSERT OR REPLACE INTO shown VALUES (?, ?, ?)",
                    arguments: [Data(account), question, Int64(clamping: until)])
            }
        } catch { throw .unavailable }
    }

    /// Whether a member has proved something, and it still counts.
    func hasShown(_ question: String, account: [UInt8], at now: UInt64) async throws(SiteStoreError) -> Bool {
        do {
            return try await queue.read { database in
                try Bool.fetchOne(
                    database, sql: "SELECT 1 FROM shown WHERE account = ? AND question = ? AND until > ?",
                    arguments: [Data(account), question, Int64(clamping: now)]) ?? false
            }
        } catch { throw .unavailable }
    }

    /// The member who has this key.
    public func member(withKey key: [UInt8]) async throws(SiteStoreError) -> SiteMember? {
        let sql = "SELECT record FROM key JOIN member USING (account) WHERE key = ?"
        let record: [UInt8]?
        do {
            record = try await queue.read { try Self.bytes($0, sql, key) }
        } catch { throw .unavailable }
        guard let record else { return nil }
        do { return try SiteMember(decoding: record) } catch { throw .damaged }
    }

    /// Puts a member in, or in another's place.
    public func put(
        _ member: SiteMember, replacing expected: SiteMember?
    ) async throws(SiteStoreError) -> Bool {
        do {
            return try await queue.write { database in
                let sql = "SELECT record FROM member WHERE account = ?"
                guard try Self.bytes(database, sql, member.account) == expected?.encoded else { return false }
                try database.execute(sql: "DELETE FROM key WHERE account = ?", arguments: [Data(member.account)])
                for key in member.keys {
                    let taken = try Self.bytes(database, "SELECT account FROM key WHERE key = ?", key)
                    guard taken == nil else { throw TakenKey() }
                    try database.execute(
                        sql: "INSERT INTO key VALUES (?, ?)", arguments: [Data(key), Data(member.account)])
                }
                try database.execute(
                    sql: "INSERT OR REPLACE INTO member VALUES (?, ?)",
                    arguments: [Data(member.account), Data(member.encoded)])
                return true
            }
        } catch is TakenKey { return false } catch { throw .unavailable }
    }

    /// Keeps the challenges of a site that stops, for its next start.
    ///
    /// - Throws: `SiteStoreError/unavailable`: those given out will be stale.
    func keep(challenges memory: [UInt8]) async throws(SiteStoreError) {
        do {
            try await queue.write { database in
                try database.execute(sql: "INSERT OR REPLACE INTO challenges VALUES (1, ?)", arguments: [Data(memory)])
            }
        } catch { throw .unavailable }
    }

    /// Gives the challenges of the last stop, once: after a crash there are none, and what was given out is stale.
    func takeChallenges() throws(SiteStoreError) -> [UInt8]? {
        do {
            return try queue.write { database in
                let memory = try Data.fetchOne(database, sql: "SELECT memory FROM challenges").map { Array($0) }
                try database.execute(sql: "DELETE FROM challenges")
                return memory
            }
        } catch { throw .unavailable }
    }

    private static func bytes(_ database: Database, _ sql: String, _ argument: [UInt8]) throws -> [UInt8]? {
        try Data.fetchOne(database, sql: sql, arguments: [Data(argument)]).map { Array($0) }
    }
}

/// Another member has the key: the transaction is undone.
private struct TakenKey: Error {}
