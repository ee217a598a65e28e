import Foundation
import GRDB
import Logging
import TransparencyLog

/// The directory's SQLite file: one connection that writes and waits for the disk, several that read.
struct DirectoryDatabase: Sendable {
    let pool: DatabasePool
    let logger: Logger

    /// How many connections read at once.
    private static let readerCount = 8
    /// How long a connection waits for a lock of another process, in seconds.
    private static let busyTimeout = 5.0

    /// Makes an empty database that only this user can read.
    static func create(at path: String, origin: [UInt8], vrfKey: [UInt8], logger: Logger) throws(DirectoryOpenError) {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw errno == EEXIST ? .databaseExists : .file(code: errno) }
        Foundation.close(descriptor)
        let database = try DirectoryDatabase(at: path, logger: logger)
        try opening {
            try database.pool.write { database in
                try database.execute(
                    sql: "INSERT INTO meta VALUES (1, ?, ?, 0, 0)", arguments: [Data(origin), Data(vrfKey)])
            }
        }
        database.close()
    }

    /// Opens a database that exists, brings its form up to date and makes its commits wait for the disk.
    init(at path: String, logger: Logger) throws(DirectoryOpenError) {
        guard access(path, F_OK) == 0 else { throw .databaseMissing }
        let pool = try opening { try DatabasePool(path: path, configuration: Self.configuration) }
        let migrator = DirectorySchema.migrator
        guard try opening({ try !pool.read(migrator.hasBeenSuperseded) }) else { throw .databaseFromNewerVersion }
        try opening { try migrator.migrate(pool) }
        try opening {
            // The pool has set NORMAL by now, whatever the configuration said.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        }
        self.pool = pool
        self.logger = logger
        let synchronous = try opening { try writerSynchronous() }
        guard synchronous == 2 else { throw .notDurable(synchronous: synchronous) }
    }

    /// `PRAGMA synchronous` of the connection that writes: 2 is FULL.
    func writerSynchronous() throws -> Int {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } ?? -1
    }

    /// Puts everything into the database file and closes it. What cannot be moved now is found in the write-ahead file
    /// by the next start.
    func close() {
        _ = try? pool.barrierWriteWithoutTransaction { try $0.checkpoint(.truncate) }
        try? pool.close()
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTimeout)
        configuration.maximumReaderCount = readerCount
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA secure_delete = ON")
            #if canImport(Darwin)
                try database.execute(sql: "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
            #endif
        }
        return configuration
    }
}

/// Runs a step of opening and gives its failure as the operator's.
func opening<Value>(_ body: () throws -> Value) throws(DirectoryOpenError) -> Value {
    do {
        return try body()
    } catch let error as DirectoryOpenError {
        throw error
    } catch let error as DatabaseError {
        throw .database(code: error.extendedResultCode.rawValue)
    } catch { throw .databaseDamaged }
}
