// SPDX-License-Identifier: Apache-2.0

import CallSignalling
public import DurableStorage
import Foundation
import GRDB

/// What a broker has written: signals that wait in inboxes, and calls. One SQLite file, each commit of which waits for the disk.
public struct SignalStore: Sendable {
    private let pool: DurablePool
    let path: String

    /// Opens the file, or makes it, readable by this user only.
    ///
    /// - Throws: ``SignalStoreError``: the operator has to act.
    public init(at path: String) throws(SignalStoreError) {
        self.path = path
        do { pool = try DurableDatabase.pool(at: path, Self.migrator) } catch { throw .opening(error) }
    }

    /// All that was written. Rows that no broker wrote are left out.
    ///
    /// - Throws: ``SignalStoreError``.
    public func read() throws(SignalStoreError) -> (kept: [KeptSignal], calls: [CallRecord]) {
        try Self.working {
            try pool.read { database in
                let kept = try Row.fetchAll(database, sql: "SELECT * FROM kept ORDER BY number").compactMap(Self.kept)
                let calls = try Data.fetchAll(database, sql: "SELECT record FROM calls")
                return (kept, calls.compactMap { CallRecord(decoding: Array($0)) })
            }
        }
    }

    /// Writes actions in one transaction; returns when they are on the disk.
    ///
    /// - Throws: ``SignalStoreError``; nothing was written.
    package func write(_ actions: [BrokerAction]) async throws(SignalStoreError) {
        do {
            try await pool.write { database in
                for action in actions { try Self.write(action, database) }
            }
        } catch { throw SignalStoreError(error) }
    }

    /// Closes the file.
    public func close() { try? pool.close() }

    private static func write(_ action: BrokerAction, _ database: Database) throws {
        switch action {
        case .keep(let signal):
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?, ?)").execute(
                arguments: [
                    Int64(bitPattern: signal.number), Data(signal.recipient.signingKey), Data(signal.sender.signingKey),
                    Int64(bitPattern: signal.expiresAt), Data(signal.frame), signal.account,
                ])
        case .drop(let number):
            try database.cachedStatement(sql: "DELETE FROM kept WHERE number = ?").execute(
                arguments: [Int64(bitPattern: number)])
        case .record(let call):
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO calls VALUES (?, ?)").execute(
                arguments: [Data(call.id.bytes), Data(call.encoded)])
        case .forget(let call):
            try database.cachedStatement(sql: "DELETE FROM calls WHERE id = ?").execute(arguments: [Data(call.bytes)])
        case .send, .confirm, .close, .cut, .departed: return
        }
    }

    private static func kept(_ row: Row) -> KeptSignal? {
        guard let number = try? row.decode(Int64.self, atIndex: 0), let recipient = device(row, 1),
            let sender = device(row, 2), let expiresAt = try? row.decode(Int64.self, atIndex: 3),
            let frame = try? row.decode(Data.self, atIndex: 4),
            let account = try? row.decode(Int64.self, atIndex: 5)
        else { return nil }
        return KeptSignal(
            number: UInt64(bitPattern: number), recipient: recipient, sender: sender, of: account,
            expiresAt: UInt64(bitPattern: expiresAt), frame: Array(frame))
    }

    private static func device(_ row: Row, _ column: Int) -> CallDevice? {
        (try? row.decode(Data.self, atIndex: column)).flatMap { CallDevice(Array($0)) }
    }

    private static func working<Value>(_ body: () throws -> Value) throws(SignalStoreError) -> Value {
        do { return try body() } catch { throw SignalStoreError(error) }
    }

    /// Files from before accounts were written: what waits in them belongs to no account, and is the first to make
    /// room.
    private static func addAccounts(_ database: Database) throws {
        guard try !database.columns(in: "kept").contains(where: { $0.name == "account" }) else { return }
        try database.execute(sql: "ALTER TABLE kept ADD COLUMN account INTEGER NOT NULL DEFAULT 0")
    }

    /// Files of before have the tables and no list of migrations.
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: kept, calls") { database in
            try database.execute(sql: schema)
            try addAccounts(database)
        }
        return migrator
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS kept (   -- signals that wait in inboxes
            number INTEGER PRIMARY KEY,
            recipient BLOB NOT NULL,        -- 32 bytes
            sender BLOB NOT NULL,           -- 32 bytes
            expires_at INTEGER NOT NULL,    -- milliseconds since 1970
            frame BLOB NOT NULL,            -- the SEND frame
            account INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE IF NOT EXISTS calls (
            id BLOB PRIMARY KEY,            -- 16 bytes
            record BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}

/// Why what a broker has written cannot be used.
public enum SignalStoreError: Error, Hashable, Sendable {
    /// It was not opened.
    case opening(DurableOpenError)
    /// The disk is full or another process holds the file; SQLite's code. Nothing was changed; try again.
    case busy(code: Int32)
    /// The disk failed; SQLite's code. Nothing was changed.
    case disk(code: Int32)
    /// The file is not a database of ours; SQLite's code.
    case failed(code: Int32)
    /// The database that several front ends share did not do it now, or another of them carries the signals by now. Nothing was changed.
    case unavailable

    init(_ error: any Error) {
        switch error {
        case let error as SignalStoreError: self = error
        case let error as DatabaseError:
            let code = error.extendedResultCode.rawValue
            switch error.resultCode {
            case .SQLITE_IOERR: self = .disk(code: code)
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR: self = .failed(code: code)
            default: self = .busy(code: code)
            }
        default: self = .busy(code: ResultCode.SQLITE_INTERRUPT.rawValue)
        }
    }
}
