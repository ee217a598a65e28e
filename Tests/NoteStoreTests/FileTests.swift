// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logging
import NoteLog
import NotesAPI
import ProtocolTesting
import SQLStores
import Testing

@testable import NoteStore

/// What holds of an SQLite file alone: the room of erased data is given back, and files of older programs are read.
@Suite struct FileTests {
    let alice, bob: NoteWriter

    init() throws { (alice, bob) = try (NoteWriter("alice"), NoteWriter("bob")) }

    private func upload(_ draft: NoteDraft, _ blob: BlobID, first: UInt32, count: Int) throws -> ChunkUpload {
        try ChunkUpload(
            note: draft.note, blob: blob, first: first,
            chunks: (0..<count).map { _ in NoteDraft.bytes(ChunkUpload.chunkByteCount) })
    }

    @Test func theRoomOfADroppedFileIsGivenBackToTheDisk() async throws {
        let file = try StoreFile()
        let folder = try StoreFolder(in: file)
        let draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        let blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
        for first in stride(from: UInt32(0), to: 32, by: 4) {
            #expect(
                try await folder.store.put(upload(draft, blob, first: first, count: 4), by: alice.handle) == .applied)
        }
        let removal = BlobRemoval(note: draft.note, blob: blob)
        #expect(try await folder.store.drop(removal, by: alice.handle) == .applied)
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
        #expect(try #require(size).intValue < 4 * ChunkUpload.chunkByteCount)
    }

    /// Made by an older program: alice wrote a note and shared it, bob read and commented.
    @Test func aDatabaseOfAnOlderProgramIsMigrated() async throws {
        let dump = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Vectors/old/notes-1.sql").standardized
        let folder = FileManager.default.temporaryDirectory.appending(component: "notes-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/notes.sqlite"
        // In the dump, rows come before the rows that they refer to.
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let old = try DatabaseQueue(path: path, configuration: configuration)
        let sql = try String(contentsOf: dump, encoding: .utf8)
        try old.inDatabase { try $0.execute(sql: sql) }
        try old.close()
        let store = try NoteArchive(at: path, clock: { 1_900_000_000 }, logger: Logger(label: "test"))
        let answer = try await FeedAnswer(decoding: store.pull(FeedRequest(cursor: 0, limit: 100), of: alice.handle))
        guard case .page(let page) = answer else { throw Missing() }
        #expect(page.entries.count == 7)
        let bytes = try await store.database.read(Self.used)
        // The notes of the account's head count now: 21 bytes of format, 4 of count, 96 for the one note.
        #expect(bytes == [3008 + 3 * 96 + 121, 861 + 96 + 121] as [Int64])
        // Old names of pushes are removed, and no longer charged.
        try await store.erase(bob.handle, keepsPlace: true)
        #expect(try await store.database.read(Self.used).allSatisfy { $0 >= 0 })
        store.close()
        let mode = try await DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") }
        #expect(mode == 2)
    }

    @Sendable private static func used(_ database: SQLTransaction) throws -> [Int64] {
        try database.rows("SELECT bytes FROM accounts ORDER BY id").map { try $0.integer(0) }
    }

    /// What tests compare of a store is all of it.
    @Test func theDumpOfATestHasEveryTable() throws {
        let file = try StoreFile()
        try file.open().close()
        let tables = try DatabaseQueue(path: file.path).read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table'
                    AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'grdb_%' ORDER BY name
                    """)
        }
        #expect(tables == StoreFolder.tables)
    }
}
