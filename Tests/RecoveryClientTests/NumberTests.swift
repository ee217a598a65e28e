// SPDX-License-Identifier: Apache-2.0

import Crypto
import EngineLab
import Foundation
import KeyTransparency
import SQLStores
import SignetAPI
import Testing

@testable import RecoveryStore

/// Whoever asks for what comes after the last number it saw misses nothing, although several write at once.
@Suite struct NumberTests {
    private let ana: Handle
    private let ben: Handle
    private let request = [UInt8](repeating: 9, count: 32)
    private let secret = [UInt8](repeating: 8, count: 32)

    init() throws {
        ana = try Handle(typed: Array("ana@example.org".utf8))
        ben = try Handle(typed: Array("ben@example.org".utf8))
    }

    private func draft(_ byte: UInt8) -> RecoveryLetter.Draft {
        RecoveryLetter.Draft(to: ben, body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount))
    }

    private func answer(_ byte: UInt8) -> RecoveryAnswer {
        RecoveryAnswer(
            to: request, body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount), from: ana,
            signing: { _ in [UInt8](repeating: 0, count: 64) })
    }

    /// One transaction has written and is not at its end; another writes and ends before it if the engine lets it; the reader looks
    /// all the time, and goes on from the last number.
    private func interleave(
        _ first: any SQLDatabase, _ second: any SQLDatabase,
        write: @escaping @Sendable (UInt8, SQLTransaction) throws -> Void,
        read: (UInt64) async throws -> RecoveryLetterList
    ) async throws -> [UInt8] {
        let (hasWritten, end) = (Gate(), Gate())
        async let slow: Void = first.write { database in
            try write(1, database)
            hasWritten.open()
            end.wait()
        }
        while !hasWritten.isOpen { await Task.yield() }
        async let quick: Void = second.write { try write(2, $0) }
        var seen: [RecoveryLetter] = []
        for _ in 0..<100 { seen += try await read(seen.last?.number ?? 0).letters }
        end.open()
        _ = try await (slow, quick)
        for _ in 0..<2 { seen += try await read(seen.last?.number ?? 0).letters }
        #expect(seen.map(\.number) == seen.map(\.number).sorted())
        return seen.map { $0.body[0] }.sorted()
    }

    @Test(arguments: LabEngine.present) func twoWritersToOneMailboxHideNoLetter(engine: LabEngine) async throws {
        let mailboxes = try LabPlace(on: engine)
        let first = try mailboxes.open(RecoverySchema.schema)
        let store = MailboxStore(database: first)
        let (ana, ben, draft) = (ana, ben, draft)
        let seen = try await interleave(first, mailboxes.open(RecoverySchema.schema, beside: first)) { byte, database in
            try MailboxStore.insert(draft(byte), from: ana.bytes, isFriend: true, at: 1, in: database)
        } read: {
            try await store.letters(to: ben, after: $0)
        }
        #expect(seen == [1, 2])
        store.close()
    }

    @Test(arguments: LabEngine.present) func twoGuardiansWhoAnswerAtOnceAreBothHeard(engine: LabEngine) async throws {
        let (ana, ben, answer, request, secret) = (ana, ben, answer, request, secret)
        let mailboxes = try LabPlace(on: engine)
        let first = try mailboxes.open(RecoverySchema.schema)
        let store = MailboxStore(database: first)
        _ = try await first.write { database in
            try database.run(
                """
                INSERT INTO requests (owner, hash, number, box, commitment, request, network, time)
                VALUES (?, ?, 1, ?, ?, ?, ?, 1)
                """, [ben.bytes, request, Array(SHA256.hash(data: secret)), [UInt8](), [UInt8](), [UInt8]()])
        }
        let seen = try await interleave(first, mailboxes.open(RecoverySchema.schema, beside: first)) { byte, database in
            try MailboxStore.insert(answer(byte), from: ana.bytes, at: 1, in: database)
        } read: { number in
            try await first.read { database in
                try MailboxStore.list(
                    database, "SELECT number, sender, time, body FROM answers WHERE request = ? AND number > ?",
                    [request, Int64(clamping: number)])
            }
        }
        #expect(seen == [1, 2])
        store.close()
    }

    /// Dropped letters leave no number behind that another letter gets.
    @Test(arguments: LabEngine.present) func aNumberIsGivenOnce(engine: LabEngine) async throws {
        let store = MailboxStore(database: try LabPlace(on: engine).open(RecoverySchema.schema))
        var last: UInt64 = 0
        for byte: UInt8 in 1...3 {
            #expect(try await store.keep(draft(byte), from: ana, isFriend: true, at: 1) == .taken)
            let letters = try await store.letters(to: ben, after: last).letters
            #expect(letters.map { $0.body[0] } == [byte])
            last = try #require(letters.last).number
            try await store.drop(RecoveryDrop([last]), to: ben)
        }
        store.close()
    }

    /// A file in which numbers were rows': a letter and an answer that are there keep theirs, and a reader that saw others, which are gone,
    /// sees those that come.
    @Test func numbersOfAnOlderStoreGoOn() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString).sqlite").path
        defer {
            for name in [path, path + "-wal", path + "-shm"] { try? FileManager.default.removeItem(atPath: name) }
        }
        let older = try SQLiteDatabase(at: path, SQLSchema("recovery", Array(RecoverySchema.schema.steps.prefix(4))))
        try await older.write { database in
            for _ in 0..<9 {
                try database.run(
                    "INSERT INTO letters (recipient, sender, time, body) VALUES (?, ?, 1, ?)",
                    [ben.bytes, ana.bytes, draft(7).encoded])
                try database.run(
                    "INSERT INTO answers (request, sender, time, body) VALUES (?, ?, 1, ?)",
                    [request, ana.bytes, answer(7).body])
            }
            try database.run(
                """
                INSERT INTO requests (owner, hash, number, box, commitment, request, network, time)
                VALUES (?, ?, 1, ?, ?, ?, ?, 1)
                """, [ben.bytes, request, Array(SHA256.hash(data: secret)), [UInt8](), [UInt8](), [UInt8]()])
            try database.run("DELETE FROM letters WHERE id <> 4")
            try database.run("DELETE FROM answers WHERE id <> 4")
        }
        older.close()
        let store = try MailboxStore(at: path)
        #expect(try await store.letters(to: ben, after: 0).letters.map(\.number) == [4])
        _ = try await store.keep(draft(1), from: ana, isFriend: true, at: 1)
        #expect(try await store.letters(to: ben, after: 9).letters.map { $0.body[0] } == [1])
        try await store.write { try MailboxStore.insert(answer(1), from: ana.bytes, at: 1, in: $0) }
        func answers(after number: UInt64) async throws -> [UInt64]? {
            let collection = RecoveryCollection(request: request, secret: secret, after: number, reveals: [])
            return try await store.answers(collection)?.letters.map(\.number)
        }
        #expect(try await answers(after: 0) == [4, 10])
        #expect(try await answers(after: 9) == [10])
        store.close()
    }

    /// What was erased is in no file any more, not even in the write-ahead file.
    @Test func erase_leavesNoCopyInAFile() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString).sqlite").path
        let files = [path, path + "-wal"]
        defer { for name in files + [path + "-shm"] { try? FileManager.default.removeItem(atPath: name) } }
        func holds(_ handle: Handle) -> Bool {
            files.contains { FileManager.default.contents(atPath: $0)?.range(of: Data(handle.bytes)) != nil }
        }
        let store = try MailboxStore(at: path)
        _ = try await store.keep(draft(1), from: ana, isFriend: true, at: 1)
        #expect(holds(ana) && holds(ben))
        try await store.erase(ben)
        #expect(!holds(ana) && !holds(ben), "a letter names both")
        store.close()
    }
}
