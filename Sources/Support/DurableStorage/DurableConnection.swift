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
package final class DurableConnection<Writer: DatabaseWriter>: Sendable {
    private struct Uses {
        var count = 0
        var isClosed = false
    }

    private let writer: Writer
    private let closing: @Sendable (Writer) throws -> Void
    private let uses = Mutex(Uses())

    /// - Parameter closing: closes the database; called once, when nothing uses it.
    init(_ writer: Writer, closing: @escaping @Sendable (Writer) throws -> Void) {
        self.writer = writer
        self.closing = closing
    }

    /// Reads.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try begin()
        defer { end() }
        return try writer.read(body)
    }

    /// Reads.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try begin()
        defer { end() }
        return try await writer.read(body)
    }

    /// Runs one transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws; then nothing was written.
    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try begin()
        defer { end() }
        return try writer.write(body)
    }

    /// Runs one transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws; then nothing was written.
    package func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try begin()
        defer { end() }
        return try await writer.write(body)
    }

    /// Has the connection that writes, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func writeWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try begin()
        defer { end() }
        return try writer.writeWithoutTransaction(body)
    }

    /// Has the connection that writes, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func writeWithoutTransaction<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try begin()
        defer { end() }
        return try await writer.writeWithoutTransaction(body)
    }

    /// Has the database alone, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func barrierWriteWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try begin()
        defer { end() }
        return try writer.barrierWriteWithoutTransaction(body)
    }

    /// Has the database alone, without a transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func barrierWriteWithoutTransaction<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try begin()
        defer { end() }
        return try await writer.barrierWriteWithoutTransaction(body)
    }

    /// Writes the whole file anew.
    ///
    /// - Throws: GRDB's `DatabaseError`.
    package func vacuum() throws {
        try begin()
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

    private func end() {
        let isLast = uses.withLock { uses in
            uses.count -= 1
            return uses.isClosed && uses.count == 0
        }
        if isLast { try? closing(writer) }
    }
}
