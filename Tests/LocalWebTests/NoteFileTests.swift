// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SecretMemory
import Signet
import SignetTesting
import Synchronization
import Testing

@testable import LocalWeb

/// Files attached to notes in the app, and all notes as one sealed file.
@Suite struct NoteFileTests {
    private static let script = "<script>alert(1).svg"
    /// More than a piece, of every byte.
    private static let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private static func note(_ browser: Browser, _ stage: Stage) async throws -> String {
        _ = try await browser.act("notes/new", [("title", "Plan"), ("body", "see the file"), ("tags", "")])
        return try await stage.onlyNote(browser)
    }

    @Test func aFileIsAttachedFetchedByAnotherAndTakenOff() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let note = try await Self.note(browser, stage)
            _ = try await browser.act("notes/\(note)/share", [("with", Stage.bob), ("role", "reader")])
            for (name, content) in [("../\(Self.script)", Self.content), ("empty line\n", [1])] {
                let sent = try await browser.post(
                    "notes/\(note)/attach", [], files: [("file", name.replacing("\n", with: "%0A"), content)],
                    from: "notes/\(note)")
                #expect(sent.status == 303, "\(sent.notices)")
                try await browser.wait(for: "Attach a file", on: "notes/\(note)")
            }
            let page = try await browser.get("notes/\(note)")
            #expect(
                page.shown.contains(Self.script) && !page.body.contains("<script"),
                "the path before the name is left out")
            let fetched = try await stage.bob.notes { book throws(NotesError) in
                _ = try await book.sync()
                let facts = await book.notes()[0]
                let bytes = Mutex<[UInt8]>([])
                for file in facts.document?.attachments ?? [] where file.nameText == Self.script {
                    try await book.fetch(file, of: facts.note) { piece in
                        bytes.withLock { $0 += piece }
                        return true
                    }
                }
                return bytes.withLock { $0 }
            }
            #expect(fetched == Self.content)
            let blob = try #require(page.value(of: "blob"))
            let off = try await browser.act("notes/\(note)/detach", [("blob", blob)], from: "notes/\(note)")
            #expect(off.shown.contains("The file is taken off.") && !off.shown.contains(Self.script))
            let none = try await browser.send(
                "notes/\(note)/detach", [("blob", blob)], token: try await browser.token(on: "notes/\(note)"))
            #expect(none.status == 303, "taken off already")
        }
    }

    /// The page says how far the file is, can be left, and is found again; the account stays open meanwhile.
    @Test func aFileOnItsWayIsFoundAgain_andWhatBecameOfItIsSaidOnce() async throws {
        let clock = MovedClock()
        try await Stage.run(now: clock.now) { stage in
            let browser = try await stage.befriended()
            let note = try await Self.note(browser, stage)
            let id = try #require(NoteID(digits: note))
            let account = try await stage.app.account()
            for end in [
                FileUpload.End.attached("It is there."), .refused(Advice("There is no room.", "Delete something.")),
            ] {
                let upload = FileUpload(
                    AttachedFile(.init(field: "file", name: "<b>.svg", content: Self.content[...])), to: id)
                let (gate, opening) = AsyncStream.makeStream(of: Void.self)
                let isBegun = await account.begin(upload) {
                    for await _ in gate { break }
                    return end
                }
                #expect(isBegun)
                #expect(try await browser.get("notes/\(note)").shown.contains("<b>.svg is on its way"))
                let start = try await browser.get("notes/\(note)/attach")
                #expect(start.shown.contains("0.0 of 0.1 MiB sealed") && start.body.contains("data-live"))
                _ = upload.piece(0)
                let far = try await browser.get("notes/\(note)/attach")
                #expect(far.body.contains("max=\"100000\" value=\"\(AttachmentManifest.chunkByteCount)\""))
                clock.move(by: WebAccount.openSeconds + 1)
                #expect(try await browser.get("notes/\(note)").status == 200, "the account is open")
                let other = try await browser.post(
                    "notes/\(note)/attach", [], files: [("file", "f", [1])], from: "notes/\(note)")
                #expect(other.status == 422 && other.shown.contains("Another file is on its way to this note."))
                opening.finish()
                while upload.end == nil { await Task.yield() }
                if case .attached = end {
                    let said = try await browser.follow(try await browser.get("notes/\(note)"))
                    #expect(said.shown.contains("It is there."))
                } else {
                    // On a page that was open for long another file is chosen.
                    let refused = try await browser.post(
                        "notes/\(note)/attach", [], files: [("file", "f", [1])], from: "settings")
                    #expect(refused.status == 422 && refused.shown.contains("There is no room."))
                    #expect(refused.shown.contains("is not attached either"))
                }
                let after = try await browser.get("notes/\(note)")
                #expect(after.shown.contains("Attach a file") && !after.shown.contains("It is there."))
            }
        }
    }

    @Test func aFileOnItsWayWhenTheAccountIsLocked_isSaidNotToBeAttached() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let note = try await Self.note(browser, stage)
            let account = try await stage.app.account()
            let upload = FileUpload(
                AttachedFile(.init(field: "file", name: "plan.bin", content: Self.content[...])),
                to: try #require(NoteID(digits: note)))
            let (gate, opening) = AsyncStream.makeStream(of: Void.self)
            _ = await account.begin(upload) {
                for await _ in gate { break }
                return .attached("It is there.")
            }
            _ = try await browser.act("lock", from: "notes")
            #expect(upload.piece(0) == nil, "nothing more of it is sealed")
            opening.finish()
            _ = try await browser.act("unlock", [("passphrase", Served.passphrase), ("to", "people")])
            let said = try await browser.get("notes/\(note)")
            #expect(said.status == 422 && said.shown.contains("plan.bin is not attached: the account was locked"))
            #expect(try await browser.get("notes/\(note)").status == 200, "once")
        }
    }

    @Test func onlyAFileThatIsThereAndNotTooLongIsAttached_andOnlyByWhoMayChangeTheNote() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let note = try await Self.note(browser, stage)
            let empty = try await browser.post(
                "notes/\(note)/attach", [], files: [("file", "", [])], from: "notes/\(note)")
            #expect(empty.status == 422 && empty.shown.contains("No file was chosen, or it is empty."))
            // Another form takes no file of this length.
            let long = [UInt8](repeating: 1, count: FormBody.maximumByteCount)
            let refused = try await browser.post("notes/new", [("title", "x")], files: [("file", "f", long)])
            #expect(refused.status == 413)
            let taken = try await browser.post(
                "notes/\(note)/attach", [], files: [("file", "f", long)], from: "notes/\(note)")
            #expect(taken.status == 303)
            // While one is on its way, no other is taken, whatever its length.
            try await browser.wait(for: "Attach a file", on: "notes/\(note)")
            let longest = [UInt8](repeating: 1, count: Int(AttachedFile.maximumByteCount) + 1)
            let tooLong = try await browser.post(
                "notes/\(note)/attach", [], files: [("file", "g", longest)], from: "notes/\(note)")
            #expect(tooLong.status == 422 && tooLong.shown.contains("The file is longer than 64 MiB."))

            let alice = try Handle(Stage.alice)
            let theirs = try await stage.bob.notes { book throws(NotesError) in
                _ = try await book.sync()
                let note = try await book.create(title: "Bob's", body: "", tags: [])
                _ = try await book.sync()
                try await book.share(note, with: alice, as: .reader)
                return note
            }
            _ = try await browser.act("notes/sync", from: "notes")
            let page = try await browser.get("notes/\(theirs.digits)")
            #expect(!page.body.contains("/attach"))
            var sent = try await browser.post(
                "notes/\(theirs.digits)/attach", [], files: [("file", "f", [1])], from: "notes/\(theirs.digits)")
            // What takes longer than a second is shown on a page of its own.
            for _ in 0..<200 where sent.status == 303 || sent.shown.contains("A file is on its way") {
                sent = try await browser.get("notes/\(theirs.digits)/attach")
            }
            #expect(sent.status == 422, "\(sent.notices)")
        }
    }

    @Test func allNotesAreSavedAsOneSealedFile_thatOpensWithItsPassphraseAlone() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let note = try await Self.note(browser, stage)
            _ = try await browser.post(
                "notes/\(note)/attach", [], files: [("file", "plan.bin", Self.content)], from: "notes/\(note)")
            try await browser.wait(for: "Attach a file", on: "notes/\(note)")
            let words = "velvet anchor plum seventeen ladder moss"
            for (passphrase, again, why) in [
                ("short", "short", "passphrase"), (words, words + "x", "differ"), ("", "", "passphrase"),
            ] {
                let refused = try await browser.post("notes/export", [("passphrase", passphrase), ("again", again)])
                #expect(refused.status == 422 && refused.shown.lowercased().contains(why), "\(refused.notices)")
                #expect(refused.value(of: "passphrase") == nil)
            }
            let file = try await browser.post("notes/export", [("passphrase", words), ("again", words)])
            #expect(file.status == 200 && file.field("content-type") == "application/octet-stream")
            #expect(file.field("content-disposition") == "attachment; filename*=UTF-8''notes.signet-export")
            #expect(!file.body.contains("see the file"))
            let read: BundleSource = { offset, count in Array(file.content.dropFirst(Int(offset)).prefix(count)) }
            #expect(throws: BundleError.wrongPassphrase) {
                try OpenedBundle(passphrase: SecretBytes(copying: (words + "x").utf8), reading: read)
            }
            let opened = try OpenedBundle(passphrase: SecretBytes(copying: words.utf8), reading: read)
            #expect(opened.noteCount == 1 && opened.fileCount == 1)
        }
    }
}
