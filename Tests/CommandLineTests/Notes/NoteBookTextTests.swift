// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetAPI
import SignetClient
import SignetTesting
import Testing

@testable import NotesClient

/// The functions of a note book that take text and dates.
@Suite struct NoteBookTextTests {
    @Test func textAndDatesAreKeptAsTheyWereGiven() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                let begun = Date(timeIntervalSince1970: 1_700_000_000.75)
                let note = try await book.create(
                    title: "Crème" as String, body: "☕ and bread", tags: ["café"], created: begun)
                try await book.comment("très bien" as String, on: note)
                let file = NoteBookTests.bytes("a file")
                try await book.attach(
                    name: "menü.txt" as String, mediaType: "text/plain", byteCount: UInt64(file.count), to: note
                ) { _ in file }
                let facts = try await NoteBookTests.facts(book, note)
                let document = try #require(facts.document)
                #expect(document.title == NoteBookTests.bytes("Crème") && document.titleText == "Crème")
                #expect(document.body == NoteBookTests.bytes("☕ and bread") && facts.bodyText == "☕ and bread")
                #expect(document.tags == [NoteBookTests.bytes("café")] && document.tagTexts == ["café"])
                #expect(document.created == 1_700_000_000)
                #expect(document.createdDate == Date(timeIntervalSince1970: 1_700_000_000))
                #expect(facts.modifiedDate == Date(timeIntervalSince1970: TimeInterval(facts.modified)))
                #expect(facts.comments.map(\.plainText) == ["très bien"])
                #expect(document.attachments.map(\.nameText) == ["menü.txt"])
                #expect(await book.search("CRÈME" as String).map(\.note) == [note])
                try await book.edit(note) { $0.titleText = "Thé" }
                #expect(try await NoteBookTests.facts(book, note).titleText == "Thé")
            }
        }
    }
}
