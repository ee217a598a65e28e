// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresStores
package import SQLStores

/// An empty place for the tables of one store, on one of the engines, until nobody holds it or a database of it.
package final class LabPlace: Sendable {
    private let path: String
    private let lent: LabDatabase?

    package init(on engine: LabEngine = .current) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString).sqlite").path
        lent = try engine == .postgres ? PostgresLab.database() : nil
    }

    deinit {
        for name in [path, path + "-wal", path + "-shm"] { try? FileManager.default.removeItem(atPath: name) }
    }

    /// Opens the tables, perhaps beside others who have them open.
    package func open(_ schema: SQLSchema) throws -> any SQLDatabase {
        guard let lent else { return HeldDatabase(place: self, engine: try SQLiteDatabase(at: path, schema)) }
        return try lent.open(schema)
    }

    /// As another process has them that writes at the same time; one process uses a file.
    package func open(_ schema: SQLSchema, beside first: any SQLDatabase) throws -> any SQLDatabase {
        try lent?.open(schema) ?? first
    }
}
