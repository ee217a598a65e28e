// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SecureCell
import Testing

/// Notes in and out of files, editors and pipes.
@Suite(.serialized) struct NotesFileTests {
    private static let note = "Caf\u{E9}\nno line end, and a tab\t"

    /// The place of this project's shared vectors, if they are present.
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../shared/golden/themis.json").standardized

    /// Makes the account's key, which needs a server; the rest of the test needs none.
    private static func withNotes(_ body: (Town) async throws -> Void) async throws {
        try await Town.with { town in
            try await town.serving { _ in expect(0, try await town.signet("alice", "notes", "sync")) }
            try await body(town)
        }
    }

    @Test func pipedTextIsKeptByteForByteOffline() async throws {
        try await Self.withNotes { town in
            try town.write(Self.note.utf8, to: "text")
            let made = try await town.shell("\"$SIGNET\" notes new Piped - --offline --tag x --home alice < text")
            expect(0, made)
            let shown = try await town.signet("alice", "notes", "show", "Piped", "--body")
            #expect(Array(shown.output.utf8) == Array(Self.note.utf8))
            let listed = try await town.signet("alice", "notes", "ls", "--tag", "x", "--json").object()
            let notes = try #require(listed["notes"] as? [[String: Any]])
            #expect(notes.count == 1 && notes[0]["waiting"] as? Bool == true)
            let found = try await town.signet("alice", "notes", "search", "CAFÉ", "--json").object()
            #expect((found["hits"] as? [[String: Any]])?.map { $0["in"] as? String } == ["body"])
        }
    }

    @Test func theEditorsFileIsRemoved_andTheHomeHoldsNoPlaintext() async throws {
        try await Self.withNotes { town in
            expect(0, try await town.signet("alice", "notes", "new", "Draft", "old secret line", "--offline"))
            try town.write("#!/bin/sh\necho \"$1\" > place\nsed -i 's/old secret/new secret/' \"$1\"\n".utf8, to: "ed")
            try town.chmod("ed", 0o700)
            let edited = try await town.signet(
                "alice", "notes", "edit", "Draft", "--offline", environment: ["EDITOR": "./ed"])
            expect(0, edited)
            #expect(try await town.signet("alice", "notes", "show", "Draft", "--body").output == "new secret line")
            let place = String(decoding: try town.bytes("place"), as: UTF8.self).trimmingCharacters(in: .newlines)
            #expect(!FileManager.default.fileExists(atPath: place))
            #expect(!FileManager.default.fileExists(atPath: URL(filePath: place).deletingLastPathComponent().path()))
            let files = try town.contents("alice").values
            #expect(files.allSatisfy { !$0.contains(Array("secret".utf8)) }, "no readable file in the home")
        }
    }

    /// The limit is one byte: at zero bytes, Linux would still pipe the dump to another program.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "the system shows no limits"))
    func coreDumpsAreDisabledForTheProgramAndItsEditor() async throws {
        try await Self.withNotes { town in
            expect(0, try await town.signet("alice", "notes", "new", "Draft", "text", "--offline"))
            try town.write("#!/bin/sh\ngrep '^Max core' /proc/self/limits > limits\n".utf8, to: "ed")
            try town.chmod("ed", 0o700)
            _ = try await town.signet(
                "alice", "notes", "edit", "Draft", "--offline", environment: ["EDITOR": "./ed"])
            let line = String(decoding: try town.bytes("limits"), as: UTF8.self)
            let limits = line.split(separator: " ").compactMap { UInt64($0) }
            #expect(limits.count == 2 && limits.allSatisfy { $0 <= 1 }, "\(line)")
        }
    }

    @Test func anEditorThatFailsChangesNothing() async throws {
        try await Self.withNotes { town in
            expect(0, try await town.signet("alice", "notes", "new", "Draft", "text", "--offline"))
            let failed = try await town.signet(
                "alice", "notes", "edit", "Draft", "--offline", environment: ["EDITOR": "false"])
            expect(130, failed)
            #expect(try await town.signet("alice", "notes", "show", "Draft", "--body").output == "text")
        }
    }

    @Test func theExportForThemisIsACellThatOpensWithItsPassphrase() async throws {
        try await Self.withNotes { town in
            expect(0, try await town.signet("alice", "notes", "new", "Kept", "of value", "--offline"))
            let exported = try await town.signet(
                "alice", "notes", "export", "bundle", "--themis",
                environment: ["SIGNET_EXPORT_PASSPHRASE": "take me abroad"])
            expect(0, exported)
            let bundle = try town.bytes("bundle")
            let line = Array("signet-notes-bundle/v1\n".utf8)
            #expect(bundle.starts(with: line) && !bundle.contains(Array("of value".utf8)))
            let opened = try PassphraseSeal.open(
                Array(bundle.dropFirst(line.count)), passphrase: Array("take me abroad".utf8).span,
                context: Array("signet-notes-bundle/v1".utf8))
            let object = try #require(JSONSerialization.jsonObject(with: Data(opened)) as? [String: Any])
            #expect((object["notes"] as? [[String: Any]])?.map { $0["body"] as? String } == ["of value"])
            let open = try await town.signet("alice", "notes", "export", "folder", "--markdown")
            expect(64, open, "readable files need the user's consent")
            expect(0, try await town.signet("alice", "notes", "export", "folder", "--markdown", "--yes"))
            #expect(try town.contents("folder").values.contains { $0.contains(Array("of value".utf8)) })
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: golden.path()), "shared golden files are absent"))
    func postsOfTheSeedAppAreImported_andThoseTheServerCouldReadCounted() async throws {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.golden)) as? [String: Any]
        let posts = try #require(json?["seed_app_posts"] as? [[String: Any]])
        try await Self.withNotes { town in
            var export: [String: Any] = [:]
            for (index, post) in posts.enumerated() {
                export["-Lpost\(index)"] = [
                    "uid": post["uid"] ?? "", "author": "user \(index)", "title": "post \(index)",
                    "body": post["body_field"] ?? "", "starCount": "0",
                ]
            }
            export["-Lzclear"] = [
                "uid": posts[0]["uid"] ?? "", "author": "user 0", "title": "clear", "body": "in clear",
            ]
            export["-Lzclosed"] = [
                "uid": "somebody", "author": "x", "title": "closed", "body": posts[0]["body_field"] ?? "",
            ]
            let file = try JSONSerialization.data(withJSONObject: ["posts": export])
            try town.write(file, to: "export.json")
            let many = try await town.signet("alice", "notes", "import", "export.json", "--offline")
            expect(64, many, "whose posts?")
            let user = try #require(posts[0]["uid"] as? String)
            let taken = try await town.signet(
                "alice", "notes", "import", "export.json", "--offline", "--user", user, "--json")
            expect(0, taken)
            let answer = try taken.object()
            #expect(answer["imported"] as? Int == 2 && answer["posts"] as? Int == posts.count + 2)
            #expect(answer["serverCouldRead"] as? Int == posts.count + 1, "all but the one under another key")
            let shown = try await town.signet("alice", "notes", "show", "post 0", "--body")
            #expect(shown.output == posts[0]["plaintext_utf8"] as? String)
            #expect(try town.contents("alice").values.allSatisfy { !$0.contains(Array("in clear".utf8)) })
        }
    }
}

extension Town {
    /// A line for the shell, with the program as `$SIGNET`.
    fileprivate func shell(_ line: String) async throws -> Exit {
        try await Exit.of(
            URL(filePath: "/bin/sh"), ["-c", line], in: folder, environment: ["SIGNET": Program.signet.file.path()])
    }
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool { Data(self).range(of: Data(part)) != nil }
}
