// SPDX-License-Identifier: Apache-2.0

import EngineLab
import SQLStores

@testable import NoteStore

/// An empty database of a real PostgreSQL.
final class StoreOnServer: StorePlace {
    private let lent: LabDatabase

    init() throws { lent = try PostgresLab.database() }

    func open() throws -> any SQLDatabase { try lent.open(NoteSchema.schema) }

    /// In rows: what a server keeps of deleted ones is its operator's.
    func holds(_ bytes: [UInt8], _ database: any SQLDatabase) throws -> Bool {
        try database.readNow { transaction in
            try StoreFolder.tables.contains { table in
                try transaction.rows("SELECT * FROM \(table)").contains { row in
                    row.values.contains { value in
                        guard case .bytes(let stored) = value else { return false }
                        return stored.contains(bytes)
                    }
                }
            }
        }
    }
}
