// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import Testing

@testable import LocalWeb

/// Files of notes, their history, and how sharing ends, over a real server.
@Suite struct NoteSharingTests {
    private static let script = "<script>alert(1)</script>"

    /// A note of bob's that alice has, with a file whose author hopes that a browser shows it.
    private static func shared(
        _ stage: Stage, _ browser: Browser, fileName: String = "a.txt", type: String = "text/plain",
        content: String = "text"
    ) async throws -> String {
        let alice = try Handle(Stage.alice)
        let bytes = Array(content.utf8)
        try await stage.bob.notes { book throws(NotesError) in
            let note = try await book.create(title: "Of bob", body: "first", tags: [])
            try await book.edit(note) { $0.bodyText = Self.script }
            try await book.attach(
                name: Array(fileName.utf8), mediaType: Array(type.utf8), byteCount: UInt64(bytes.count), to: note,
                reading: { _ in bytes })
            _ = try await book.sync()
            try await book.share(note, with: alice, as: .writer, withHistory: true)
        }
        _ = try await browser.act("notes/sync", from: "notes")
        return try await stage.onlyNote(browser)
    }

    @Test func aFileIsSavedAndNeverShown() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let name = "../\u{202E}gvs\"\r\nX-Set: 1<script>.svg"
            let note = try await Self.shared(
                stage, browser, fileName: name, type: "image/svg+xml", content: "<svg onload=alert(1)>")
            let page = try await browser.get("notes/\(note)")
            #expect(!page.body.contains("<script") && page.shown.contains(".svg"))
            let link = try #require(page.body.firstRange(of: "/file?blob="))
            let blob = page.body[link.upperBound...].prefix { $0 != "\"" }
            let file = try await browser.get("notes/\(note)/file?blob=\(blob)")
            #expect(file.status == 200 && file.body == "<svg onload=alert(1)>")
            #expect(file.field("content-type") == "application/octet-stream")
            #expect(file.field("x-content-type-options") == "nosniff" && file.field("x-set") == nil)
            let saved = try #require(file.field("content-disposition"))
            #expect(saved.hasPrefix("attachment; filename*=UTF-8''"))
            #expect(!saved.contains("%2F") && !saved.contains("/") && !saved.contains("%E2%80%AE"))
            let unknown = try await browser.get("notes/\(note)/file?blob=\(String(repeating: "0", count: 32))")
            #expect(unknown.status == 404 && unknown.shown.contains("no such file"))
        }
    }

    @Test func aFileWithoutTheCookieOrFromAnotherSiteIsNotSent() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let note = try await Self.shared(stage, browser)
            let page = try await browser.get("notes/\(note)")
            let link = try #require(page.body.firstRange(of: "/file?blob="))
            let path = browser.path("notes/\(note)/file?blob=\(page.body[link.upperBound...].prefix { $0 != "\"" })")
            let host = ("Host", browser.host)
            let none = try await RawExchange.send(
                "GET", path, to: browser.port, [host, ("Sec-Fetch-Site", "same-origin")])
            let other = try await RawExchange.send(
                "GET", path, to: browser.port, [host, ("Cookie", browser.cookie), ("Sec-Fetch-Site", "cross-site")])
            #expect(none.status == 403 && other.status == 403)
        }
    }

    @Test func aFileThatIsTooLongIsRefusedWithAWayToGetIt() {
        #expect(SavedFile.refusal(byteCount: SavedFile.maximumByteCount) == nil)
        #expect(
            SavedFile.refusal(byteCount: SavedFile.maximumByteCount + 1)?.remedy.contains("signet notes fetch") == true)
    }

    @Test func aSavedNameIsNoPathAndNotHidden() {
        #expect(SavedFile.savedName(Array("../../.bashrc".utf8)) == "_.._.bashrc")
        #expect(SavedFile.savedName(Array(".profile".utf8)) == "profile")
        #expect(SavedFile.savedName(Array("C:\\a\u{202E}b\n.exe".utf8)) == "C__a_b_.exe")
        #expect(SavedFile.savedName(Array("...".utf8)) == "file")
    }

    @Test func theHistoryShowsWhatEachVersionSaid() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let note = try await Self.shared(stage, browser)
            let history = try await browser.get("notes/\(note)/history")
            #expect(history.status == 200 && history.shown.contains("made the note"))
            #expect(history.shown.contains("shared it with alice@example.org"))
            let first = try await browser.get("notes/\(note)/history?revision=1")
            #expect(first.shown.contains("Version 1: Of bob") && first.shown.contains("first"))
            let second = try await browser.get("notes/\(note)/history?revision=2")
            #expect(second.shown.contains(Self.script) && !second.body.contains("<script"))
            #expect(try await browser.get("notes/\(note)/history?revision=99").status == 422)
        }
    }

    @Test func aMemberLeavesAndItsOwnerSeesThat() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let note = try await Self.shared(stage, browser)
            #expect(try await browser.get("notes/\(note)/unshare").status == 303, "only the owner stops sharing")
            let asked = try await browser.get("notes/\(note)/leave")
            #expect(asked.shown.contains("Leave the note?"))
            #expect(try await browser.act("notes/\(note)/leave").shown.contains("You left it"))
            let members = try await stage.bob.notes { book throws(NotesError) in
                _ = try await book.sync()
                _ = try await book.sync()
                return await book.notes().first?.members.map(\.handle.description)
            }
            #expect(members == [], "the owner's sync removes who has left")
        }
    }

    @Test func theOwnerStopsSharingWithThePersonWhoWasChosen() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            _ = try await browser.act("notes/new", [("title", "List"), ("body", "eggs"), ("tags", "")])
            let note = try await stage.onlyNote(browser)
            _ = try await browser.act("notes/\(note)/share", [("with", Stage.bob), ("role", "writer")])
            let none = try await browser.post("notes/\(note)/unshare", [])
            #expect(none.status == 422 && none.shown.contains("No one is chosen"))
            let stranger = try await browser.post("notes/\(note)/unshare", [("who", "eva@example.org")])
            #expect(stranger.status == 422, "\(stranger.notices)")
            let stopped = try await browser.act("notes/\(note)/unshare", [("who", Stage.bob)])
            #expect(stopped.shown.contains("bob@example.org receives nothing from it from now on"))
            _ = try await browser.act(
                "notes/\(note)/edit",
                [
                    ("began", try #require(try await browser.get("notes/\(note)/edit").value(of: "began"))),
                    ("title", "List"), ("body", "secret from bob"), ("tags", ""),
                ])
            let seen = try await stage.bob.notes { book throws(NotesError) in
                _ = try await book.sync()
                return await book.notes().map(\.bodyText)
            }
            #expect(!seen.contains("secret from bob"))
        }
    }
}
