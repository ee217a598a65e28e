// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import Testing

/// Properties of every database file.
@Suite struct DurableDatabaseTests {
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: words") { try $0.execute(sql: "CREATE TABLE words (word TEXT NOT NULL)") }
        return migrator
    }

    private func withPath(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "durable-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/file.sqlite")
    }

    /// Of a connection: whether it waits for the disk, overwrites, and can give pages back.
    private func settings(_ database: Database) throws -> [Int?] {
        try ["synchronous", "secure_delete", "auto_vacuum"].map { try Int.fetchOne(database, sql: "PRAGMA \($0)") }
    }

    @Test func poolsAndQueuesSynchronizeAndOverwriteDeletedRows() throws {
        try withPath { path in
            let pool = try DurableDatabase.pool(at: path, Self.migrator)
            #expect(try pool.writeWithoutTransaction(settings) == [2, 1, 0])
            try pool.close()
            let queue = try DurableDatabase.queue(at: path, Self.migrator, origin: .kept)
            #expect(try queue.read(settings) == [2, 1, 0])
        }
        try withPath { path in
            let queue = try DurableDatabase.queue(at: path, nil)
            #expect(try queue.read(settings) == [2, 1, 0])
        }
    }

    @Test func onlyAShrinkableFileUsesAutoVacuum() throws {
        try withPath { path in
            var options = DurableDatabase.Options()
            options.isShrinkable = true
            let pool = try DurableDatabase.pool(at: path, Self.migrator, options: options)
            #expect(try pool.writeWithoutTransaction(settings) == [2, 1, 2])
            #expect(try pool.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") } == 2)
        }
    }

    @Test func open_refusesADatabaseOfANewerProgram() throws {
        try withPath { path in
            var newer = Self.migrator
            newer.registerMigration("2: from the future") { try $0.execute(sql: "ALTER TABLE words ADD COLUMN tongue") }
            try DurableDatabase.pool(at: path, newer).close()
            #expect(throws: DurableOpenError.fromNewerVersion) { try DurableDatabase.pool(at: path, Self.migrator) }
            #expect(throws: DurableOpenError.fromNewerVersion) { try DurableDatabase.queue(at: path, Self.migrator) }
        }
    }

    @Test func open_createsAPrivateFileOnlyIfItMay() throws {
        try withPath { path in
            #expect(throws: DurableOpenError.missing) {
                try DurableDatabase.pool(at: path, Self.migrator, origin: .kept)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            try DurableDatabase.pool(at: path, Self.migrator, origin: .new).close()
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.uint16Value == 0o600)
            #expect(throws: DurableOpenError.exists) { try DurableDatabase.pool(at: path, Self.migrator, origin: .new) }
            #expect(throws: Never.self) { try DurableDatabase.queue(at: path, Self.migrator, origin: .kept) }
        }
    }

    @Test func open_refusesAFileThatIsNoDatabase() throws {
        try withPath { path in
            try Data("no database, but long enough to be looked at as if it were one".utf8).write(
                to: URL(filePath: path))
            #expect(throws: DurableOpenError.self) { try DurableDatabase.queue(at: path, Self.migrator) }
        }
    }
}
