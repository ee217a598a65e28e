// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import Logging
import TransparencyLog

/// The directory's SQLite file: one connection that writes and waits for the disk, several that read.
struct DirectoryDatabase: Sendable {
    let pool: DurablePool
    let logger: Logger

    /// Makes an empty database that only this user can read.
    static func create(at path: String, origin: [UInt8], vrfKey: [UInt8], logger: Logger) throws(DirectoryOpenError) {
        let database = try DirectoryDatabase(at: path, .new, logger: logger)
        try opening {
            try database.pool.write { database in
                try database.execute(
                    sql: "INSERT INTO meta VALUES (1, ?, ?, 0, 0)", arguments: [Data(origin), Data(vrfKey)])
            }
        }
        database.close()
    }

    /// Opens a database, and brings its form up to date.
    init(
        at path: String, _ origin: DurableDatabase.Origin = .kept, logger: Logger
    ) throws(DirectoryOpenError) {
        do throws(DurableOpenError) {
            pool = try DurableDatabase.pool(at: path, DirectorySchema.migrator, origin: origin)
        } catch {
            throw .database(error)
        }
        self.logger = logger
    }

    /// `PRAGMA synchronous` of the connection that writes: 2 is FULL.
    func writerSynchronous() throws -> Int {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } ?? -1
    }

    /// Puts everything into the database file and closes it.
    func close() { try? pool.close() }
}

/// Runs a step of opening and gives its failure as the operator's.
func opening<Value>(_ body: () throws -> Value) throws(DirectoryOpenError) -> Value {
    do { return try body() } catch let error as DirectoryOpenError { throw error } catch {
        throw .database(DurableOpenError(error))
    }
}
