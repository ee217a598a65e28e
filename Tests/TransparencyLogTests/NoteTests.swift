// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Testing
import TransparencyLog

struct NoteTests {
    /// The example of the signed-note specification.
    static let specKey = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
    static let specNote = """
        This is an example message.

        — example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=

        """

    @Test func theSpecificationsExampleVerifies() throws {
        let key = try VerifierKey(decoding: Array(Self.specKey.utf8))
        let note = try SignedNote(decoding: Array(Self.specNote.utf8))
        #expect(note.text == Array("This is an example message.\n".utf8))
        #expect(note.signatures.count == 1)
        try key.verify(note.signatures[0], of: note.text)
        #expect(note.encoded == Array(Self.specNote.utf8))
        #expect(key.encoded == Array(Self.specKey.utf8))
        #expect(key.keyID.rawValue == 0x530d_903a)
    }

    static let name = "log.example"

    func line(_ name: String = Self.name, byteCount: Int = 68) -> String {
        "— \(name) \(String(decoding: Base64.encode([UInt8](repeating: 7, count: byteCount)), as: UTF8.self))\n"
    }

    @Test func theTextEndsAtTheLastEmptyLine() throws {
        for text in ["one\n", "\n", "\n\n", "one\n\ntwo\n", "one\n\n", "— a b\n", "\none\n"] {
            let note = try SignedNote(decoding: Array((text + "\n" + line()).utf8))
            #expect(note.text == Array(text.utf8))
            #expect(try SignedNote(text: note.text, signatures: note.signatures) == note)
        }
    }

    @Test func eachMalformedNoteHasItsReason() {
        let good = "text\n\n"
        let cases: [(String, NoteError)] = [
            ("", .separatorMissing),
            ("\n", .separatorMissing),
            ("text\n", .separatorMissing),
            ("text" + line(), .separatorMissing),
            ("\n" + line(), .separatorMissing),
            ("text\n\n", .signaturesMissing),
            ("\n\n", .signaturesMissing),
            (good + line() + "\n", .signaturesMissing),
            (good + line().dropLast(), .malformedSignatureLine(line: 0)),
            (good + line() + "- a AAAAAAA=\n", .malformedSignatureLine(line: 1)),
            (good + "—log.example AAAAAAA=\n", .malformedSignatureLine(line: 0)),
            (good + "— log.example\n", .malformedSignatureLine(line: 0)),
            (good + "— log.example AAAAAAA= \n", .malformedSignatureLine(line: 0)),
            (good + "— log.example AAAAAA=\n", .malformedSignatureLine(line: 0)),
            (good + "— log.example AAAAAAB=\n", .malformedSignatureLine(line: 0)),
            (good + "— log.example  AAAAAAA=\n", .malformedSignatureLine(line: 0)),
            (good + line(byteCount: 4), .signatureTooShort(line: 0)),
            (good + "— log.example \n", .signatureTooShort(line: 0)),
            (good + "—  AAAAAAA=\n", .keyNameEmpty),
            (good + "— log+example AAAAAAA=\n", .forbiddenInKeyName(offset: 3)),
            (good + "— log\u{A0}example AAAAAAA=\n", .forbiddenInKeyName(offset: 3)),
            (good + "— log\u{2003}example AAAAAAA=\n", .forbiddenInKeyName(offset: 3)),
            (good + "— log\u{85}example AAAAAAA=\n", .forbiddenInKeyName(offset: 3)),
            ("te\txt\n\n" + line(), .controlCharacter(offset: 2)),
            ("te\r\n\n" + line(), .controlCharacter(offset: 2)),
            ("te\0xt\n\n" + line(), .controlCharacter(offset: 2)),
            (good + String(repeating: line(), count: 101), .tooManySignatures),
        ]
        for (text, reason) in cases {
            #expect(throws: reason, "\(text.debugDescription)") { try SignedNote(decoding: Array(text.utf8)) }
        }
    }

    @Test func aHundredSignaturesAreRead() throws {
        let text = "text\n\n" + String(repeating: line(), count: 100)
        #expect(try SignedNote(decoding: Array(text.utf8)).signatures.count == 100)
    }

    @Test func aNoteBeyondTheLimitIsRefusedBeforeItIsRead() {
        let text = [UInt8](repeating: 0x61, count: SignedNote.maximumByteCount + 1)
        #expect(throws: NoteError.tooLong(byteCount: text.count)) { try SignedNote(decoding: text) }
    }

    @Test func everyKindOfMalformedUTF8IsRefused() {
        let malformed: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF],
            [0xE2, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE],
            [0xFF],
            [0xF0, 0x9F, 0x98],
        ]
        for bytes in malformed {
            #expect(throws: NoteError.invalidUTF8(offset: 1), "\(bytes)") {
                try SignedNote(decoding: [0x61] + bytes + Array(("\n\n" + line()).utf8))
            }
            #expect(throws: NoteError.invalidUTF8(offset: 1)) { try KeyName([0x61] + bytes) }
        }
    }

    @Test func everyScalarAroundTheEdgesOfUTF8IsRead() throws {
        for scalar in [
            "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
            "\u{FEFF}",
        ] {
            let text = Array("\(scalar)\n".utf8)
            #expect(try SignedNote(decoding: text + [0x0A] + Array(line().utf8)).text == text)
            #expect(try KeyName(Array(scalar.utf8)).bytes == Array(scalar.utf8))
        }
    }

    @Test func everyUnicodeSpaceIsRefusedInAKeyName() {
        let spaces: [UInt32] =
            [0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000] + Array(0x2000...0x200A)
        for scalar in spaces.compactMap(Unicode.Scalar.init) {
            #expect(throws: NoteError.forbiddenInKeyName(offset: 1)) {
                try KeyName(Array("a\(scalar)b".utf8))
            }
        }
        for control in UInt8(0)..<0x20 {
            #expect(throws: NoteError.forbiddenInKeyName(offset: 1)) { try KeyName([0x61, control]) }
        }
        #expect(throws: NoteError.keyNameEmpty) { try KeyName([]) }
    }

    @Test func namesInTwoNormalFormsAreTwoNames() throws {
        #expect(try keyName("caf\u{E9}") != keyName("cafe\u{301}"))
    }

    @Test func aNoteIsNotMadeOfWhatItCannotHold() throws {
        let name = try keyName("a")
        let signature = NoteSignature(name: name, keyID: KeyID(rawValue: 1), blob: [1])
        let empty = NoteSignature(name: name, keyID: KeyID(rawValue: 1), blob: [])
        let long = NoteSignature(
            name: name, keyID: KeyID(rawValue: 1),
            blob: [UInt8](repeating: 0, count: SignedNote.maximumByteCount))
        let text = Array("text\n".utf8)
        #expect(throws: NoteError.textNotTerminated) { try SignedNote(text: [], signatures: [signature]) }
        #expect(throws: NoteError.textNotTerminated) { try SignedNote(text: [0x61], signatures: [signature]) }
        #expect(throws: NoteError.controlCharacter(offset: 0)) {
            try SignedNote(text: [0, 10], signatures: [signature])
        }
        #expect(throws: NoteError.signaturesMissing) { try SignedNote(text: text, signatures: []) }
        #expect(throws: NoteError.tooManySignatures) {
            try SignedNote(text: text, signatures: Array(repeating: signature, count: 101))
        }
        #expect(throws: NoteError.signatureTooShort(line: 1)) {
            try SignedNote(text: text, signatures: [signature, empty])
        }
        #expect(throws: NoteError.self) { try SignedNote(text: text, signatures: [long]) }
    }
}

struct VerifierKeyTests {
    @Test func eachMalformedVerifierKeyHasItsReason() throws {
        let good = NoteTests.specKey
        let key = Array(good.utf8)
        let id = try VerifierKey(decoding: key).keyID
        let ecdsa = Base64.encode([0x02] + [UInt8](repeating: 1, count: 32))
        let long = Base64.encode([0x01] + [UInt8](repeating: 1, count: 33))
        let short = Base64.encode([0x06] + [UInt8](repeating: 1, count: 1311))
        let cases: [([UInt8], VerifierKeyError)] = [
            ([], .malformed),
            (Array("example.com/foo".utf8), .malformed),
            (Array("example.com/foo+530d903a".utf8), .malformed),
            (key.replacing(first: "530d903a", with: "530D903A"), .malformedKeyID),
            (key.replacing(first: "530d903a", with: "530d903"), .malformedKeyID),
            (key.replacing(first: "530d903a", with: "0530d903a"), .malformedKeyID),
            (key.replacing(first: "530d903a", with: "530d903b"), .keyIDMismatch(expected: id)),
            (key.replacing(first: "U2k", with: "U2"), .malformedKey),
            (key + [0x0A], .malformedKey),
            (key + Array("+".utf8), .malformedKey),
            (Array("example.com/foo+530d903a+".utf8), .malformedKey),
            (Array("example.com/foo+530d903a+".utf8) + ecdsa, .unsupportedAlgorithm(0x02)),
            (Array("example.com/foo+530d903a+".utf8) + long, .wrongKeyLength(33)),
            (Array("example.com/foo+530d903a+".utf8) + short, .wrongKeyLength(1311)),
            (key.replacing(first: "example.com/foo", with: ""), .name(.keyNameEmpty)),
            (key.replacing(first: "com/foo", with: "com foo"), .name(.forbiddenInKeyName(offset: 11))),
        ]
        for (text, reason) in cases {
            #expect(throws: reason, "\(String(decoding: text, as: UTF8.self))") {
                try VerifierKey(decoding: text)
            }
        }
        #expect(throws: VerifierKeyError.self) {
            try VerifierKey(decoding: key.replacing(first: "foo", with: "fop"))
        }
    }

    @Test func theKeyIDTellsTheTwoAlgorithmsApart() throws {
        let name = try keyName("log.example")
        let bytes = [UInt8](repeating: 3, count: 32)
        let log = try VerifierKey(name: name, algorithm: .ed25519, publicKey: bytes)
        let witness = try VerifierKey(name: name, algorithm: .cosignatureV1, publicKey: bytes)
        #expect(log.keyID != witness.keyID)
        for key in [log, witness] {
            #expect(try VerifierKey(decoding: key.encoded) == key)
            let digest = SHA256.hash(data: name.bytes + [0x0A, key.algorithm.rawValue] + bytes)
            #expect(key.keyID.bytes == Array(digest.prefix(4)))
        }
        #expect(throws: VerifierKeyError.wrongKeyLength(31)) {
            try VerifierKey(name: name, algorithm: .ed25519, publicKey: Array(bytes.dropLast()))
        }
    }

    @Test func aSignerSignsWhatItsKeyVerifies() throws {
        let text = Array("text\n".utf8)
        let log = try signer("log.example", .ed25519, seed: 1)
        let witness = try signer("witness.example", .cosignatureV1, seed: 2)
        try log.verifierKey.verify(try log.sign(text), of: text)
        #expect(try witness.verifierKey.verifyCosignature(try witness.cosign(text, time: 77), of: text) == 77)
        let limit = UInt64(Int64.max)
        #expect(
            try witness.verifierKey.verifyCosignature(try witness.cosign(text, time: limit), of: text)
                == limit)
    }

    @Test func eachRefusalOfASignerIsNamed() throws {
        let log = try signer("log.example", .ed25519, seed: 1)
        let witness = try signer("witness.example", .cosignatureV1, seed: 2)
        let name = log.verifierKey.name
        #expect(throws: NoteSignerError.wrongSeedLength(31)) {
            try NoteSigner(name: name, algorithm: .ed25519, seed: [UInt8](repeating: 1, count: 31))
        }
        #expect(throws: NoteSignerError.wrongAlgorithm) { try log.cosign([0x0A], time: 1) }
        #expect(throws: NoteSignerError.wrongAlgorithm) { try witness.sign([0x0A]) }
        #expect(throws: NoteSignerError.timeOutOfRange) { try witness.cosign([0x0A], time: 1 << 63) }
    }

    @Test func eachFaultOfASignatureIsNamed() throws {
        let text = Array("text\n".utf8)
        let log = try signer("log.example", .ed25519, seed: 1)
        let witness = try signer("witness.example", .cosignatureV1, seed: 2)
        let key = log.verifierKey
        let good = try log.sign(text)
        func changed(_ blob: [UInt8], _ signer: NoteSigner) -> NoteSignature {
            NoteSignature(name: signer.verifierKey.name, keyID: signer.verifierKey.keyID, blob: blob)
        }
        let otherID = NoteSignature(name: key.name, keyID: KeyID(rawValue: 1), blob: good.blob)
        let otherName = NoteSignature(name: try keyName("other"), keyID: key.keyID, blob: good.blob)
        #expect(throws: NoteSignatureError.otherKey) { try key.verify(otherID, of: text) }
        #expect(throws: NoteSignatureError.otherKey) { try key.verify(otherName, of: text) }
        #expect(throws: NoteSignatureError.wrongAlgorithm) { try key.verifyCosignature(good, of: text) }
        #expect(throws: NoteSignatureError.wrongLength(65)) {
            try key.verify(changed(good.blob + [0], log), of: text)
        }
        #expect(throws: NoteSignatureError.invalid) { try key.verify(good, of: text + text) }

        let cosigned = try witness.cosign(text, time: 5)
        #expect(throws: NoteSignatureError.wrongAlgorithm) {
            try witness.verifierKey.verify(cosigned, of: text)
        }
        #expect(throws: NoteSignatureError.wrongLength(64)) {
            try witness.verifierKey.verifyCosignature(
                changed(Array(cosigned.blob.dropLast(8)), witness), of: text)
        }
        #expect(throws: NoteSignatureError.timeOutOfRange) {
            try witness.verifierKey.verifyCosignature(
                changed([0x80] + cosigned.blob.dropFirst(), witness), of: text)
        }
        #expect(throws: NoteSignatureError.invalid) {
            let moved = Array(cosigned.blob[..<7]) + [6] + cosigned.blob[8...]
            _ = try witness.verifierKey.verifyCosignature(changed(moved, witness), of: text)
        }
    }
}
