// SPDX-License-Identifier: Apache-2.0

import Foundation
import SealedNotes
import SignetClient
import Testing

@testable import NotesClient

/// A note's bytes and seconds, read and set as text and dates.
@Suite struct NoteTextTests {
    private func document() -> NoteDocument {
        NoteDocument(
            title: Array("Torte".utf8), body: Array("im Kühlschrank".utf8), tags: [Array("süß".utf8)], created: 5,
            modified: 86_400)
    }

    @Test func aDocumentIsReadAndChangedAsText() {
        var document = document()
        #expect(document.titleText == "Torte" && document.bodyText == "im Kühlschrank" && document.tagTexts == ["süß"])
        #expect(document.createdDate == Date(timeIntervalSince1970: 5))
        #expect(document.modifiedDate == Date(timeIntervalSince1970: 86_400))
        document.titleText = "Tarte"
        document.bodyText = ""
        document.tagTexts = ["a", "é"]
        #expect(document.title == Array("Tarte".utf8) && document.body.isEmpty)
        #expect(document.tags == [[0x61], [0xC3, 0xA9]])
    }

    /// Text is kept byte for byte: neither a byte-order mark nor a form of normalization is lost in it.
    @Test(arguments: ["\u{FEFF}begins with a mark", "e\u{301} is not é", "\u{E9}", "a\u{0}b"])
    func textIsKeptByteForByte(_ text: String) {
        var document = document()
        document.bodyText = text
        #expect(document.body == Array(text.utf8))
        #expect(Array(document.bodyText.utf8) == Array(text.utf8))
    }

    @Test func bytesThatAreNoTextReadAsReplacementCharacters_andStayUnchanged() {
        var document = document()
        document.title = [0x61, 0xFF]
        #expect(document.titleText == "a\u{FFFD}")
        #expect(document.title == [0x61, 0xFF])
    }

    @Test func datesAreWholeSecondsFrom1970() {
        #expect(Date(timeIntervalSince1970: 7.9).seconds == 7)
        #expect(Date(timeIntervalSince1970: -1).seconds == 0)
        #expect(Date.distantPast.seconds == 0)
        #expect(Date(timeIntervalSince1970: 1e30).seconds == .max)
        #expect(Date(timeIntervalSince1970: .nan).seconds == 0)
        #expect(Date(seconds: 1_800_000_000).seconds == 1_800_000_000)
    }

    @Test func aFileHasANameAndAMediaTypeAsText() throws {
        let manifest = try AttachmentManifest(
            blob: BookFile.note(1), byteCount: 1, name: Array("plan.txt".utf8), mediaType: Array("text/plain".utf8))
        #expect(manifest.nameText == "plan.txt" && manifest.mediaTypeText == "text/plain")
    }
}
