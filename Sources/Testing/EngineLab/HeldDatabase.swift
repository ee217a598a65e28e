// SPDX-License-Identifier: Apache-2.0

import SQLStores

/// A database, and what must be there as long as it.
struct HeldDatabase: SQLDatabase {
    let place: any AnyObject & Sendable
    let engine: any SQLDatabase

    var nowExpression: String { engine.nowExpression }

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await engine.read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await engine.write(body)
    }

    func writeInTurn<Value: Sendable>(
        on table: String, _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await engine.writeInTurn(on: table, body)
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.writeNow(body) }

    func expunge() async throws { try await engine.expunge() }

    func close() { engine.close() }
}
