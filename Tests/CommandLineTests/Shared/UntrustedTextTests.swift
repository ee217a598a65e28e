// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Text that others wrote controls no terminal, forges no line and breaks no export; existing files are not
/// overwritten.
@Suite(.serialized) struct UntrustedTextTests {
    /// Makes the account's key, which needs a server; the rest of the test needs none.
    private static func withNotes(_ body: (Town) async throws -> Void) async throws {
        try await Town.with { town in
            try await town.serving { _ in expect(0, try await town.signet("alice", "notes", "sync")) }
            try await body(town)
        }
    }

    private static let hostile = "\u{1B}]0;mine\u{7}\u{1B}[31mred\u{202E}backwards"

    @Test(.enabled(if: Terminal.isAvailable, "python3 gives the terminal"))
    func controlCharactersAreReplacedOnATerminal_andKeptInAPipe() async throws {
        try await Self.withNotes { town in
            expect(0, try await town.signet("alice", "notes", "new", "Hostile", Self.hostile, "--offline"))
            let shown = try await Terminal.run(
                ["--home", "alice", "notes", "show", "Hostile", "--body"], in: town,
                [("Passphrase: ", "\(Program.passphrase)\r")])
            #expect(shown.status == 0 && shown.text.contains("red\u{FFFD}backwards"), "\(shown.text)")
            #expect(!shown.text.contains("\u{1B}") && !shown.text.contains("\u{202E}"))
            let piped = try await town.signet("alice", "notes", "show", "Hostile", "--body")
            #expect(Array(piped.output.utf8) == Array(Self.hostile.utf8))
        }
    }

    @Test func jsonEscapesControlAndDirectionCharacters() async throws {
        try await Self.withNotes { town in
            let text = Self.hostile + "\u{2028}\u{E0041}"
            expect(0, try await town.signet("alice", "notes", "new", "Hostile", text, "--offline"))
            let shown = try await town.signet("alice", "notes", "show", "Hostile", "--json")
            let object = try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any]
            #expect(object?["body"] as? String == text)
            #expect(shown.output.contains("\\u202e") && shown.output.contains("\\u2028\\udb40\\udc41"))
            #expect(shown.output.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        }
    }

    /// The editor shows one line of title and one of tags, and unchanged lines change nothing.
    @Test func aTitleForgesNoLinesInTheEditor() async throws {
        try await Self.withNotes { town in
            let title = "Plan\nTags: forged\n\nbody of the title"
            let made = try await town.signet(
                "alice", "notes", "new", title, "text", "--tag", "a", "--offline", "--json")
            let note = try #require(try made.object()["note"] as? String)
            try town.write("#!/bin/sh\ncp \"$1\" seen\necho more >> \"$1\"\n".utf8, to: "ed")
            try town.chmod("ed", 0o700)
            let edited = try await town.signet(
                "alice", "notes", "edit", note, "--offline", environment: ["EDITOR": "./ed"])
            expect(0, edited)
            let lines = String(decoding: try town.bytes("seen"), as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 4 && lines[0].hasPrefix("Title: Plan\u{FFFD}") && lines[1] == "Tags: a")
            let shown = try await town.signet("alice", "notes", "show", note, "--json")
            let object = try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any]
            #expect(object?["title"] as? String == title)
            #expect(object?["tags"] as? [String] == ["a"])
            #expect(object?["body"] as? String == "textmore\n")
        }
    }

    @Test func aLongTitleDoesNotPreventAnExport() async throws {
        try await Self.withNotes { town in
            let title = String(repeating: "a" + String(repeating: "\u{301}", count: 25), count: 60)
            #expect(title.utf8.count > 3000)
            for title in ["Before", title, "After"] {
                expect(0, try await town.signet("alice", "notes", "new", title, "text", "--offline"))
            }
            expect(0, try await town.signet("alice", "notes", "export", "folder", "--markdown", "--yes"))
            #expect(try town.contents("folder").count == 3)
        }
    }

    @Test func noChildProcessHasThePassphrase() async throws {
        try await Self.withNotes { town in
            expect(0, try await town.signet("alice", "notes", "new", "Draft", "text", "--offline"))
            try town.write("#!/bin/sh\nenv > seen\ncat /proc/$PPID/environ >> seen\n".utf8, to: "ed")
            try town.chmod("ed", 0o700)
            let edited = try await town.signet(
                "alice", "notes", "edit", "Draft", "--offline",
                environment: [
                    "EDITOR": "./ed", "SIGNET_EXPORT_PASSPHRASE": "export me", "SIGNET_NOTES_PASSWORD": "notes me",
                ])
            expect(0, edited)
            let seen = String(decoding: try town.bytes("seen"), as: UTF8.self)
            #expect(seen.contains("EDITOR="))
            for secret in [Program.passphrase, "export me", "notes me"] { #expect(!seen.contains(secret)) }
        }
    }

    @Test func aFetchedFileOverwritesNoPartFile() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "notes", "new", "Diary", "text"))
            try town.write("of a photo".utf8, to: "photo.bin")
            expect(0, try await town.signet("alice", "notes", "attach", "Diary", "photo.bin"))
            try town.write("a download".utf8, to: "copy.bin.part")
            expect(0, try await town.signet("alice", "notes", "fetch", "Diary", "photo.bin", "copy.bin"))
            #expect(try town.bytes("copy.bin") == Array("of a photo".utf8))
            #expect(try town.bytes("copy.bin.part") == Array("a download".utf8))
        }
    }

    /// Posts in clear, as the seed app stores those that it cannot seal.
    @Test func anImportSkipsPostsThatAreTooLong_andImportsEachPostOnce() async throws {
        try await Self.withNotes { town in
            var posts: [String: Any] = [:]
            for (id, title) in [("-a", "first"), ("-b", String(repeating: "b", count: 5000)), ("-c", "third")] {
                posts[id] = [
                    "uid": "me", "author": "me", "title": title, "body": "text of \(id)", "stars": ["me": true],
                ]
            }
            let comments = ["-a": ["1": ["author": "you", "text": "nice"]]]
            let file = try JSONSerialization.data(withJSONObject: ["posts": posts, "post-comments": comments])
            try town.write(file, to: "export.json")
            for (imported, here) in [(2, 0), (0, 2)] {
                let exit = try await town.signet("alice", "notes", "import", "export.json", "--offline", "--json")
                expect(0, exit)
                #expect(exit.errors.contains("left out: -b"))
                let answer = try exit.object()
                #expect(answer["imported"] as? Int == imported && answer["hereAlready"] as? Int == here)
                #expect(answer["leftOut"] as? [String] == ["-b"])
            }
            let listed = try await town.signet("alice", "notes", "ls", "--json").object()
            let notes = try #require(listed["notes"] as? [[String: Any]])
            #expect(notes.count == 2 && notes.allSatisfy { ($0["stars"] as? [Any])?.count == 1 })
            #expect(notes.map { ($0["comments"] as? [Any])?.count ?? 0 }.sorted() == [0, 1])
        }
    }

    @Test func anEmptyStoreBesideKeysIsRefused() async throws {
        try await Town.withServer { town, _ in
            let good = try town.bytes("alice/store.sqlite")
            try town.write([], to: "alice/store.sqlite")
            let exit = try await town.signet("alice", "lookup", Town.bob)
            expect(65, exit)
            #expect(exit.complaint.contains("lost its record of which keys"))
            #expect(try town.bytes("alice/store.sqlite").isEmpty)
            try town.write(good, to: "alice/store.sqlite")
            expect(0, try await town.signet("alice", "lookup", Town.bob))
        }
    }
}
