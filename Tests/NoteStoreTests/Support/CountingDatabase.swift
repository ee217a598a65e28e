// SPDX-License-Identifier: Apache-2.0

import SQLStores
import Synchronization

@testable import NoteStore

/// A database that counts the statements by which it is read, and the rows of the one that gave most.
final class CountingDatabase: SQLDatabase {
    var nowExpression: String { engine.nowExpression }

    private let engine: any SQLDatabase
    private let counted = Mutex((statements: 0, largest: 0))

    init(_ engine: any SQLDatabase) { self.engine = engine }

    /// What was counted since the last call.
    func take() -> (statements: Int, largest: Int) {
        counted.withLock { counted in
            defer { counted = (0, 0) }
            return counted
        }
    }

    private struct Connection: SQLConnection {
        let transaction: SQLTransaction
        let database: CountingDatabase

        func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws -> Int {
            var rows = 0
            try transaction.each(sql, arguments) { row in
                rows += 1
                return try body(row)
            }
            database.counted.withLock { $0 = ($0.statements + 1, max($0.largest, rows)) }
            return 0
        }
    }

    private func counting(_ transaction: SQLTransaction) -> SQLTransaction {
        SQLTransaction(Connection(transaction: transaction, database: self))
    }

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await engine.read { try body(self.counting($0)) }
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await engine.write(body)
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.writeNow(body) }

    func expunge() async throws { try await engine.expunge() }

    func close() { engine.close() }
}

/// A place of another kind, with such a database.
final class CountingPlace: StorePlace {
    let database: CountingDatabase
    private let place: any StorePlace

    init(_ place: any StorePlace) throws {
        self.place = place
        database = CountingDatabase(try place.open())
    }

    func open() throws -> any SQLDatabase { database }

    func holds(_ bytes: [UInt8], _ database: any SQLDatabase) throws -> Bool { try place.holds(bytes, database) }
}
