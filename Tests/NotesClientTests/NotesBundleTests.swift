// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SecretMemory
import SignetClient
import Testing

@testable import NotesClient

/// The form of sealed exports of notes: what is in one comes back, and a bad one is refused.
@Suite struct NotesBundleTests {
    private static let secret = "take these words abroad"
    private static var passphrase: SecretBytes { SecretBytes(copying: secret.utf8) }
    private static let salt = [UInt8](1...16)

    /// An export of two notes, the first with a file of 70,000 bytes; the default cost of opening is the lowest.
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

    @Test func anExportReadsBack() throws {
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

    @Test func anIncompleteFileIsMarked() throws {
        let opened = try Self.open(Self.bundle(isWhole: false))
        #expect(opened.files == [nil] && opened.fileCount == 0)
    }

    @Test func aWrongOrEmptyPassphraseIsReported() throws {
        let bytes = try Self.bundle()
        #expect(throws: BundleError.wrongPassphrase) {
            try Self.open(bytes, SecretBytes(copying: "take these words aboard".utf8))
        }
        #expect(throws: BundleError.emptyPassphrase) { try Self.open(bytes, SecretBytes(copying: [UInt8]())) }
    }

    /// Every length of the head, and around the bounds of each piece.
    @Test func truncationsAndAnExtraByteAreRefused() throws {
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

    @Test func flippedBitsAreRefused() throws {
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

    @Test func repeatedOrMissingPiecesAreRefused() throws {
        let bytes = try Self.bundle()
        let head = NotesBundle.headByteCount
        let piece = NotesBundle.pieceByteCount + NotesBundle.tagByteCount
        let (first, rest) = (bytes[head..<head + piece], bytes[(head + piece)...])
        #expect(throws: BundleError.damaged) { try Self.open(Array(bytes[..<head]) + first + first + rest) }
        #expect(throws: BundleError.damaged) { try Self.open(Array(bytes[..<head]) + rest) }
    }

    /// The head is refused before memory is allocated: the system would refuse four tebibytes with another error.
    @Test func aHeadWithTooHighACostIsRefusedBeforeComputing() throws {
        var bytes = try Self.bundle()
        for (passes, memory) in [(2, UInt32.max), (17, 19_456), (2, 1_048_577)] as [(UInt32, UInt32)] {
            var writer = ByteWriter()
            writer.write(passes)
            writer.write(memory)
            bytes.replaceSubrange(23..<31, with: writer.bytes)
            #expect(throws: BundleError.tooMuchWork, "\(passes), \(memory)") { try Self.open(bytes) }
        }
    }

    @Test func malformedContentUnderAValidSealIsRefused() throws {
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
}
