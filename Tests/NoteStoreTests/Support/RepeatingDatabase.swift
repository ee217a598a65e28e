// SPDX-License-Identifier: Apache-2.0

import SQLStores

/// A database that runs the body of each transaction, takes back what it wrote, and runs it again.
struct RepeatingDatabase: SQLDatabase {
    var nowExpression: String { engine.nowExpression }

    private struct Again: Error {}

    let engine: any SQLDatabase

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        _ = try await engine.read(body)
        return try await engine.read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        do {
            try await engine.write { transaction in
                _ = try body(transaction)
                throw Again()
            }
        } catch is Again {}
        return try await engine.write(body)
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.writeNow(body) }

    func expunge() async throws { try await engine.expunge() }

    func close() { engine.close() }
}

/// A place of another kind, with such a database.
struct RepeatingPlace: StorePlace {
    let place: any StorePlace

    func open() throws -> any SQLDatabase { RepeatingDatabase(engine: try place.open()) }

    func holds(_ bytes: [UInt8], _ database: any SQLDatabase) throws -> Bool { try place.holds(bytes, database) }
}

/// A database whose every use fails.
struct FailingDatabase: SQLDatabase {
    var nowExpression: String { "0" }

    let fault: SQLFault

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value { throw fault }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        throw fault
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { throw fault }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { throw fault }

    func expunge() async throws { throw fault }

    func close() {}
}
