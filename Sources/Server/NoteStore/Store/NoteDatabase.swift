// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import Logging
import SQLStores
import Synchronization

/// Where the rows are, and what of their engine's failures a caller is told.
final class NoteDatabase: Sendable {
    /// The engine.
    let engine: any SQLDatabase
    private let logger: Logger
    private let faults: WriteFaults
    private let reserve: DiskReserve
    private let hasStopped = Mutex(false)
    /// Until when nothing is made for accounts that were erased for good, in seconds since 1970: what a request that was let in before would
    /// still write is refused.
    private let closed = Mutex<[Handle: UInt64]>([:])
    /// For so many seconds, in which requests that were let in before an erasure have long asked for what they write.
    private static let refusal: UInt64 = 600

    /// - Parameter engine: has the tables of ``NoteSchema``.
    init(on engine: any SQLDatabase, logger: Logger, faults: WriteFaults, reserve: DiskReserve) {
        self.engine = engine
        self.logger = logger
        self.faults = faults
        self.reserve = reserve
    }

    /// Opens the file of one machine, or makes it, and brings its form up to date.
    ///
    /// Files of earlier versions do not return freed space to the system, so they are rewritten once. If there is no
    /// room for that, the file stays as it is.
    static func file(at path: String, ifNotRewritten warn: () -> Void) throws(DurableOpenError) -> SQLiteDatabase {
        var options = DurableDatabase.Options()
        options.isShrinkable = true
        let file = try SQLiteDatabase(at: path, NoteSchema.schema, options: options)
        guard (try? file.canShrink()) == false else { return file }
        do { try file.vacuum() } catch { warn() }
        return file
    }

    /// Reads one consistent state.
    func read<Value: Sendable>(
        _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws(NoteStoreError) -> Value {
        do { return try await engine.read(body) } catch { throw failure(error) }
    }

    /// Writes in one transaction, and returns when it is durable.
    ///
    /// The engine may run `body` several times, so it changes nothing but rows. Each run has a ``NoteTransaction`` of its own, and what is
    /// returned is that of the run whose rows were committed.
    func write<Value: Sendable>(
        at now: UInt64, _ body: @Sendable (NoteTransaction) throws -> Value
    ) async throws(NoteStoreError) -> (value: Value, changed: Set<Int64>) {
        guard !hasStopped.withLock({ $0 }) else { throw .stopped }
        let (faults, use) = (faults, reserve.use())
        do {
            let result = try await engine.write { [isClosed] database in
                let transaction = NoteTransaction(
                    database, at: now, reserve: use, isClosed: { isClosed($0, now) },
                    beforeStatement: faults.beforeStatement)
                return (value: try body(transaction), changed: transaction.changed)
            }
            try faults.afterCommit()
            return result
        } catch { throw failure(error) }
    }

    /// Makes no row for an account that is erased now, for a while: at another process its handle may get another holder, of which this one
    /// does not hear.
    func refuse(_ handle: Handle, at now: UInt64) {
        closed.withLock { closed in
            closed = closed.filter { $0.value > now }
            closed[handle] = min(now, .max - Self.refusal) + Self.refusal
        }
    }

    /// Takes what the next holder of an erased account's handle writes.
    func admit(_ handle: Handle) { closed.withLock { $0[handle] = nil } }

    /// - Parameter now: when the write was asked for, however long it has waited for its turn.
    private func isClosed(_ handle: Handle, _ now: UInt64) -> Bool {
        closed.withLock { $0[handle].map { now < $0 } ?? false }
    }

    /// Leaves no copy of deleted rows where the engine lets us see to that, and gives their room back.
    func expunge() async throws(NoteStoreError) {
        do { try await engine.expunge() } catch { throw failure(error) }
    }

    /// Lets go of the engine. What cannot be moved into a file now is found by the next start.
    func close() { engine.close() }

    /// If the disk could not be read, written or waited for, its state is unknown: only a new start helps. After a commit whose outcome is
    /// unknown, whoever repeats the request is told what the first one did.
    private func failure(_ error: any Error) -> NoteStoreError {
        switch error {
        case let error as NoteStoreError: return error
        case let fault as SQLFault:
            logger.error("notes: database failed", metadata: ["code": "\(fault.code)"])
            guard case .storageFailed = fault else { return .unavailable }
            hasStopped.withLock { $0 = true }
            return .stopped
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
