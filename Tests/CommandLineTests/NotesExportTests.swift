// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Sealed exports of notes with the programs: an export is imported into another account, and a bad one is refused
/// whole.
@Suite(.serialized) struct NotesExportTests {
    private static let environment = ["SIGNET_EXPORT_PASSPHRASE": "take these words abroad"]
    private static let file = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    @Test func anExportIsImportedIntoAnotherAccountOnce() async throws {
        try await Town.withServer { town, _ in
            let made = try await town.signet("alice", "notes", "new", "Kept", "of value", "--tag", "mine", "--json")
            expect(0, made)
            let note = try #require(try made.object()["note"] as? String)
            expect(0, try await town.signet("alice", "notes", "comment", note, "and dear"))
            try town.write(Self.file, to: "map.bin")
            try town.write([], to: "empty")
            for file in ["map.bin", "empty", "empty"] {
                expect(0, try await town.signet("alice", "notes", "attach", note, file))
            }
            let exported = try await town.signet(
                "alice", "notes", "export", "bundle", "--json", environment: Self.environment)
            expect(0, exported)
            #expect(try exported.object()["files"] as? Int == 3)
            let bundle = try town.bytes("bundle")
            #expect(bundle.starts(with: Array("signet-notes-bundle/v2\n".utf8)))
            // Three passes over 256 MiB.
            #expect(bundle[23..<31] == [0, 0, 0, 3, 0, 4, 0, 0])
            #expect(Data(bundle).range(of: Data("of value".utf8)) == nil)

            expect(0, try await town.signet("bob", "notes", "sync"))
            let first = try await town.signet(
                "bob", "notes", "import", "bundle", "--offline", "--json", environment: Self.environment)
            expect(0, first)
            #expect(try first.object()["imported"] as? Int == 1)
            #expect((try first.object()["filesLeftOut"] as? [String])?.count == 3, "files need a network")
            let second = try await town.signet(
                "bob", "notes", "import", "bundle", "--json", environment: Self.environment)
            expect(0, second)
            #expect(try second.object()["imported"] as? Int == 0)
            #expect(try second.object()["files"] as? Int == 3, "two have one name and one length")
            let third = try await town.signet(
                "bob", "notes", "import", "bundle", "--json", environment: Self.environment)
            expect(0, third)
            #expect(try third.object()["files"] as? Int == 0 && third.object()["hereAlready"] as? Int == 1)

            let shown = try await town.signet("bob", "notes", "show", "Kept", "--json").object()
            #expect(shown["body"] as? String == "of value" && shown["owner"] as? String == Town.bob)
            #expect((shown["tags"] as? [String])?.first == "mine")
            let comments = shown["comments"] as? [[String: Any]]
            #expect(comments?.map { $0["text"] as? String } == ["\(Town.alice): and dear"])
            expect(0, try await town.signet("bob", "notes", "fetch", "Kept", "map.bin", "copy.bin"))
            #expect(try town.bytes("copy.bin") == Self.file)
            expect(0, try await town.signet("bob", "notes", "fetch", "Kept", "empty", "copy"))
            #expect(try town.bytes("copy").isEmpty)

            let own = try await town.signet(
                "alice", "notes", "import", "bundle", "--json", environment: Self.environment)
            expect(0, own)
            #expect(try own.object()["hereAlready"] as? Int == 1 && own.object()["imported"] as? Int == 0)
        }
    }

    @Test func offlineAnExportIsWrittenOnlyWithoutFiles() async throws {
        try await Town.with { town in
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "notes", "new", "Kept", "of value"))
                try town.write(Self.file, to: "map.bin")
                expect(0, try await town.signet("alice", "notes", "attach", "Kept", "map.bin"))
            }
            expect(3, try await town.signet("alice", "notes", "export", "bundle", environment: Self.environment))
            #expect(try !town.hasFile(startingWith: "bundle"))
            let exit = try await town.signet(
                "alice", "notes", "export", "bundle", "--without-files", "--json", environment: Self.environment)
            expect(0, exit)
            #expect(try exit.object()["exported"] as? Int == 1 && exit.object()["files"] as? Int == 0)
            try await town.serving { _ in
                expect(0, try await town.signet("bob", "notes", "sync"))
                let taken = try await town.signet(
                    "bob", "notes", "import", "bundle", "--json", environment: Self.environment)
                expect(0, taken)
                #expect(try taken.object()["filesLeftOut"] as? [String] == ["map.bin"])
            }
        }
    }

    @Test func aBadExportIsRefusedWhole() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "notes", "new", "Kept", "of value"))
            // Several pieces, so that the first notes are whole before the damaged piece comes.
            for title in ["First", "Second", "Third"] {
                let body = String(repeating: "a long text ", count: 5_000)
                expect(0, try await town.signet("alice", "notes", "new", title, body))
            }
            expect(0, try await town.signet("alice", "notes", "export", "good", environment: Self.environment))
            expect(0, try await town.signet("bob", "notes", "sync"))
            let good = try town.bytes("good")
            var (flipped, greedy) = (good, good)
            flipped[good.count - 20] ^= 1
            greedy.replaceSubrange(27..<31, with: [0xFF, 0xFF, 0xFF, 0xFF])
            let newer = Array("signet-notes-bundle/v9\n".utf8) + good.dropFirst(23)
            for (bytes, words) in [
                (Array(good.dropLast(10)), "incomplete"), (flipped, "changed"), (greedy, "more memory"),
                (newer, "newer signet"),
            ] {
                try town.write(bytes, to: "bundle")
                let exit = try await town.signet("bob", "notes", "import", "bundle", environment: Self.environment)
                expect(65, exit)
                #expect(exit.complaint.contains(words), "\(exit.errors)")
            }
            try town.write(good, to: "bundle")
            let wrong = try await town.signet(
                "bob", "notes", "import", "bundle",
                environment: ["SIGNET_EXPORT_PASSPHRASE": "not these words at all"])
            expect(65, wrong)
            #expect(wrong.complaint.contains("passphrase"))
            #expect(
                (try await town.signet("bob", "notes", "ls", "--json").object()["notes"] as? [Any])?.isEmpty == true)
        }
    }

    /// Made by the program of 2026-11-23, which had only the first format.
    @Test func anExportOfTheFirstVersionIsImported() async throws {
        let old = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Vectors/old/notes-bundle-1").standardized
        try await Town.withServer { town, _ in
            try town.write(try Data(contentsOf: old), to: "bundle")
            expect(0, try await town.signet("bob", "notes", "sync"))
            let taken = try await town.signet(
                "bob", "notes", "import", "bundle", "--json", environment: Self.environment)
            expect(0, taken)
            #expect(try taken.object()["imported"] as? Int == 2)
            let shown = try await town.signet("bob", "notes", "show", "Plan", "--json").object()
            #expect(shown["body"] as? String == "We meet at nine.\n")
            #expect(
                (shown["comments"] as? [[String: Any]])?.map { $0["text"] as? String } == [
                    "alice@example.org: I bring cake."
                ])
            let wrong = try await town.signet(
                "bob", "notes", "import", "bundle", environment: ["SIGNET_EXPORT_PASSPHRASE": "not these words at all"])
            expect(65, wrong)
            var bytes = Array(try Data(contentsOf: old))
            bytes[bytes.count - 1] ^= 1
            try town.write(bytes, to: "flipped")
            let flipped = try await town.signet("bob", "notes", "import", "flipped", environment: Self.environment)
            expect(65, flipped)
            #expect(flipped.complaint.contains("no way to tell which"))
        }
    }
}
