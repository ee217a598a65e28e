// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Logging
import NoteLog
import NotesAPI
import ProtocolTesting
import SQLStores
import Synchronization
import Testing

@testable import NoteStore

/// What a caller is told of an engine's failures.
@Suite struct EngineFaultTests {
    private let alice: NoteWriter

    init() throws { alice = try NoteWriter("alice") }

    private func database(_ engine: any SQLDatabase) -> NoteDatabase {
        NoteDatabase(
            on: engine, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, faults: .none,
            reserve: DiskReserve(use: { .none }))
    }

    @Test(
        arguments: [
            (.unavailable(.postgres(state: "53100")), .unavailable),
            (.outcomeUnknown(.postgres(state: nil)), .unavailable),
            (.storageFailed(.sqlite(10)), .stopped),
        ] as [(SQLFault, NoteStoreError)])
    func aFaultIsWorthARetryUnlessTheDiskFailed(_ fault: SQLFault, _ error: NoteStoreError) async throws {
        let database = database(FailingDatabase(fault: fault))
        await #expect(throws: error) { try await database.read { _ in } }
        await #expect(throws: error) { _ = try await database.write(at: 1) { _ in } }
        await #expect(throws: error) { try await database.expunge() }
    }

    /// A database whose disk fails once.
    private final class FailingOnce: SQLDatabase {
        var nowExpression: String { "0" }

        private let engine: any SQLDatabase
        private let hasFailed = Mutex(false)

        init(_ engine: any SQLDatabase) { self.engine = engine }

        func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            try await engine.read(body)
        }

        func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            let isFirst = hasFailed.withLock { was in
                defer { was = true }
                return !was
            }
            guard !isFirst else { throw SQLFault.storageFailed(.sqlite(10)) }
            return try await engine.write(body)
        }

        func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.readNow(body) }

        func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.writeNow(body) }

        func expunge() async throws { try await engine.expunge() }

        func close() { engine.close() }
    }

    @Test func nothingIsWrittenAfterTheDiskFailed() async throws {
        let file = try StoreFile()
        let database = database(FailingOnce(try file.open()))
        for _ in 0..<2 {
            await #expect(throws: NoteStoreError.stopped) { _ = try await database.write(at: 1) { _ in } }
        }
        database.close()
    }
}
