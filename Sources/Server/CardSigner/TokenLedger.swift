// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
import Foundation
import GRDB
package import KeyTransparency

/// How many tokens each account has had in a month, and which tokens were used; no row of the second says whose it was. Each commit waits for
/// the disk.
public struct TokenLedger: Sendable {
    private let queue: DurableQueue

    /// Opens the file, and makes it when it is not there.
    ///
    /// - Throws: ``TokenLedgerError/opening(_:)``.
    public init(at path: String) throws(TokenLedgerError) {
        do { queue = try DurableDatabase.queue(at: path, Self.migrator) } catch { throw .opening(error) }
    }

    /// Lets go of the file.
    public func close() { try? queue.close() }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: tokens given out, tokens used") { database in
            try database.execute(
                sql: """
                    CREATE TABLE given (             -- how many tokens an account has had
                        account BLOB NOT NULL,       -- handle
                        month INTEGER NOT NULL,      -- since 1970, of 30 days
                        count INTEGER NOT NULL,
                        PRIMARY KEY (account, month)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE used (
                        number BLOB PRIMARY KEY,     -- 32 bytes: of the token
                        digest BLOB NOT NULL,        -- 32 bytes: what was signed for it
                        time INTEGER NOT NULL        -- the minute that the signature says, in seconds since 1970
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        return migrator
    }

    /// Counts tokens that an account gets.
    ///
    /// - Returns: nil if it gets them; otherwise how many are left, and nothing is counted.
    /// - Throws: ``TokenLedgerError/unavailable``.
    func take(
        _ count: UInt64, of account: Handle, within limit: UInt64, at now: UInt64
    ) async throws(TokenLedgerError) -> UInt64? {
        let month = Int64(clamping: now / (30 * 86_400))
        return try await write { database in
            try database.execute(sql: "DELETE FROM given WHERE month < ?", arguments: [month])
            let had = try Int64.fetchOne(
                database, sql: "SELECT count FROM given WHERE account = ? AND month = ?",
                arguments: [Data(account.bytes), month])
            let left = limit - min(limit, UInt64(clamping: had ?? 0))
            guard count <= left else { return left }
            try database.execute(
                sql: """
                    INSERT INTO given VALUES (?, ?, ?)
                    ON CONFLICT (account, month) DO UPDATE SET count = count + excluded.count
                    """, arguments: [Data(account.bytes), month, Int64(clamping: count)])
            return nil
        }
    }

    /// Uses a token.
    ///
    /// - Returns: when it was used first, for this digest; nil if it was used for another.
    /// - Throws: ``TokenLedgerError/unavailable``.
    func spend(_ number: [UInt8], for digest: [UInt8], at minute: UInt64) async throws(TokenLedgerError) -> UInt64? {
        try await write { database in
            try database.execute(
                sql: "INSERT INTO used VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                arguments: [Data(number), Data(digest), Int64(clamping: minute)])
            return try Int64.fetchOne(
                database, sql: "SELECT time FROM used WHERE number = ? AND digest = ?",
                arguments: [Data(number), Data(digest)]
            ).map { UInt64(clamping: $0) }
        }
    }

    /// Forgets how many tokens an account has had.
    ///
    /// - Throws: ``TokenLedgerError/unavailable``.
    package func erase(_ account: Handle) async throws(TokenLedgerError) {
        try await write { try $0.execute(sql: "DELETE FROM given WHERE account = ?", arguments: [Data(account.bytes)]) }
    }

    private func write<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(TokenLedgerError) -> Value {
        do { return try await queue.write(body) } catch { throw .unavailable }
    }
}

/// Why the ledger did not do it: the environment's fault, worth a retry.
public enum TokenLedgerError: Error, Hashable, Sendable {
    /// It was not opened.
    case opening(DurableOpenError)
    /// SQLite could not read, write or wait for the disk.
    case unavailable
}
