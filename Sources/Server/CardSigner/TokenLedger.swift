// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
package import KeyTransparency
package import SQLStores
import Synchronization

/// How many tokens each account has had in a month, and which tokens were used; no row of the second says whose it was. Each commit waits
/// until it is durable.
public struct TokenLedger: Sendable {
    private let engine: any SQLDatabase
    private let cleared = ClearedMonth()

    /// Opens the file, and makes it when it is not there.
    ///
    /// - Throws: ``TokenLedgerError/opening(_:)``.
    public init(at path: String) throws(TokenLedgerError) {
        do { engine = try SQLiteDatabase(at: path, Self.schema) } catch { throw .opening(error) }
    }

    /// Takes a database that was opened with ``schema``, which several processes may share. It is closed with the ledger.
    package init(on engine: any SQLDatabase) { self.engine = engine }

    /// Lets go of the database.
    public func close() { engine.close() }

    /// The tables of the ledger, for whoever opens a database for it.
    package static let schema = SQLSchema(
        "cards",
        [
            SQLSchema.Step(
                "1: tokens given out, tokens used",
                """
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
        ])

    /// Counts tokens that an account gets.
    ///
    /// - Returns: nil if it gets them; otherwise how many are left, and nothing is counted.
    /// - Throws: ``TokenLedgerError/unavailable``.
    func take(
        _ count: UInt64, of account: Handle, within limit: UInt64, at now: UInt64
    ) async throws(TokenLedgerError) -> UInt64? {
        let month = Int64(clamping: now / (30 * 86_400))
        try await clear(before: month)
        return try await write { database in
            let had = try database.row(
                "SELECT count FROM given WHERE account = ? AND month = ?", [account.bytes, month]
            )?.integer(0)
            let left = limit - min(limit, UInt64(clamping: had ?? 0))
            guard count <= left else { return left }
            try database.run(
                """
                INSERT INTO given (account, month, count) VALUES (?, ?, ?)
                ON CONFLICT (account, month) DO UPDATE SET count = given.count + excluded.count
                """, [account.bytes, month, Int64(clamping: count)])
            return nil
        }
    }

    /// Forgets earlier months, when this process first gives tokens in a month. It reads all rows, so it is a transaction of its own: on a
    /// server, one that reads all rows and one that writes a row beside it cannot both go through.
    private func clear(before month: Int64) async throws(TokenLedgerError) {
        guard cleared.isDue(month) else { return }
        try await write { _ = try $0.run("DELETE FROM given WHERE month < ?", [month]) }
        cleared.finish(month)
    }

    /// Uses a token.
    ///
    /// - Returns: when it was used first, for this digest; nil if it was used for another.
    /// - Throws: ``TokenLedgerError/unavailable``.
    func spend(_ number: [UInt8], for digest: [UInt8], at minute: UInt64) async throws(TokenLedgerError) -> UInt64? {
        try await write { database in
            try database.run(
                "INSERT INTO used (number, digest, time) VALUES (?, ?, ?) ON CONFLICT (number) DO NOTHING",
                [number, digest, Int64(clamping: minute)])
            return try database.row(
                "SELECT time FROM used WHERE number = ? AND digest = ?", [number, digest]
            ).map { UInt64(clamping: try $0.integer(0)) }
        }
    }

    /// Forgets how many tokens an account has had.
    ///
    /// - Throws: ``TokenLedgerError/unavailable``.
    package func erase(_ account: Handle) async throws(TokenLedgerError) {
        try await write { _ = try $0.run("DELETE FROM given WHERE account = ?", [account.bytes]) }
    }

    private func write<Value: Sendable>(
        _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws(TokenLedgerError) -> Value {
        do { return try await engine.write(body) } catch { throw .unavailable }
    }
}

/// The month before which a ledger has forgotten everything, as far as this process knows.
private final class ClearedMonth: Sendable {
    private let month = Mutex<Int64>(-1)

    func isDue(_ now: Int64) -> Bool { month.withLock { $0 < now } }

    func finish(_ now: Int64) { month.withLock { $0 = max($0, now) } }
}

/// Why the ledger did not do it: the environment's fault, worth a retry.
public enum TokenLedgerError: Error, Hashable, Sendable {
    /// It was not opened.
    case opening(DurableOpenError)
    /// The engine could not read, write or wait for the disk. Whether it was written may be unknown; a retry finds out.
    case unavailable
}
