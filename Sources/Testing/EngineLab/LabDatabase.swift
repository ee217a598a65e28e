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
        HeldDatabase(place: self, engine: try PostgresDatabase(at: address, schema, options: options))
    }
}
