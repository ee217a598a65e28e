// SPDX-License-Identifier: Apache-2.0

package import PostgresStores
package import SQLStores

/// An empty database of a server of the lab. It is dropped when nobody holds it any more.
package final class LabDatabase: Sendable {
    package let address: PostgresAddress
    package let name: String
    private let server: PostgresServer

    init(_ name: String, _ form: String, on server: PostgresServer) throws {
        try server.administer("CREATE DATABASE \(name)\(form)")
        (self.name, self.server) = (name, server)
        address = try server.address.database(name)
    }

    deinit { _ = try? server.administer("DROP DATABASE \(name) WITH (FORCE)") }

    /// Runs a command in it as the superuser, on a connection of its own, and returns the first field of the answer.
    @discardableResult
    package func administer(_ command: String) throws -> String? {
        try server.administer(command, in: name)
    }

    /// A proxy before it, and before nothing else.
    package func proxy() throws -> CuttingProxy {
        try CuttingProxy(before: server, at: address, number: server.newNumber())
    }

    /// Opens tables of a store in it, and holds it for as long as they are used.
    package func open(
        _ schema: SQLSchema, options: PostgresDatabase.Options = PostgresDatabase.Options()
    ) throws -> any SQLDatabase {
        Held(place: self, engine: try PostgresDatabase(at: address, schema, options: options))
    }

    /// A database of the server, and what must be there as long as it.
    private struct Held: SQLDatabase {
        let place: LabDatabase
        let engine: PostgresDatabase

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
}
