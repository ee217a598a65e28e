// SPDX-License-Identifier: Apache-2.0

import Crypto
public import DurableStorage
import Foundation
import GRDB
import TransparencyLog

/// What a witness cosigned last for every log: one row a log, in SQLite, each commit of which waits for the disk.
///
/// Security: with an older copy of this file a witness cosigns a second history. It must never be brought back from a
/// backup while its key lives on.
struct WitnessStore: Sendable {
    private let pool: DurablePool

    /// Makes the empty memory of a new witness, which only this user can read.
    static func create(at path: String, for key: VerifierKey) throws(WitnessStoreError) {
        let pool = try pool(path, .new)
        try opening {
            try pool.write { database in
                try database.execute(sql: "INSERT INTO witness VALUES (1, ?)", arguments: [Data(key.encoded)])
            }
        }
        try? pool.close()
    }

    /// Opens the database of this witness, and settles it: what a crash left in the write-ahead file is moved into the
    /// database and synchronized, so that nothing rests on what may only be in the system's cache.
    init(at path: String, for key: VerifierKey) throws(WitnessStoreError) {
        let pool = try Self.pool(path, .kept)
        try Self.opening {
            try pool.barrierWriteWithoutTransaction { database in
                try database.checkpoint(.truncate)
                guard try Data.fetchOne(database, sql: "SELECT key FROM witness") == Data(key.encoded) else {
                    throw WitnessStoreError.ofOtherKey
                }
            }
        }
        self.pool = pool
    }

    /// What was cosigned last for a log; nil for nothing.
    func latest(_ origin: [UInt8]) async throws(WitnessStoreError) -> TreeHead? {
        let hash = Self.hash(origin)
        return try await Self.working { try await pool.read { try Self.head(of: hash, in: $0) } }
    }

    /// The note that is shown to monitors, by the SHA-256 of the log's origin; nil for none.
    func note(ofOriginHash hash: [UInt8]) async throws(WitnessStoreError) -> [UInt8]? {
        let hash = Data(hash)
        return try await Self.working {
            try await pool.read { database in
                try Data.fetchOne(
                    database.cachedStatement(sql: "SELECT note FROM checkpoints WHERE origin_hash = ?"),
                    arguments: [hash]
                ).map(Array.init)
            }
        }
    }

    /// Makes a checkpoint the latest of its log, if the latest is still the one that it was judged by, and returns when
    /// that is on the disk. False if another one is.
    func replace(with checkpoint: CosignedCheckpoint) async throws(WitnessStoreError) -> Bool {
        let hash = Self.hash(checkpoint.origin)
        let note = Data(checkpoint.note.encoded)
        return try await Self.working {
            try await pool.write { database in
                guard try Self.head(of: hash, in: database) == checkpoint.predecessor else { return false }
                let (size, root) = (Int64(bitPattern: checkpoint.head.size), Data(checkpoint.head.root.bytes))
                try database.cachedStatement(sql: Self.upsert).execute(
                    arguments: [hash, Data(checkpoint.origin), size, root, note])
                return true
            }
        }
    }

    func close() { try? pool.close() }

    private static func head(of hash: Data, in database: Database) throws -> TreeHead? {
        let statement = try database.cachedStatement(sql: "SELECT size, root FROM checkpoints WHERE origin_hash = ?")
        guard let row = try Row.fetchOne(statement, arguments: [hash]) else { return nil }
        let size = UInt64(bitPattern: try row.decode(Int64.self, atIndex: 0))
        guard let root = TreeHash(try row.decode(Data.self, atIndex: 1)) else { throw WitnessStoreError.damaged }
        return TreeHead(size: size, root: root)
    }

    private static func hash(_ origin: [UInt8]) -> Data { Data(SHA256.hash(data: origin)) }

    private static func pool(
        _ path: String, _ origin: DurableDatabase.Origin
    ) throws(WitnessStoreError) -> DurablePool {
        do { return try DurableDatabase.pool(at: path, migrator, origin: origin) } catch { throw .opening(error) }
    }

    /// Memories of before have the tables and no list of migrations.
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: witness, checkpoints") { try $0.execute(sql: schema) }
        return migrator
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS witness (  -- one row: whose memory this is
            id INTEGER PRIMARY KEY CHECK (id = 1),
            key BLOB NOT NULL            -- the verifier key, as text
        ) STRICT;
        CREATE TABLE IF NOT EXISTS checkpoints (  -- what was cosigned last
            origin_hash BLOB PRIMARY KEY, -- 32 bytes: SHA-256 of the origin
            origin BLOB NOT NULL,
            size INTEGER NOT NULL,       -- as the bits of an unsigned number
            root BLOB NOT NULL,          -- 32 bytes
            note BLOB NOT NULL           -- with the log's lines and the witness's
        ) STRICT, WITHOUT ROWID;
        """

    private static let upsert = """
        INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note
        """
}

/// Why the memory of a witness does not work.
public enum WitnessStoreError: Error, Hashable, Sendable {
    /// It was not opened. If it is missing, the operator has to find it: a witness that forgot what it cosigned must not go on.
    case opening(DurableOpenError)
    /// It is another witness's. The operator has to act.
    case ofOtherKey
    /// It holds what this program cannot have written. The operator has to act.
    case damaged
    /// The disk is full or another process holds the database; SQLite's code. Nothing was changed; try again.
    case busy(code: Int32)
    /// The disk failed; SQLite's code. What is on it is only known after a new start.
    case failed(code: Int32)
}

extension WitnessStore {
    private static func opening<Value>(_ body: () throws -> Value) throws(WitnessStoreError) -> Value {
        do { return try body() } catch { throw failure(error) }
    }

    private static func working<Value>(_ body: () async throws -> Value) async throws(WitnessStoreError) -> Value {
        do { return try await body() } catch { throw failure(error) }
    }

    private static func failure(_ error: any Error) -> WitnessStoreError {
        switch error {
        case let error as WitnessStoreError: return error
        case let error as DatabaseError:
            let code = error.extendedResultCode.rawValue
            switch error.resultCode {
            case .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB: return .failed(code: code)
            default: return .busy(code: code)
            }
        case is CancellationError: return .busy(code: ResultCode.SQLITE_INTERRUPT.rawValue)
        default: return .damaged
        }
    }
}
