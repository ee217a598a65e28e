// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB

/// The one way in which an SQLite file of ours is opened: only this user reads it, each commit waits for the disk, what is
/// deleted is overwritten, and a form of a newer program is refused.
package enum DurableDatabase {
    /// Whether the file is there.
    package enum Origin: Sendable {
        /// It must be: an empty one would forget what the other knew.
        case kept
        /// It must not be.
        case new
        /// It is made when it is not.
        case either
    }

    /// What differs from file to file.
    package struct Options: Sendable {
        /// How long a connection waits for a lock of another process, in seconds.
        package var busyTimeout = 5.0
        /// Whether empty pages can be given back to the file system: in a new file, or in one that is rewritten.
        package var isShrinkable = false
        /// More SQL for every connection.
        package var settings = ""

        package init() {}
    }

    /// One connection that writes, and several that read beside it. Closing it puts everything into the file itself; what cannot be moved
    /// then is found by the next start.
    ///
    /// - Parameter migrator: brings the form of the file up to date.
    /// - Throws: ``DurableOpenError``.
    package static func pool(
        at path: String, _ migrator: DatabaseMigrator, origin: Origin = .either, options: Options = Options()
    ) throws(DurableOpenError) -> DurablePool {
        try make(path, origin)
        let pool = try opening { try DatabasePool(path: path, configuration: configuration(options)) }
        try prepare(pool, migrator)
        return DurablePool(pool, at: DatabasePlace(of: path), closing: close)
    }

    /// One connection that reads and writes.
    ///
    /// - Parameter migrator: brings the form of the file up to date; nil: the caller takes care of its form.
    /// - Throws: ``DurableOpenError``.
    package static func queue(
        at path: String, _ migrator: DatabaseMigrator?, origin: Origin = .either, options: Options = Options()
    ) throws(DurableOpenError) -> DurableQueue {
        try make(path, origin)
        let queue = try opening { try DatabaseQueue(path: path, configuration: configuration(options)) }
        try prepare(queue, migrator)
        return DurableQueue(queue) { try $0.close() }
    }

    @Sendable private static func close(_ pool: DatabasePool) {
        _ = try? pool.barrierWriteWithoutTransaction { try $0.checkpoint(.truncate) }
        try? pool.close()
    }

    /// Runs a step of opening.
    package static func opening<Value>(_ body: () throws -> Value) throws(DurableOpenError) -> Value {
        do { return try body() } catch { throw DurableOpenError(error) }
    }

    private static func make(_ path: String, _ origin: Origin) throws(DurableOpenError) {
        switch (access(path, F_OK) == 0, origin) {
        case (true, .kept), (true, .either): return
        case (false, .kept): throw .missing
        case (true, .new): throw .exists
        case (false, .new), (false, .either): break
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 && errno == EEXIST && origin == .either { return }
        guard descriptor >= 0 else { throw .file(code: errno) }
        Foundation.close(descriptor)
    }

    private static func prepare(
        _ writer: some DatabaseWriter, _ migrator: DatabaseMigrator?
    ) throws(DurableOpenError) {
        if let migrator { try opening { try writer.read { try requireOwn($0, migrator) } } }
        let synchronous = try opening {
            try writer.writeWithoutTransaction { database in
                // A pool has set NORMAL by now, despite the configuration.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
            }
        }
        guard synchronous == 2 else { throw .notDurable(synchronous: synchronous) }
        try opening { try migrator?.migrate(writer) }
    }

    /// Requires that the steps that made the tables are all among these.
    private static func requireOwn(_ database: Database, _ migrator: DatabaseMigrator) throws {
        guard try migrator.hasBeenSuperseded(database) else { return }
        let isOther = try migrator.appliedIdentifiers(database).isDisjoint(with: migrator.migrations)
        throw isOther ? DurableOpenError.other : DurableOpenError.fromNewerVersion
    }

    private static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(options.busyTimeout)
        configuration.maximumReaderCount = 8
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA secure_delete = ON; \(options.settings)")
            #if canImport(Darwin)
                try database.execute(sql: "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
            #endif
            // Readers may not ask for it.
            if options.isShrinkable && !database.configuration.readonly {
                try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            }
        }
        return configuration
    }
}

/// Why a database was not opened. An operator has to act; a retry helps only if SQLite's code says that it was busy.
public enum DurableOpenError: Error, Hashable, Sendable {
    /// There is none.
    case missing
    /// There is one already.
    case exists
    /// The file could not be made; the `errno`.
    case file(code: Int32)
    /// SQLite failed with this extended result code.
    case database(code: Int32)
    /// A newer version of this program has changed its form.
    case fromNewerVersion
    /// Another program, or this one for something else, has made its tables.
    case other
    /// It does not wait for the disk: its `synchronous` is this and not 2 (FULL). A bug, or another SQLite.
    case notDurable(synchronous: Int)
    /// It is not a database that this program writes.
    case damaged

    /// What an error of the database library, or of the code that reads rows, means.
    package init(_ error: any Error) {
        switch error {
        case let error as DurableOpenError: self = error
        // A table or a column that is not there.
        case let error as DatabaseError where error.resultCode == .SQLITE_ERROR: self = .damaged
        case let error as DatabaseError: self = .database(code: error.extendedResultCode.rawValue)
        default: self = .damaged
        }
    }
}
