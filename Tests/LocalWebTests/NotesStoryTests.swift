// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Signet
import SignetTesting
import Testing

@testable import LocalWeb

/// Notes in the app, over a real server: written, found, shared, commented; and what must not get lost or run.
@Suite struct NotesStoryTests {
    private static let script = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"

    @Test func aNoteIsWrittenFoundSharedAndRead() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            #expect(try await browser.get("notes").shown.contains("What you write stands here"))
            let made = try await browser.act(
                "notes/new", [("title", "Train times"), ("body", "17:34\r\nplatform 6"), ("tags", "hut, november")])
            #expect(made.shown.contains("Saved, sealed and sent") && made.shown.contains("17:34\nplatform 6"))
            #expect(made.shown.contains("#hut"))
            let note = try await stage.onlyNote(browser)
            for (query, isFound) in [("platform", true), ("#hut", true), ("#hu", false), ("kettle", false)] {
                let found = try await browser.get("notes?q=\(PercentCoding.encode(query))")
                #expect(found.shown.contains("Train times") == isFound, "\(query)")
            }
            let shared = try await browser.act("notes/\(note)/share", [("with", Stage.bob), ("role", "writer")])
            #expect(shared.shown.contains("bob@example.org may read and change it"))
            _ = try await browser.act(
                "notes/\(note)/comment", [("comment", "I bring\nthe bread.")], from: "notes/\(note)")
            let starred = try await browser.act("notes/\(note)/star", [("set", "yes")], from: "notes/\(note)")
            #expect(starred.shown.contains("Starred") && starred.shown.contains("I bring\nthe bread."))
            #expect(try await browser.get("notes?show=starred").shown.contains("Train times"))
            #expect(try await browser.get("notes?show=shared").shown.contains("What others share with you"))

            let read = try await stage.bob.notes { book throws(NotesError) in
                _ = try await book.sync()
                return await book.notes()
            }
            #expect(read.first?.bodyText == "17:34\nplatform 6" && read.first?.comments.count == 1)
        }
    }

    /// Two windows, or two people: what was saved meanwhile is shown, not overwritten, and what was typed is still there.
    @Test func anEditOfAnOlderStateOverwritesNothing() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            _ = try await browser.act("notes/new", [("title", "List"), ("body", "eggs"), ("tags", "")])
            let note = try await stage.onlyNote(browser)
            let first = try await browser.get("notes/\(note)/edit")
            let second = try await browser.get("notes/\(note)/edit")
            let token = try #require(first.value(of: "form-token"))
            func fields(_ page: RawExchange, _ body: String) -> [(String, String)] {
                [("began", page.value(of: "began") ?? ""), ("title", "List"), ("body", body), ("tags", "")]
            }
            #expect(
                try await browser.send("notes/\(note)/edit", fields(first, "eggs, milk"), token: token).status == 303)
            let late = try await browser.send("notes/\(note)/edit", fields(second, "eggs, <tea>"), token: token)
            #expect(late.status == 409 && late.shown.contains("It has changed since you looked"))
            #expect(late.shown.contains("eggs, milk") && late.text(of: "body") == "eggs, <tea>")
            #expect(try await browser.get("notes/\(note)").shown.contains("eggs, milk"), "nothing was overwritten")
            let joined = try await browser.send("notes/\(note)/edit", fields(late, "eggs, milk, tea"), token: token)
            #expect(joined.status == 303)
            #expect(try await browser.get("notes/\(note)").shown.contains("eggs, milk, tea"))
        }
    }

    @Test func whatWasTypedComesBackAfterTheAccountLocked() async throws {
        let clock = MovedClock()
        try await Stage.run(now: clock.now) { stage in
            let browser = try await stage.unlocked()
            let token = try await browser.token(on: "notes/new")
            clock.move(by: WebAccount.openSeconds)
            let reply = try await browser.send("notes/new", [("title", "Long"), ("body", "much text")], token: token)
            #expect(reply.status == 303 && reply.field("location") == browser.path("unlock?to=notes%2Fnew"))
            let page = try await browser.act("unlock", [("passphrase", Served.passphrase), ("to", "notes/new")])
            #expect(page.value(of: "title") == "Long" && page.text(of: "body") == "much text")
            #expect(try await browser.get("notes/new").text(of: "body") == "", "once")
        }
    }

    @Test func scriptInTextsOfOthersIsText() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let script = Self.script
            _ = try await stage.bob.notes { book throws(NotesError) in
                _ = try await book.sync()
                let note = try await book.create(title: script, body: "\(script)\n</textarea>\(script)", tags: [script])
                try await book.comment(script, on: note)
                _ = try await book.sync()
                try await book.attach(
                    name: script, mediaType: "text/html", byteCount: 5, to: note, reading: { _ in Array("hello".utf8) })
                _ = try await book.sync()
                try await book.share(note, with: Handle(unlikely: Stage.alice), as: .writer)
                return note
            }
            _ = try await browser.act("notes/sync", from: "notes")
            let note = try await stage.onlyNote(browser)
            let term = PercentCoding.encode(script)
            for path in [
                "notes", "notes/\(note)", "notes/\(note)/edit", "notes?q=\(term)", "people?q=\(term)",
                "unlock?to=\(term)", "",
            ] {
                let page = try await browser.get(path)
                let own = "<script src=\"\(WebPath(asset: "signet.js").text)\" defer></script>"
                #expect(
                    page.body.contains(own) == path.isEmpty,
                    "no page with texts of others has even the program's script")
                #expect(
                    !page.body.replacing(own, with: "").contains("<script") && !page.body.contains("<img")
                        && !page.body.contains("\"'>"),
                    "\(path)")
            }
            let page = try await browser.get("notes/\(note)")
            #expect(
                page.body.components(separatedBy: "&lt;script&gt;alert(1)").count >= 6,
                "title, text, tag, comment, file")
            #expect(try await browser.get("notes/\(note)/edit").text(of: "body") == "\(script)\n</textarea>\(script)")
        }
    }

    /// The directory's file leads to a port where nothing listens: what needs it says so, and gives back what was typed.
    @Test func withoutTheServerNothingTypedIsLost() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            _ = try await browser.act("notes/new", [("title", "Before"), ("body", "x"), ("tags", "")])
            let note = try await stage.onlyNote(browser)
            // One process at a time has the notes open.
            _ = try await browser.act("lock", from: "")
            let away = HomeFolder(path: stage.folder + "/alice")
            let profile = try away.profile()
            try away.directory.replace(
                with: DirectoryProfile(url: "https://localhost:1", server: profile.server, trust: profile.trust).encoded
            )
            try await Served.run(away) { app in
                let browser = try await app.browser()
                let people = try await browser.act("unlock", [("passphrase", Served.passphrase), ("to", "people")])
                #expect(people.shown.contains("bob@example.org"), "what is known stays readable")
                #expect(people.shown.contains("Nothing answers at https://localhost:1"), "\(people.notices)")
                let added = try await browser.post("people/add", [("handle", "eva@example.org")], from: "people")
                #expect(added.status == 503 && added.value(of: "handle") == "eva@example.org")
                #expect(added.shown.contains("Nothing answers at https://localhost:1"))
                let shared = try await browser.post("notes/\(note)/share", [("with", Stage.bob), ("role", "writer")])
                #expect(shared.status == 503 && shared.body.contains("value=\"bob@example.org\" required checked"))
                #expect(shared.body.contains("value=\"writer\" selected"))
                let written = try await browser.act(
                    "notes/new", [("title", "Offline"), ("body", "kept"), ("tags", "")])
                #expect(written.shown.contains("not sent yet") && written.shown.contains("kept"))
                let checks = try await browser.get("people/bob@example.org/checks")
                #expect(checks.status == 503 && checks.shown.contains("Nothing answers"))
            }
        }
    }

    @Test func keysAreInNoPage() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let settings = try await browser.get("settings")
            #expect(settings.shown.contains("did:key:z") && settings.shown.contains("Advanced"))
            let devices = try await browser.get("devices")
            #expect(devices.shown.contains("Device 1: this one"))
            for path in ["", "people", "people/bob@example.org", "notes", "devices"] {
                #expect(!(try await browser.get(path)).body.contains("did:key"), "\(path)")
            }
            #expect(!settings.body.contains(Served.passphrase))
        }
    }
}

extension Handle {
    /// One that is a handle, inside closures that throw something else.
    fileprivate init(unlikely text: String) throws(NotesError) {
        do { try self.init(text) } catch { throw .noRandomness }
    }
}
