// SPDX-License-Identifier: Apache-2.0

package import GRDB
import Synchronization

/// One connection that reads and writes.
package typealias DurableQueue = DurableConnection<DatabaseQueue>
/// One connection that writes, and several that read beside it.
package typealias DurablePool = DurableConnection<DatabasePool>

/// An open database, which may be closed while it is in use.
///
/// GRDB asks SQLite about a connection that was closed, which ends the process. Here a use that has begun is finished first, and one
/// that begins after ``close()`` throws `SQLITE_MISUSE`.
///
/// While the file of a pool is not in its place, because somebody removed, moved or replaced it, nothing is written, which throws
/// `SQLITE_READONLY_DBMOVED`: it would be gone with the process. So a copy of the files that are open is whole, and has all that was
/// acknowledged. If another file is there nothing is read either: a pool opens connections as it needs them, and they would read that one.
package final class DurableConnection<Writer: DatabaseWriter>: Sendable {
    private struct Uses {
        var count = 0
        var isClosed = false
    }

    private let writer: Writer
    private let place: DatabasePlace?
    private let closing: @Sendable (Writer) throws -> Void
    private let uses = Mutex(Uses())

    /// - Parameters:
    ///   - place: where its file has to be; nil where nobody looks.
    ///   - closing: closes the database; called once, when nothing uses it.
    init(
        _ writer: Writer, at place: DatabasePlace? = nil, closing: @escaping @Sendable (Writer) throws -> Void
    ) {
        self.writer = writer
        self.place = place
        self.closing = closing
    }

    /// Reads.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try beginReading()
        defer { end() }
        return try writer.read(body)
    }

    /// Reads.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try beginReading()
        defer { end() }
        return try await writer.read(body)
    }

    /// Runs one transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws; then nothing was written.
    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try beginWriting()
        defer { end() }
        return try writer.write(body)
    }

    /// Runs one transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws; then nothing was written.
    package func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try beginWriting()
        defer { end() }
        return try await writer.write(body)
    }

    /// Has the connection that writes, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func writeWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try beginWriting()
        defer { end() }
        return try writer.writeWithoutTransaction(body)
    }

    /// Has the connection that writes, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func writeWithoutTransaction<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try beginWriting()
        defer { end() }
        return try await writer.writeWithoutTransaction(body)
    }

    /// Has the database alone, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func barrierWriteWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try beginWriting()
        defer { end() }
        return try writer.barrierWriteWithoutTransaction(body)
    }

    /// Has the database alone, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func barrierWriteWithoutTransaction<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try beginWriting()
        defer { end() }
        return try await writer.barrierWriteWithoutTransaction(body)
    }

    /// Writes the whole file anew.
    ///
    /// - Throws: GRDB's `DatabaseError`.
    package func vacuum() throws {
        try beginWriting()
        defer { end() }
        try writer.vacuum()
    }

    /// Closes the database, at once or after the last use that has begun.
    ///
    /// - Throws: GRDB's `DatabaseError`, if it was closed at once.
    package func close() throws {
        let isUnused = uses.withLock { uses in
            defer { uses.isClosed = true }
            return uses.count == 0 && !uses.isClosed
        }
        if isUnused { try closing(writer) }
    }

    private func begin() throws {
        try uses.withLock { uses in
            guard !uses.isClosed else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "closed") }
            uses.count += 1
        }
    }

    private func beginReading() throws {
        guard place?.isReplaced != true else { throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED) }
        try begin()
    }

    private func beginWriting() throws {
        guard place?.isKept != false else { throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED) }
        try begin()
    }

    private func end() {
        let isLast = uses.withLock { uses in
            uses.count -= 1
            return uses.isClosed && uses.count == 0
        }
        if isLast { try? closing(writer) }
    }
}
