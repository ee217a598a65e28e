// SPDX-License-Identifier: Apache-2.0

package import GRDB
import Synchronization

/// One connection that reads and writes, and that may be closed while it is in use.
///
/// GRDB asks SQLite about a connection that was closed, which ends the process. Here a use that has begun is finished first, and one
/// that begins after ``close()`` throws `SQLITE_MISUSE`.
package final class DurableQueue: Sendable {
    private struct Uses {
        var count = 0
        var isClosed = false
    }

    private let queue: DatabaseQueue
    private let uses = Mutex(Uses())

    init(_ queue: DatabaseQueue) { self.queue = queue }

    /// Reads.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try begin()
        defer { end() }
        return try queue.read(body)
    }

    /// Reads.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try begin()
        defer { end() }
        return try await queue.read(body)
    }

    /// Runs one transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws; then nothing was written.
    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try begin()
        defer { end() }
        return try queue.write(body)
    }

    /// Runs one transaction.
    ///
    /// - Throws: GRDB's `DatabaseError`, or what `body` throws; then nothing was written.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try begin()
        defer { end() }
        return try await queue.write(body)
    }

    /// Closes the connection, at once or after the last use that has begun.
    ///
    /// - Throws: GRDB's `DatabaseError`.
    package func close() throws {
        let isUnused = uses.withLock { uses in
            uses.isClosed = true
            return uses.count == 0
        }
        if isUnused { try queue.close() }
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
        if isLast { try? queue.close() }
    }
}
