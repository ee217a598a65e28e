// SPDX-License-Identifier: Apache-2.0

package import DurableStorage
import GRDB

/// A store's rows in an SQLite file of this machine: one connection that writes and waits for the disk, several that read.
package struct SQLiteDatabase: SQLDatabase {
    private let pool: DurablePool
    private let isShrinkable: Bool

    /// Opens a file and brings its tables up to date.
    ///
    /// - Throws: `DurableOpenError`.
    package init(
        at path: String, _ schema: SQLSchema, origin: DurableDatabase.Origin = .either,
        options: DurableDatabase.Options = DurableDatabase.Options()
    ) throws(DurableOpenError) {
        var migrator = DatabaseMigrator()
        for step in schema.steps {
            migrator.registerMigration(step.name) { try $0.execute(sql: step.sql + step.sqlite) }
        }
        pool = try DurableDatabase.pool(at: path, migrator, origin: origin, options: options)
        isShrinkable = options.isShrinkable
    }

    /// Reads a file without a server, and leaves nothing beside it that was not there.
    ///
    /// - Throws: `DurableOpenError`.
    package static func read<Value>(
        _ path: String, _ body: (SQLTransaction) throws -> Value
    ) throws(DurableOpenError) -> Value {
        try DurableDatabase.read(path) { try body(SQLTransaction(SQLiteConnection(database: $0))) }
    }

    package func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await Self.reporting { try await pool.read { try body(SQLTransaction(SQLiteConnection(database: $0))) } }
    }

    package func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await Self.reporting { try await pool.write { try body(SQLTransaction(SQLiteConnection(database: $0))) } }
    }

    package func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try Self.reporting { try pool.read { try body(SQLTransaction(SQLiteConnection(database: $0))) } }
    }

    package func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try Self.reporting { try pool.write { try body(SQLTransaction(SQLiteConnection(database: $0))) } }
    }

    package var nowExpression: String { "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)" }

    /// Empties the write-ahead file into the file, in which deleted rows are overwritten, and gives empty pages back where the file was
    /// made for that.
    package func expunge() async throws {
        try await Self.reporting {
            _ = try await pool.barrierWriteWithoutTransaction { [isShrinkable] database in
                if isShrinkable { try database.execute(sql: "PRAGMA incremental_vacuum") }
                return try database.checkpoint(.truncate)
            }
        }
    }

    /// Whether empty pages can be given back: files of versions before ``DurableDatabase/Options/isShrinkable`` cannot.
    package func canShrink() throws -> Bool {
        try pool.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") } != 0
    }

    /// Writes the whole file anew.
    package func vacuum() throws { try Self.reporting { try pool.vacuum() } }

    /// `PRAGMA synchronous` of the connection that writes: 2 is FULL.
    package func writerSynchronous() throws -> Int {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } ?? -1
    }

    /// Puts everything into the file and closes it. What cannot be moved now is found by the next start.
    package func close() { try? pool.close() }

    private static func reporting<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw fault(error) }
    }

    private static func reporting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { throw fault(error) }
    }

    private static func fault(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        let code = SQLCode.sqlite(error.extendedResultCode.rawValue)
        switch error.resultCode {
        case .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB: return SQLFault.storageFailed(code)
        default: return SQLFault.unavailable(code)
        }
    }
}
