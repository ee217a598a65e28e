// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import KeyTransparency
import NoteLog
import SignetClient
import SignetTesting
import Testing

@testable import NotesClient

/// An attacker who can write the file of the notes, but cannot open the keystore, gains nothing by the codes in it.
@Suite(.serialized) struct StoreSealTests {
    private typealias Book = NoteBookTests

    /// A sent note of alice, and the seal that makes the code of its revision.
    private static func note(_ town: Town, _ server: PaperNoteServer) async throws -> (NoteID, StoreSeal) {
        let desk = try await NoteStage(town, "alice", server)
        _ = try await desk.book.sync()
        let note = try await desk.book.create(title: Book.bytes("Note"), body: Book.bytes("one"))
        _ = try await desk.book.sync()
        let seal = try StoreSeal(desk.secrets)
        try desk.close()
        return (note, seal)
    }

    private static func change(_ town: Town, _ change: (Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: town["alice"].path() + "/notes.sqlite")
        try queue.write(change)
        try queue.close()
    }

    private static func body(_ town: Town, _ server: PaperNoteServer, _ note: NoteID) async throws -> String? {
        try await NoteStage.with(town, "alice", server) { book in
            let facts = try await book.facts(note)
            return Book.body(facts)
        }
    }

    private static let revision = "kind = \(RecordKind.revision.rawValue)"

    /// The signature of the stored revision broken.
    private static func broken(_ db: Database) throws -> Data {
        var bytes = try #require(try Data.fetchOne(db, sql: "SELECT bytes FROM record WHERE \(revision)"))
        bytes[bytes.count - 1] ^= 1
        return bytes
    }

    @Test func aChangedRecordIsRefusedWithAnyCode() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let (note, seal) = try await Self.note(town, server)
            let control = "kind = \(RecordKind.control.rawValue)"
            var good: (bytes: Data, code: Data)?
            try Self.change(town) { db in
                let row = try #require(
                    try Row.fetchOne(db, sql: "SELECT bytes, code FROM record WHERE \(Self.revision)"))
                good = (row[0], row[1])
                let other = try Data.fetchOne(db, sql: "SELECT code FROM record WHERE \(control)")
                #expect(other != nil && other != good?.code)
            }
            let codes = [
                "code", "NULL", "x''", "zeroblob(32)", "(SELECT code FROM record WHERE \(control))",
                "(SELECT CAST(code || x'00' AS BLOB) FROM record WHERE \(Self.revision))",
            ]
            for code in codes {
                try Self.change(town) { db in
                    try db.execute(
                        sql: "UPDATE record SET bytes = ?, code = \(code) WHERE \(Self.revision)",
                        arguments: [try Self.broken(db)])
                }
                await #expect(throws: NotesError.store(.damaged), "\(code)") {
                    try await Self.body(town, server, note)
                }
                try Self.change(town) { db in
                    try db.execute(
                        sql: "UPDATE record SET bytes = ?, code = ? WHERE \(Self.revision)",
                        arguments: [good?.bytes, good?.code])
                }
                #expect(try await Self.body(town, server, note) == "one")
            }
            // An attacker with the keystore can make a code: then there is nothing left to protect.
            try Self.change(town) { db in
                let bytes = try Self.broken(db)
                try db.execute(
                    sql: "UPDATE record SET bytes = ?, code = ? WHERE \(Self.revision)",
                    arguments: [bytes, Data(seal.code(of: Array(bytes), .revision))])
            }
            #expect(try await Self.body(town, server, note) == "one", "the signature is not checked again")
        }
    }

    @Test func aCodeIsValidForOneKindAndOneDevice() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let desks = try await [NoteStage(town, "bob", server), NoteStage(town, "phone", server)]
            let seals = try desks.map { try StoreSeal($0.secrets) }
            let code = seals[0].code(of: [1, 2], .control)
            #expect(seals[0].isCode(code, of: [1, 2], .control))
            #expect(!seals[1].isCode(code, of: [1, 2], .control))
            #expect(!seals[0].isCode(code, of: [1, 2], .leaving) && !seals[0].isCode(code, of: [1, 3], .control))
            #expect(!seals[0].isCode([], of: [1, 2], .control))
            for desk in desks { try desk.close() }
        }
    }

    /// A file of an earlier version has no codes.
    @Test func recordsWithoutACodeAreVerified() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let (note, _) = try await Self.note(town, server)
            try Self.change(town) { db in
                try db.execute(sql: "ALTER TABLE record DROP COLUMN code; ALTER TABLE outbox DROP COLUMN code")
                try db.execute(sql: "UPDATE record SET is_accepted = 0 WHERE kind > 3; PRAGMA user_version = 2")
            }
            #expect(try await Self.body(town, server, note) == "one")
            try Self.change(town) { db in
                let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM record WHERE is_accepted = 0")
                #expect(count == 0)
            }
        }
    }
}
