// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import Testing

/// Copies of databases that a process has open, and reading that leaves no file behind.
@Suite struct DatabaseCopyTests {
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: pairs") { database in
            try database.execute(sql: "CREATE TABLE pairs (one INTEGER NOT NULL, other INTEGER NOT NULL)")
        }
        return migrator
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "copy-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    /// How many pairs there are, all of which are whole.
    private func pairs(_ path: String) throws -> Int {
        try DurableDatabase.read(path) { database in
            let broken = try Int.fetchOne(database, sql: "SELECT count(*) FROM pairs WHERE one <> other")
            #expect(broken == 0)
            return try Int.fetchOne(database, sql: "SELECT count(*) FROM pairs") ?? -1
        }
    }

    @Test func copiesBesideAWriterAreSoundAndNeedNoOtherFile() async throws {
        try await withFolder { folder in
            let pool = try DurableDatabase.pool(at: folder + "/a.sqlite", Self.migrator)
            async let written: Void = write(200, to: pool)
            for number in 0..<10 {
                let copy = folder + "/copy\(number).sqlite"
                try DurableDatabase.copy(folder + "/a.sqlite", to: copy)
                #expect(try DurableDatabase.isSound(copy))
                _ = try pairs(copy)
                let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == 0o600)
                await Task.yield()
            }
            try await written
            try DurableDatabase.copy(folder + "/a.sqlite", to: folder + "/last.sqlite")
            #expect(
                try pairs(folder + "/last.sqlite") == 200, "rows that are only in the write-ahead file are copied too")
            try pool.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!names.contains { $0.hasPrefix("copy") && !$0.hasSuffix(".sqlite") })
        }
    }

    private func write(_ count: Int, to pool: DurablePool) async throws {
        for number in 0..<count {
            try await pool.write { database in
                try database.execute(sql: "INSERT INTO pairs VALUES (\(number), 0)")
                try database.execute(sql: "UPDATE pairs SET other = one WHERE one = \(number)")
            }
        }
    }

    @Test func copy_refusesAnExistingTargetAndAMissingSource() async throws {
        try await withFolder { folder in
            try DurableDatabase.pool(at: folder + "/a.sqlite", Self.migrator).close()
            try Data([1]).write(to: URL(filePath: folder + "/b.sqlite"))
            #expect(throws: DurableOpenError.exists) {
                try DurableDatabase.copy(folder + "/a.sqlite", to: folder + "/b.sqlite")
            }
            #expect(throws: DurableOpenError.missing) {
                try DurableDatabase.copy(folder + "/c.sqlite", to: folder + "/d.sqlite")
            }
            #expect(throws: DurableOpenError.missing) { try DurableDatabase.isSound(folder + "/c.sqlite") }
        }
    }

    @Test func read_changesNoFile() async throws {
        try await withFolder { folder in
            let pool = try DurableDatabase.pool(at: folder + "/a.sqlite", Self.migrator)
            try await write(3, to: pool)
            try pool.close()
            let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let bytes = try Data(contentsOf: URL(filePath: folder + "/a.sqlite"))
            #expect(try pairs(folder + "/a.sqlite") == 3)
            #expect(try DurableDatabase.isSound(folder + "/a.sqlite"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
            #expect(try Data(contentsOf: URL(filePath: folder + "/a.sqlite")) == bytes)
        }
    }
}
