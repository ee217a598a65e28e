// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import SignetClient
import Testing

@testable import NotesClient

/// Sealed exports of notes: what is in them comes back, and of a bad one nothing does.
@Suite(.serialized) struct NotesBundleTests {
    private static let secret = "take these words abroad"
    private static var passphrase: SecretBytes { SecretBytes(copying: secret.utf8) }
    private static let environment = ["SIGNET_EXPORT_PASSPHRASE": secret]
    private static let salt = [UInt8](1...16)

    /// An export of two notes, the first with a file of 70,000 bytes; as cheap to open as may be.
    private static func bundle(cost: KeystoreCost = .minimum, isWhole: Bool = true) throws -> [UInt8] {
        let bundle = try NotesBundle(sealingUnder: passphrase, cost: cost, salt: salt)
        var (bytes, writer) = (bundle.head, BundleWriter(bundle))
        let write = { (piece: [UInt8]) in
            bytes += piece
            return true
        }
        for (number, files) in [(1, #"{"bytes":70000,"name":"map","type":"x/y"}"#), (2, "")] {
            let name = String(repeating: "0", count: 31) + "\(number)"
            let json = """
                {"note":"\(name)","members":[],"titleBytes":"VGl0bGU=","bodyBytes":"Qm9keQ==","tags":[],"stars":[],\
                "comments":[],"attachments":[\(files)]}
                """
            try writer.write(BundledNote(decoding: Array(json.utf8)), write)
            guard !files.isEmpty else { continue }
            try writer.beginFile(0, write)
            for start in [0, 65_536] {
                try writer.writeFile(Array(Self.file[start..<min(start + 65_536, 70_000)]), write)
            }
            try writer.endFile(isWhole: isWhole, write)
        }
        try writer.end(write)
        return bytes
    }

    private static let file = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private static func source(_ bytes: [UInt8]) -> BundleSource {
        { offset, count in Array(bytes.dropFirst(Int(offset)).prefix(count)) }
    }

    private static func open(_ bytes: [UInt8], _ passphrase: SecretBytes = passphrase) throws -> OpenedBundle {
        try OpenedBundle(passphrase: passphrase, reading: source(bytes))
    }

    // MARK: The form

    @Test func whatWasWrittenIsRead() throws {
        let bytes = try Self.bundle()
        let opened = try Self.open(bytes)
        #expect(opened.noteCount == 2 && opened.files == [70_000])
        var (reader, read, items) = (BundleReader(opened.content), [UInt8](), [String]())
        while let item = try reader.next(Self.source(bytes)) {
            switch item {
            case .note(let note): items.append(String(decoding: note.titleBytes, as: UTF8.self) + note.note.suffix(1))
            case .fileBegins(let number):
                items.append("file \(number)")
                while let piece = try reader.nextPiece(Self.source(bytes)) { read += piece }
            case .fileEnds(let isWhole): items.append(isWhole ? "whole" : "cut")
            }
        }
        #expect(items == ["Title1", "file 0", "whole", "Title2"])
        #expect(read == Self.file)
    }

    @Test func aFileOfWhichTheServerShowedAPartIsMarked() throws {
        let opened = try Self.open(Self.bundle(isWhole: false))
        #expect(opened.files == [nil] && opened.fileCount == 0)
    }

    @Test func anotherPassphraseIsSaidToBeAnother() throws {
        let bytes = try Self.bundle()
        #expect(throws: BundleError.wrongPassphrase) {
            try Self.open(bytes, SecretBytes(copying: "take these words aboard".utf8))
        }
        #expect(throws: BundleError.emptyPassphrase) { try Self.open(bytes, SecretBytes(copying: [UInt8]())) }
    }

    /// Every length of the head, and around the bounds of each piece.
    @Test func whateverIsMissingAtTheEndIsNoticed() throws {
        let bytes = try Self.bundle()
        let head = NotesBundle.headByteCount
        let piece = NotesBundle.pieceByteCount + NotesBundle.tagByteCount
        try #require(bytes.count > head + piece + 1)
        for count in Array(NotesBundle.format.count..<head) {
            #expect(throws: BundleError.damaged, "\(count)") { try Self.open(Array(bytes.prefix(count))) }
        }
        for count in [
            head, head + 1, head + 15, head + 16, head + piece - 1, head + piece, head + piece + 1, bytes.count - 1,
        ] {
            #expect(throws: BundleError.damaged, "\(count)") { try Self.open(Array(bytes.prefix(count))) }
        }
        #expect(throws: BundleError.damaged) { try Self.open(bytes + [0]) }
        for count in 0..<NotesBundle.format.count {
            #expect(throws: BundleError.otherFormat, "\(count)") { try Self.open(Array(bytes.prefix(count))) }
        }
    }

    @Test func anyBitThatIsFlippedIsNoticed() throws {
        let bytes = try Self.bundle()
        let head = NotesBundle.headByteCount
        func flipped(_ place: Int, _ bit: UInt8 = 0) -> [UInt8] {
            var changed = bytes
            changed[place] ^= 1 << bit
            return changed
        }
        for place in 0..<NotesBundle.format.count {
            #expect(throws: BundleError.otherFormat, "\(place)") { try Self.open(flipped(place)) }
        }
        // Passes, memory, salt and check: each makes another secret, or asks for too much or too little.
        let places: [(Int, UInt8, BundleError)] = [
            (23, 0, .tooMuchWork), (26, 0, .wrongPassphrase), (26, 1, .tooLittleWork), (27, 7, .tooMuchWork),
            (29, 6, .tooLittleWork), (30, 0, .wrongPassphrase), (31, 0, .wrongPassphrase), (46, 7, .wrongPassphrase),
            (47, 0, .wrongPassphrase), (head - 1, 7, .wrongPassphrase),
        ]
        for (place, bit, error) in places {
            #expect(throws: error, "\(place), \(bit)") { try Self.open(flipped(place, bit)) }
        }
        for place in [head, head + 65_535, head + 65_536, head + 65_551, head + 65_552, bytes.count - 1] {
            #expect(throws: BundleError.damaged, "\(place)") { try Self.open(flipped(place)) }
        }
    }

    @Test func piecesThatChangedPlacesAreNoticed() throws {
        let bytes = try Self.bundle()
        let head = NotesBundle.headByteCount
        let piece = NotesBundle.pieceByteCount + NotesBundle.tagByteCount
        let (first, rest) = (bytes[head..<head + piece], bytes[(head + piece)...])
        #expect(throws: BundleError.damaged) { try Self.open(Array(bytes[..<head]) + first + first + rest) }
        #expect(throws: BundleError.damaged) { try Self.open(Array(bytes[..<head]) + rest) }
    }

    /// The memory is refused before it is asked for: four tebibytes would be refused by the system, with another error.
    @Test func aHeadThatAsksForTooMuchIsRefusedBeforeAnythingIsComputed() throws {
        var bytes = try Self.bundle()
        for (passes, memory) in [(2, UInt32.max), (17, 19_456), (2, 1_048_577)] as [(UInt32, UInt32)] {
            var writer = ByteWriter()
            writer.write(passes)
            writer.write(memory)
            bytes.replaceSubrange(23..<31, with: writer.bytes)
            #expect(throws: BundleError.tooMuchWork, "\(passes), \(memory)") { try Self.open(bytes) }
        }
    }

    @Test func whatIsNoExportInsideIsRefused() throws {
        let bundle = try NotesBundle(sealingUnder: Self.passphrase, cost: .minimum, salt: Self.salt)
        func note(_ name: String, _ files: String = "") -> [UInt8] {
            let json = """
                {"note":"\(name)","members":[],"titleBytes":"","bodyBytes":"","tags":[],"stars":[],"comments":[],\
                "attachments":[\(files)]}
                """
            return [1, 0, 0, 0, UInt8(json.utf8.count)] + Array(json.utf8)
        }
        let name = String(repeating: "a1", count: 16)
        let whole = note(name)
        let named = note(name, #"{"bytes":1,"name":"f","type":""}"#)
        for content: [UInt8] in [
            [], [3], [1], [1, 0xFF, 0xFF, 0xFF, 0xFF], [1, 0, 0, 0, 1, 0], [2, 0], whole, named + [2, 0],
            named + [2, 0, 0, 1, 0, 1], named + [2, 0, 0, 0, 0, 0, 2], whole + [0, 0, 0, 0, 2, 0, 0, 0, 0],
            note("a1") + [0, 0, 0, 0, 1, 0, 0, 0, 0], named + [2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1],
            whole + [0, 0, 0, 0, 1, 0, 0, 0, 1], whole + [0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
        ] {
            let bytes = try bundle.head + bundle.seal(content, piece: 0, isLast: true)
            #expect(throws: BundleError.malformed, "\(content.suffix(8))") { try Self.open(bytes) }
        }
        let good = try bundle.head + bundle.seal(whole + [0, 0, 0, 0, 1, 0, 0, 0, 0], piece: 0, isLast: true)
        #expect(try Self.open(good).noteCount == 1)
    }

    // MARK: With programs

    @Test func anExportBringsNotesAndFilesToAnotherAccountOnce() async throws {
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
            #expect((try first.object()["filesLeftOut"] as? [String])?.count == 3, "files take a network")
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

    @Test func withoutTheServerFilesAreLeftOutWhenThatIsAskedForAndElseNothingIsWritten() async throws {
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

    @Test func ofABadExportNothingIsTakenIn() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "notes", "sync"))
            let good = try Self.bundle()
            var (flipped, greedy) = (good, good)
            flipped[good.count - 20] ^= 1
            greedy.replaceSubrange(27..<31, with: [0xFF, 0xFF, 0xFF, 0xFF])
            let newer = Array("signet-notes-bundle/v9\n".utf8) + good.dropFirst(23)
            for (bytes, words) in [
                (Array(good.dropLast(100)), "incomplete"), (flipped, "changed"), (greedy, "more memory"),
                (newer, "newer signet"),
            ] {
                try town.write(bytes, to: "bundle")
                let exit = try await town.signet("alice", "notes", "import", "bundle", environment: Self.environment)
                expect(65, exit)
                #expect(exit.complaint.contains(words), "\(exit.errors)")
            }
            try town.write(good, to: "bundle")
            let wrong = try await town.signet(
                "alice", "notes", "import", "bundle",
                environment: ["SIGNET_EXPORT_PASSPHRASE": "not these words at all"])
            expect(65, wrong)
            #expect(wrong.complaint.contains("passphrase"))
            #expect(
                (try await town.signet("alice", "notes", "ls", "--json").object()["notes"] as? [Any])?.isEmpty == true)
        }
    }

    /// Made by the program of 2026-11-23, which knew no other form.
    @Test func anExportOfBeforeIsReadAndTakenIn() async throws {
        let old = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Vectors/old/notes-bundle-1").standardized
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
