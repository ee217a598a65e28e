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

/// Changes that a device does not accept, and on which every later change has to build.
@Suite(.serialized) struct NoteRevertTests {
    private typealias Book = NoteBookTests
    private static let bob = Town.bob

    /// A member revises a note with a device, and revokes the device before others have fetched the revision.
    private static func revisionOfARemovedDevice(_ town: Town, _ server: PaperNoteServer) async throws -> NoteID {
        let note = try await Book.shared(town, server, body: "agreed")
        try await Book.edit(town, "phone", server, note, "the thief's")
        try await Book.sync(town, "phone", server)
        let desk = try await NoteStage(town, "bob", server)
        try await desk.book.prepareRemoval(of: 2, isKeepingKeys: true)
        _ = try await desk.client.revokeDevice(2, by: desk.secrets)
        try desk.close()
        expect(0, try await town.signet("alice", "people", "trust", bob, "--yes"))
        return note
    }

    /// A real server, whose log also holds the notes' heads.
    @Test func aRevisionOfARevokedDeviceIsRevertedAndTheMemberRemoved() async throws {
        try await Town.with { town in
            var note = ""
            try await town.serving { _ in
                let made = try await town.signet("alice", "notes", "new", "Plan", "agreed", "--json")
                note = try #require(try made.object()["note"] as? String)
                expect(0, try await town.signet("alice", "notes", "share", note, Self.bob, "--write"))
                expect(0, try await town.signet("phone", "notes", "sync"))
                expect(0, try await town.signet("phone", "notes", "edit", note, "the thief's"))
                expect(0, try await town.signet("bob", "devices", "revoke", "2"), "bob has no notes on this device")
            }
            // The log has the revision now: a server logs a root when it starts.
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "notes", "sync"), "the server withholds nothing")
                let page = try await town.signet("alice", "notes", "show", note)
                #expect(page.output.contains("agreed") && !page.output.contains("thief"), "\(page.output)")
                let unshare = try await town.signet("alice", "notes", "unshare", note, Self.bob)
                expect(2, unshare)
                #expect(unshare.errors.contains("signet notes revert"), "\(unshare.errors)")
                expect(0, try await town.signet("alice", "people", "trust", Self.bob, "--yes"), "the phone is gone")
                expect(0, try await town.signet("alice", "notes", "sync"))
                let again = try await town.signet("alice", "notes", "unshare", note, Self.bob)
                expect(1, again)
                #expect(again.errors.contains("signet notes revert"), "\(again.errors)")
                let edit = try await town.signet("alice", "notes", "edit", note, "agreed, and more")
                #expect(edit.errors.contains("signet notes revert"), "\(edit.errors)")

                let revert = try await town.signet("alice", "notes", "revert", note)
                expect(0, revert)
                #expect(revert.output.contains("1 change by \(Self.bob) reverted"), "\(revert.output)")
                expect(64, try await town.signet("alice", "notes", "revert", note), "there is no change left")
                let after = try await town.signet("alice", "notes", "show", note, "--json").object()
                #expect(after["body"] as? String == "agreed, and more", "the waiting edit is sent")
                #expect(after["trouble"] is NSNull && after["waiting"] as? Bool == false, "\(after)")
                expect(0, try await town.signet("alice", "notes", "unshare", note, Self.bob))
                expect(0, try await town.signet("alice", "notes", "rm", note, "--yes"))
            }
        }
    }

    @Test func aRevertedRevisionStaysInTheHistoryOfAllMembers() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.revisionOfARemovedDevice(town, server)
            let thief = try #require(server.state.notes[note]?.revisions.last?.author)
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                #expect(try await book.facts(note).fault == .revisions(.noAuthority(number: 2)))
                #expect(try await book.revert(note) == [thief])
            }
            for home in ["alice", "bob"] {
                try await NoteStage.with(town, home, server) { book in
                    _ = try await book.sync()
                    let facts = try await book.facts(note)
                    #expect(Book.body(facts) == "agreed" && facts.fault == nil, "\(home)")
                    let old = try await book.document(note, revision: 2)
                    #expect(old.body == Book.bytes("the thief's"), "\(home)")
                }
            }
        }
    }

    /// Alice does not accept bob's device, and reverts its revision without accepting it.
    @Test func aRevisionOfAnUnacceptedDeviceCanBeReverted() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Book.shared(town, server, body: "agreed")
            try await town.addDeviceOfBob("tablet")
            for home in ["bob", "tablet", "bob", "tablet"] { try await Book.sync(town, home, server) }
            try await Book.edit(town, "tablet", server, note, "by the tablet")
            try await Book.sync(town, "tablet", server)
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                #expect(try await book.facts(note).fault == .changedKeys(Book.handle(Self.bob)))
                await #expect(throws: NotesError.locked(.changedKeys(try Book.handle(Self.bob)))) {
                    try await book.rekey(note)
                }
                try await book.revert(note)
                try await book.rekey(note)
                #expect(try await Book.body(book.facts(note)) == "agreed")
            }
        }
    }

    /// A reader cannot add a revision to the history, even with the server's help.
    @Test func aRevisionOfAReaderIsNotTakenIntoTheHistory() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                let note = try await book.create(title: Book.bytes("Note"), body: Book.bytes("agreed"))
                try await book.share(note, with: Book.handle(Self.bob), as: .reader)
                _ = try await book.sync()
                return note
            }
            try await Book.sync(town, "bob", server)
            try await NoteStage.with(town, "bob", server) { book in
                let held = try await book.heldNote(note)
                var document = try await book.content(of: held)
                document.body = Book.bytes("a reader's")
                let revision = try await book.seal(document, into: held)
                server.state.feeds[try Book.handle(Town.alice), default: []].append(.revision(revision))
            }
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                await #expect(throws: NotesError.locked(.revisions(.mayNotWrite(number: 2)))) {
                    try await book.revert(note)
                }
                #expect(try await Book.body(book.facts(note)) == "agreed")
            }
        }
    }

    @Test func revert_isRefusedWithoutAChangeOrMembership() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Book.shared(town, server, body: "agreed")
            try await Book.sync(town, "alice", server)
            for home in ["alice", "bob"] {
                try await NoteStage.with(town, home, server) { book in
                    await #expect(throws: NotesError.nothingToRevert) { try await book.revert(note) }
                }
            }
            try await NoteStage.with(town, "alice", server) { try await $0.unshare(note, from: Book.handle(Self.bob)) }
            try await NoteStage.with(town, "bob", server) { book in
                await #expect(throws: NotesError.isGone) { try await book.revert(note) }
            }
        }
    }
}
