// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Logging
import SQLStores

/// The directory's tables, in an SQLite file or on a server that several processes use.
///
/// With SQLite one connection writes, so that whoever looks and then writes is alone. On a server two processes can do so at
/// once: each transaction there is SERIALIZABLE, and the engine runs one of the two again when they got in each other's way, be
/// it by a serialization failure or by a unique index. So a refusal is decided by looking, as with SQLite, and never by the index.
/// What is accepted for accounts goes many requests at once and takes turns, because two such transactions nearly always would.
struct DirectoryDatabase: Sendable {
    let rows: any SQLDatabase
    /// Whether another process writes the log: what it is to log is written beside it, into `waiting`.
    let handsOver: Bool
    /// Where several processes write, by which the changes of many requests go together; nil: each is written by itself.
    let acceptance: AcceptanceQueue?
    /// Whether what is written now is there after the process has ended.
    var isKept: @Sendable () -> Bool = { true }
    let logger: Logger

    /// Makes an empty database that only this user can read.
    static func create(at path: String, origin: [UInt8], vrfKey: [UInt8], logger: Logger) throws(DirectoryOpenError) {
        let database = try DirectoryDatabase(at: path, .new, logger: logger)
        defer { database.close() }
        try database.name(origin: origin, vrfKey: vrfKey)
    }

    /// Opens an SQLite file, and brings its form up to date.
    init(
        at path: String, _ origin: DurableDatabase.Origin = .kept, logger: Logger
    ) throws(DirectoryOpenError) {
        do throws(DurableOpenError) {
            rows = try SQLiteDatabase(at: path, DirectorySchema.schema, origin: origin)
        } catch {
            throw .database(error)
        }
        handsOver = false
        acceptance = nil
        self.logger = logger
    }

    /// Uses a database whose form is up to date.
    ///
    /// - Parameter handsOver: whether another process writes the log.
    init(database: any SQLDatabase, handsOver: Bool = false, logger: Logger) {
        rows = database
        self.handsOver = handsOver
        self.logger = logger
        let group = AcceptanceGroup(rows: database, handsOver: handsOver, logger: logger)
        acceptance = handsOver ? AcceptanceQueue { await group.write($0) } : nil
    }

    /// Writes down whose directory this is, in a database without rows.
    ///
    /// - Throws: ``DirectoryOpenError``; `exists`: it is a directory's already.
    func name(origin: [UInt8], vrfKey: [UInt8]) throws(DirectoryOpenError) {
        try opening {
            try rows.writeNow { database in
                guard try database.row("SELECT 1 FROM meta") == nil else { throw DurableOpenError.exists }
                try database.run("INSERT INTO meta VALUES (1, ?, ?, 0, 0)", [origin, vrfKey])
            }
        }
    }

    /// `PRAGMA synchronous` of the connection that writes to an SQLite file: 2 is FULL.
    func writerSynchronous() throws -> Int { try (rows as? SQLiteDatabase)?.writerSynchronous() ?? -1 }

    /// Lets go of the database; everything is put into an SQLite file itself.
    func close() { rows.close() }
}

/// Runs a step that waits for the database and gives its failure as the operator's.
func reaching<Value>(_ body: () async throws -> Value) async throws(DirectoryOpenError) -> Value {
    let outcome: Result<Value, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    return try opening { try outcome.get() }
}

/// Runs a step of opening and gives its failure as the operator's.
func opening<Value>(_ body: () throws -> Value) throws(DirectoryOpenError) -> Value {
    do { return try body() } catch let error as DirectoryOpenError { throw error } catch let fault as SQLFault {
        switch fault.code {
        case .sqlite(let code): throw .database(.database(code: code))
        case .postgres(let state): throw .databaseAway(state: state)
        }
    } catch {
        throw .database(DurableOpenError(error))
    }
}
