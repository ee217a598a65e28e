// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import GRDB
import KeyTransparency
import Logging
import Synchronization

/// The SQLite file: one connection that writes and waits for the disk, several that read.
final class NoteDatabase: Sendable {
    private let pool: DurablePool
    private let logger: Logger
    private let faults: WriteFaults
    private let reserve: DiskReserve
    private let hasStopped = Mutex(false)
    /// Accounts that were erased for good since the start; what a request before then would still write is refused.
    private let closed = Mutex<Set<Handle>>([])

    /// Opens the file, or makes it, and brings its form up to date.
    init(
        at path: String, logger: Logger, faults: WriteFaults, reserve: DiskReserve
    ) throws(DurableOpenError) {
        var options = DurableDatabase.Options()
        options.isShrinkable = true
        let pool = try DurableDatabase.pool(at: path, NoteSchema.migrator, options: options)
        Self.makeShrinkable(pool, logger)
        self.pool = pool
        self.logger = logger
        self.faults = faults
        self.reserve = reserve
    }

    /// Files of earlier versions do not return freed space to the system, so they are rewritten once. If there is no
    /// room for that, the file stays as it is.
    private static func makeShrinkable(_ pool: DurablePool, _ logger: Logger) {
        let mode = try? pool.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") }
        guard mode == 0 else { return }
        do { try pool.vacuum() } catch { logger.warning("notes: there is no room to rewrite the database") }
    }

    /// Reads one consistent state.
    func read<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(NoteStoreError) -> Value {
        do { return try await pool.read(body) } catch { throw failure(error) }
    }

    /// Writes in one transaction, and returns when it is on the disk.
    func write<Value: Sendable>(
        at now: UInt64, _ body: @Sendable (NoteTransaction) throws -> Value
    ) async throws(NoteStoreError) -> (value: Value, changed: Set<Int64>) {
        guard !hasStopped.withLock({ $0 }) else { throw .stopped }
        let (faults, use) = (faults, reserve.use())
        do {
            let result = try await pool.write { [isClosed] database in
                let transaction = NoteTransaction(
                    database, at: now, reserve: use, isClosed: isClosed, beforeStatement: faults.beforeStatement)
                return (value: try body(transaction), changed: transaction.changed)
            }
            try faults.afterCommit()
            return result
        } catch { throw failure(error) }
    }

    /// Makes no row for an account any more, for as long as this process runs.
    func refuse(_ handle: Handle) { _ = closed.withLock { $0.insert(handle) } }

    /// Takes what the next holder of an erased account's handle writes.
    func admit(_ handle: Handle) { _ = closed.withLock { $0.remove(handle) } }

    private func isClosed(_ handle: Handle) -> Bool { closed.withLock { $0.contains(handle) } }

    /// Gives the pages that nothing is in any more back to the file system.
    func giveBackSpace() async throws(NoteStoreError) {
        do {
            _ = try await pool.barrierWriteWithoutTransaction { database in
                try database.execute(sql: "PRAGMA incremental_vacuum")
                try database.checkpoint(.truncate)
            }
        } catch { throw failure(error) }
    }

    /// Puts everything into the file and closes it. What cannot be moved now is found by the next start.
    func close() { try? pool.close() }

    /// If SQLite could not read, write or wait for the disk, the state of the disk is unknown: only a new start helps.
    private func failure(_ error: any Error) -> NoteStoreError {
        switch error {
        case let error as NoteStoreError: return error
        case let error as DatabaseError:
            logger.error("notes: database failed", metadata: ["code": "\(error.extendedResultCode.rawValue)"])
            switch error.resultCode {
            case .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB:
                hasStopped.withLock { $0 = true }
                return .stopped
            default: return .unavailable
            }
        case is CancellationError: return .unavailable
        default:
            logger.error("notes: database row is damaged")
            return .unavailable
        }
    }
}

/// Where a write can be made to fail.
package struct WriteFaults: Sendable {
    let beforeStatement: @Sendable () throws -> Void
    let afterCommit: @Sendable () throws -> Void

    /// Nothing fails but what fails.
    package static let none = WriteFaults(beforeStatement: {}, afterCommit: {})

    /// - Parameters:
    ///   - beforeStatement: called before each statement that writes.
    ///   - afterCommit: called when a transaction is on the disk and has not been reported yet.
    package init(
        beforeStatement: @escaping @Sendable () throws -> Void, afterCommit: @escaping @Sendable () throws -> Void
    ) {
        self.beforeStatement = beforeStatement
        self.afterCommit = afterCommit
    }
}
