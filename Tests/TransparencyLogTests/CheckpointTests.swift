// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing
import TransparencyLog

struct CheckpointTests {
    static let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="

    @Test func theSpecificationsExampleIsRead() throws {
        let text = Array("example.com/behind-the-sofa\n20852163\n\(Self.root)\n".utf8)
        let checkpoint = try Checkpoint(decoding: text)
        #expect(checkpoint.origin.bytes == Array("example.com/behind-the-sofa".utf8))
        #expect(checkpoint.head.size == 20_852_163)
        #expect(Base64.encode(checkpoint.head.root.bytes) == Array(Self.root.utf8))
        #expect(checkpoint.extensions.isEmpty)
        #expect(checkpoint.text == text)
    }

    @Test func extensionLinesAreKept() throws {
        let text = Array("a\n0\n\(Self.root)\nfirst\n— second \n".utf8)
        let checkpoint = try Checkpoint(decoding: text)
        #expect(checkpoint.extensions == [Array("first".utf8), Array("— second ".utf8)])
        #expect(checkpoint.text == text)
    }

    @Test func eachMalformedCheckpointHasItsReason() {
        let root = Self.root
        let short = String(decoding: Base64.encode([UInt8](repeating: 1, count: 31)), as: UTF8.self)
        let cases: [(String, CheckpointError)] = [
            ("", .text(.textNotTerminated)),
            ("a\n1\n\(root)", .text(.textNotTerminated)),
            ("a\n1\n", .lineMissing),
            ("\n", .lineMissing),
            ("\n1\n\(root)\n", .origin(.keyNameEmpty)),
            ("a b\n1\n\(root)\n", .origin(.forbiddenInKeyName(offset: 1))),
            ("a\n\n\(root)\n", .size(.invalidLength(0))),
            ("a\n01\n\(root)\n", .size(.notMinimal)),
            ("a\n+1\n\(root)\n", .size(.invalidCharacter(offset: 0))),
            ("a\n1 \n\(root)\n", .size(.invalidCharacter(offset: 1))),
            ("a\n18446744073709551616\n\(root)\n", .size(.overflow)),
            ("a\n1\n\n", .rootLength(0)),
            ("a\n1\n\(root.dropLast())\n", .root(.invalidPadding)),
            ("a\n1\n\(root.dropLast(2))J=\n", .root(.nonZeroTrailingBits)),
            ("a\n1\n\(short)\n", .rootLength(31)),
            ("a\n1\n\(root)\n\n", .extensionLine(line: 0)),
            ("a\n1\n\(root)\nb\n\nc\n", .extensionLine(line: 1)),
            ("a\n1\n\(root)\nb\r\n", .text(.controlCharacter(offset: 1))),
        ]
        for (text, reason) in cases {
            #expect(throws: reason, "\(text.debugDescription)") { try Checkpoint(decoding: Array(text.utf8)) }
        }
    }

    @Test func aCheckpointIsNotMadeOfWhatItCannotHold() throws {
        let origin = try keyName("a")
        #expect(throws: CheckpointError.extensionLine(line: 0)) {
            try Checkpoint(origin: origin, head: .empty, extensions: [[]])
        }
        #expect(throws: CheckpointError.extensionLine(line: 1)) {
            try Checkpoint(origin: origin, head: .empty, extensions: [[0x61], [0x61, 0x0A]])
        }
        #expect(throws: CheckpointError.text(.invalidUTF8(offset: 0))) {
            try Checkpoint(origin: origin, head: .empty, extensions: [[0xFF]])
        }
    }
}

/// Cosigned checkpoints made by independent Go code.
@Suite(
    "Cosigned checkpoints of other software",
    .enabled(if: OutsideVectors.present, "the outside vectors are not here"))
struct CosignedCheckpointTests {
    struct Case: Decodable {
        let name: String
        let valid: Bool
        let note: String
        let log_vkey: String
        let witness_vkeys: [String]
        let timestamps: [UInt64]
    }

    @Test func everyCaseHasItsVerdictAndItsTimes() throws {
        let cases: [Case] = try OutsideVectors.list("cosigned-checkpoints/cosigned-checkpoints.json")
        #expect(cases.count == 30)
        for test in cases {
            var policy = "log \(test.log_vkey)\n"
            for (number, key) in test.witness_vkeys.enumerated() { policy += "witness w\(number) \(key)\n" }
            policy += "group all-of-them all"
            for number in test.witness_vkeys.indices { policy += " w\(number)" }
            policy += "\nquorum all-of-them\n"
            let note = try SignedNote(decoding: Array(test.note.utf8))
            let verified = try? Policy(decoding: Array(policy.utf8)).verify(note)
            #expect((verified != nil) == test.valid, "\(test.name)")
            if let verified {
                #expect(verified.cosignatures.map(\.time) == test.timestamps, "\(test.name)")
                #expect(verified.quorumTime == test.timestamps.min(), "\(test.name)")
            }
        }
    }
}
