// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient
import SignetTesting
import Testing

@testable import NotesClient

/// A note's text from before a member was added: the member reads it only if the owner chooses so.
@Suite(.serialized) struct NoteHistoryTests {
    private typealias Book = NoteBookTests

    private static func text(_ book: NoteBook<SQLiteStore>, _ note: NoteID, _ number: UInt64) async throws -> String {
        String(decoding: try await book.document(note, revision: number).body, as: UTF8.self)
    }

    /// Revision 1 and a comment are in epoch 1, and revision 3 in epoch 2; revisions 2 and 4 begin epochs 2 and 3.
    private static func threeEpochs(_ town: Town, _ server: PaperNoteServer) async throws -> NoteID {
        try await NoteStage.with(town, "alice", server) { book in
            _ = try await book.sync()
            let note = try await book.create(title: Book.bytes("Note"), body: Book.bytes("one"))
            try await book.comment(Book.bytes("hm"), on: note)
            _ = try await book.sync()
            try await book.rekey(note)
            try await book.edit(note) { $0.body = Book.bytes("two") }
            _ = try await book.sync()
            try await book.rekey(note)
            return note
        }
    }

    private static func share(
        _ town: Town, _ server: PaperNoteServer, _ note: NoteID, as role: NoteRole = .reader, withHistory: Bool
    ) async throws {
        try await NoteStage.with(town, "alice", server) { book in
            try await book.share(note, with: Book.handle(Town.bob), as: role, withHistory: withHistory)
        }
    }

    /// Expects that a home reads the last epoch, and none of the earlier ones.
    private static func expectOnlyTheLast(
        _ town: Town, _ home: String, _ server: PaperNoteServer, _ note: NoteID
    ) async throws {
        try await NoteStage.with(town, home, server) { book in
            _ = try await book.sync()
            #expect(try await Book.body(book.facts(note)) == "two", "\(home)")
            for (number, epoch) in [(1, 1), (2, 2), (3, 2)] as [(UInt64, UInt32)] {
                await #expect(throws: NotesError.locked(.noKey(epoch: epoch)), "\(home) \(number)") {
                    try await book.document(note, revision: number)
                }
            }
            #expect(try await book.facts(note).comments.isEmpty, "\(home)")
        }
    }

    @Test func aNewReaderGetsTheHistoryOnlyIfTheOwnerChoosesSo() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.threeEpochs(town, server)
            try await Self.share(town, server, note, withHistory: false)
            // The one device's keys are handed to the other.
            for home in ["bob", "phone", "bob"] { try await Self.expectOnlyTheLast(town, home, server, note) }
            try await Self.share(town, server, note, as: .writer, withHistory: true)
            for home in ["bob", "phone", "bob"] {
                try await NoteStage.with(town, home, server) { book in
                    _ = try await book.sync()
                    #expect(try await Self.text(book, note, 1) == "one", "\(home)")
                    #expect(try await Self.text(book, note, 3) == "two", "\(home)")
                    #expect(try await book.facts(note).comments.map(\.text) == [Book.bytes("hm")], "\(home)")
                }
            }
            let wraps = server.state.notes[note]?.wraps.map(\.header.form) ?? []
            #expect(wraps.count == 4 && wraps.suffix(2).allSatisfy { $0 == .keyAndOlderKeys }, "\(wraps)")
        }
    }

    /// The server has the wraps of earlier keys for alice's devices, and gives them to a member who was to get the last
    /// key only.
    @Test func aServerCannotGiveTheHistoryToAMemberWithoutIt() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.threeEpochs(town, server)
            try await Self.share(town, server, note, withHistory: false)
            var state = server.state
            let alices = (state.feeds[try Book.handle(Town.alice)] ?? []).filter {
                if case .ownWrap = $0 { true } else { false }
            }
            #expect(alices.count >= 3)
            state.feeds[try Book.handle(Town.bob), default: []] += alices
            server.state = state
            for home in ["bob", "phone"] { try await Self.expectOnlyTheLast(town, home, server, note) }
        }
    }

    /// A member with the history is removed; later records stay closed to them, with all that the server has.
    @Test func theHistoryOpensNoLaterRecordForARemovedMember() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.threeEpochs(town, server)
            try await Self.share(town, server, note, withHistory: true)
            for home in ["bob", "phone"] { try await Book.sync(town, home, server) }
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: Book.handle(Town.bob))
                try await book.edit(note) { $0.body = Book.bytes("after") }
                _ = try await book.sync()
            }
            var state = server.state
            let there = try #require(state.notes[note])
            state.feeds[try Book.handle(Town.bob), default: []] +=
                there.control.map { .control($0.entry, children: $0.children) }
                + there.revisions.map { .revision($0) } + there.wraps.map { .wrap($0) }
            server.state = state
            for home in ["bob", "phone"] {
                try await NoteStage.with(town, home, server) { book in
                    _ = try await book.sync()
                    #expect(try await Self.text(book, note, 1) == "one", "he keeps the keys that he was given")
                    #expect(try await Book.body(book.facts(note)) == "two")
                    for number in UInt64(5)...6 {
                        await #expect(throws: NotesError.self) { try await book.document(note, revision: number) }
                    }
                }
            }
        }
    }

    /// Alice has made bob the owner, who never had the first keys: he gives only the key that he has.
    @Test func anOwnerGivesOnlyTheKeysThatTheyHave() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.threeEpochs(town, server)
            try await Self.share(town, server, note, as: .writer, withHistory: false)
            try await Book.sync(town, "bob", server)
            try await NoteStage.with(town, "alice", server) { try await $0.transfer(note, to: Book.handle(Town.bob)) }
            try await NoteStage.with(town, "bob", server) { book in
                _ = try await book.sync()
                try await book.unshare(note, from: Book.handle(Town.alice))
                let alice = try Book.handle(Town.alice)
                try await book.share(note, with: alice, as: .reader, withHistory: true)
                let wraps = server.state.notes[note]?.wraps.filter { $0.header.recipient.handle == alice } ?? []
                #expect(wraps.map(\.header.form) == [.keyAndOlderKeys], "one key, of the third epoch")
            }
        }
    }

    /// A real server, and the programs.
    @Test func theCommandSharesTheHistory() async throws {
        try await Town.withServer { town, _ in
            let made = try await town.signet("alice", "notes", "new", "Plan", "one", "--json")
            let note = try #require(try made.object()["note"] as? String)
            expect(0, try await town.signet("alice", "notes", "rekey", note))
            expect(0, try await town.signet("alice", "notes", "edit", note, "two"))
            let shared = try await town.signet("alice", "notes", "share", note, Town.bob, "--with-history")
            expect(0, shared)
            #expect(shared.output.contains("and what it said before"), "\(shared.output)")
            expect(0, try await town.signet("bob", "notes", "sync"))
            let page = try await town.signet("bob", "notes", "show", note, "--revision", "1")
            #expect(page.output.contains("one"), "\(page.output) \(page.errors)")
        }
    }
}
