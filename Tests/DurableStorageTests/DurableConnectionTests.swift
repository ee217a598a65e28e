// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import Testing

/// A database that is closed while it is in use: a late use is refused, and one that has begun is finished.
@Suite struct DurableConnectionTests {
    private func withQueue(_ body: (DurableQueue) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "queue-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let queue = try DurableDatabase.queue(at: folder + "/file.sqlite", nil)
        try await queue.write { try $0.execute(sql: "CREATE TABLE numbers (number INTEGER NOT NULL)") }
        try await body(queue)
    }

    private func isMisuse(_ use: () async throws -> Void) async -> Bool {
        do { try await use() } catch let error as DatabaseError { return error.resultCode == .SQLITE_MISUSE } catch {}
        return false
    }

    @Test func aUseAfterClosingIsRefused() async throws {
        try await withQueue { queue in
            try queue.close()
            #expect(await isMisuse { _ = try await queue.read { try Int.fetchOne($0, sql: "SELECT 1") } })
            #expect(await isMisuse { try await queue.write { try $0.execute(sql: "DELETE FROM numbers") } })
            #expect(await isMisuse { try Self.useWithoutWaiting(queue) })
            try queue.close()
        }
    }

    private static func useWithoutWaiting(_ queue: DurableQueue) throws {
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT 1") }
    }

    @Test func aUseThatHasBegunIsFinished() async throws {
        try await withQueue { queue in
            let count = try await queue.write { database in
                try queue.close()
                try database.execute(sql: "INSERT INTO numbers VALUES (1)")
                return try Int.fetchOne(database, sql: "SELECT count(*) FROM numbers")
            }
            #expect(count == 1)
            #expect(await isMisuse { _ = try await queue.read { try Int.fetchOne($0, sql: "SELECT 1") } })
        }
    }

    private func withPool(_ body: (DurablePool) async throws -> Void) async throws {
        try await withPool { pool, _ in try await body(pool) }
    }

    private func withPool(_ body: (DurablePool, _ path: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "pool-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let pool = try DurableDatabase.pool(at: folder + "/file.sqlite", DatabaseMigrator())
        try await pool.write { try $0.execute(sql: "CREATE TABLE numbers (number INTEGER NOT NULL)") }
        try await body(pool, folder + "/file.sqlite")
    }

    /// The server's databases are closed while requests may still be answered.
    @Test func aUseOfAPoolAfterClosingIsRefused() async throws {
        try await withPool { pool in
            try pool.close()
            #expect(await isMisuse { _ = try await pool.read { try Int.fetchOne($0, sql: "SELECT 1") } })
            #expect(await isMisuse { try await pool.write { try $0.execute(sql: "DELETE FROM numbers") } })
            #expect(await isMisuse { _ = try await pool.barrierWriteWithoutTransaction { try $0.checkpoint() } })
            #expect(await isMisuse { try pool.writeWithoutTransaction { try $0.execute(sql: "SELECT 1") } })
            #expect(await isMisuse { try pool.vacuum() })
            try pool.close()
        }
    }

    /// A reader beside the writer goes on, and the file is closed after both.
    @Test func usesOfAPoolThatHaveBegunAreFinished() async throws {
        try await withPool { pool in
            let counts = try await pool.read { database in
                try pool.write { try $0.execute(sql: "INSERT INTO numbers VALUES (1)") }
                try pool.close()
                return try Int.fetchOne(database, sql: "SELECT count(*) FROM numbers")
            }
            #expect(counts == 0, "the state of when it began")
            #expect(await isMisuse { _ = try await pool.read { try Int.fetchOne($0, sql: "SELECT 1") } })
        }
    }

    /// What becomes of the file under the pool.
    enum Loss: CaseIterable {
        case moved, replaced, folderMoved
    }

    private func isRefused(_ use: () async throws -> Void) async -> Bool {
        do { try await use() } catch let error as DatabaseError {
            return error.extendedResultCode == .SQLITE_READONLY_DBMOVED
        } catch {}
        return false
    }

    /// It would be gone with the process, and a copy of the open files would lack it.
    @Test(arguments: Loss.allCases) func nothingIsWrittenWhileTheFileIsAway_andThePoolGoesOnWhenItIsBack(
        _ loss: Loss
    ) async throws {
        try await withPool { pool, path in
            let (files, folder) = (FileManager.default, String(path.dropLast("/file.sqlite".count)))
            let (from, to) = loss == .folderMoved ? (folder, folder + ".away") : (path, path + ".away")
            try await pool.write { try $0.execute(sql: "INSERT INTO numbers VALUES (1)") }
            try #require(rename(from, to) == 0)
            if loss == .replaced { try files.copyItem(atPath: to, toPath: from) }
            #expect(await isRefused { try await pool.write { try $0.execute(sql: "DELETE FROM numbers") } })
            #expect(await isRefused { try Self.writeWithoutWaiting(pool) })
            #expect(await isRefused { try pool.writeWithoutTransaction { try $0.execute(sql: "SELECT 1") } })
            #expect(await isRefused { _ = try await pool.barrierWriteWithoutTransaction { try $0.checkpoint() } })
            #expect(await isRefused { try pool.vacuum() })
            let reading = await isRefused { _ = try await pool.read { try Int.fetchOne($0, sql: "SELECT 1") } }
            #expect(reading == (loss == .replaced), "another file would be read")
            if loss == .replaced { try files.removeItem(atPath: from) }
            try #require(rename(to, from) == 0)
            try await pool.write { try $0.execute(sql: "INSERT INTO numbers VALUES (2)") }
            #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT sum(number) FROM numbers") } == 3)
            try pool.close()
        }
    }

    private static func writeWithoutWaiting(_ pool: DurablePool) throws {
        try pool.write { try $0.execute(sql: "DELETE FROM numbers") }
    }
}
