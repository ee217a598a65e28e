// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import Testing
import TransparencyLog

@Suite(
    "tlog-proofs of other software", .enabled(if: OutsideVectors.present, "the outside vectors are not here"))
struct OutsideTlogProofTests {
    struct Case: Decodable {
        let name: String
        let valid: Bool
        let why: String
        let proof: String
        let entry: String
        let policy: String
        let size: UInt64
        let index: UInt64
    }

    @Test func everyCaseHasItsVerdict() throws {
        let cases: [Case] = try OutsideVectors.list("tlog-proof/index.json")
        #expect(cases.count == 70)
        for test in cases {
            let policy = try Policy(decoding: OutsideVectors.bytes("tlog-proof/" + test.policy))
            #expect(try Policy(decoding: policy.encoded) == policy)
            let text = try OutsideVectors.bytes("tlog-proof/" + test.proof)
            let entry = try OutsideVectors.bytes("tlog-proof/" + test.entry)
            let proof = try? TlogProof(decoding: text)
            let verified = try? proof?.verify(entry: entry, policy: policy)
            #expect((verified != nil) == test.valid, "\(test.name): \(test.why)")
            guard let proof, let verified else { continue }
            #expect(proof.encoded == text)
            #expect(proof.inclusion.index == test.index)
            #expect(verified.checkpoint.head.size == test.size)
        }
    }
}

struct TlogProofTests {
    let log: SmallLog
    let policy: Policy
    let good: [UInt8]

    init() throws {
        log = try SmallLog()
        policy = try log.policy("group g all w0 w1\nquorum g\n")
        good = try log.proof(index: 6, size: 11, times: [100, 200]).encoded
    }

    @Test func aProofPrintsWhatItWasReadFrom() throws {
        for extra in [nil, [0], Array(0...255)] as [[UInt8]?] {
            let proof = try log.proof(index: 6, size: 11, times: [100, 200], extra: extra)
            #expect(try TlogProof(decoding: proof.encoded) == proof)
            #expect(try TlogProof(decoding: proof.encoded).encoded == proof.encoded)
            #expect(try proof.verify(entry: log.entries[6], policy: policy).quorumTime == 100)
        }
    }

    @Test func theOnlyEntryNeedsNoHash() throws {
        let proof = try log.proof(index: 0, size: 1, times: [1, 1])
        let read = try TlogProof(decoding: proof.encoded)
        #expect(read.inclusion.hashes.isEmpty)
        _ = try read.verify(entry: log.entries[0], policy: policy)
    }

    @Test func eachMalformedProofHasItsReason() throws {
        let hash = String(decoding: Base64.encode(TreeHash.emptyTree.bytes), as: UTF8.self)
        let manyHashes = "index 6\n" + String(repeating: hash + "\n", count: 60)
        let cases: [([UInt8], TlogProofError)] = [
            ([], .truncated),
            (good.replacing(first: "@v1", with: "@v2"), .unknownHeader),
            (good.replacing(first: "@v1\n", with: "@v1\r\n"), .unknownHeader),
            ([0xEF, 0xBB, 0xBF] + good, .unknownHeader),
            (Array("c2sp.org/tlog-proof@v1".utf8), .truncated),
            (Array("c2sp.org/tlog-proof@v1\n".utf8), .indexMissing),
            (Array("c2sp.org/tlog-proof@v1\nindex 6\n".utf8), .truncated),
            (good.replacing(first: "index", with: "extra \nindex"), .extraEmpty),
            (good.replacing(first: "index", with: "extra A\nindex"), .extra(.invalidPadding)),
            (good.replacing(first: "index", with: "extra AB==\nindex"), .extra(.nonZeroTrailingBits)),
            (good.replacing(first: "index", with: "extra AA== \nindex"), .extra(.invalidPadding)),
            (good.replacing(first: "index", with: "extra\nindex"), .indexMissing),
            (good.replacing(first: "index", with: "Index"), .indexMissing),
            (good.replacing(first: "index", with: "\nindex"), .indexMissing),
            (good.replacing(first: "index 6", with: "index"), .indexMissing),
            (good.replacing(first: "index 6", with: "index "), .index(.invalidLength(0))),
            (good.replacing(first: "index 6", with: "index  6"), .index(.invalidCharacter(offset: 0))),
            (good.replacing(first: "index 6", with: "index 6 "), .index(.invalidCharacter(offset: 1))),
            (good.replacing(first: "index 6", with: "index 06"), .index(.notMinimal)),
            (good.replacing(first: "index 6", with: "index 99999999999999999999"), .index(.overflow)),
            (good.replacing(first: "index 6\n", with: "index 6\nAAAA\n"), .malformedHash(line: 0)),
            (good.replacing(first: "index 6\n", with: "index 6\n*\n"), .malformedHash(line: 0)),
            (good.replacing(first: "index 6\n", with: "index 6\n\(hash)\n*\n"), .malformedHash(line: 1)),
            (good.replacing(first: "index 6\n", with: manyHashes), .tooManyHashes),
            (Array(good.dropLast()), .note(.malformedSignatureLine(line: 2))),
            (good + [0x0A], .note(.signaturesMissing)),
        ]
        for (text, reason) in cases {
            #expect(throws: reason, "\(String(decoding: text, as: UTF8.self))") {
                try TlogProof(decoding: text)
            }
        }
        let long = [UInt8](repeating: 0x0A, count: TlogProof.maximumByteCount + 1)
        #expect(throws: TlogProofError.tooLong(byteCount: long.count)) { try TlogProof(decoding: long) }
    }

    @Test func aProofIsNotMadeOfWhatItCannotHold() throws {
        let note = try log.note(size: 1)
        let many = InclusionProof(index: 0, hashes: Array(repeating: .emptyTree, count: 64))
        let none = InclusionProof(index: 0, hashes: [])
        #expect(throws: TlogProofError.tooManyHashes) {
            try TlogProof(extra: nil, inclusion: many, note: note)
        }
        #expect(throws: TlogProofError.extraEmpty) { try TlogProof(extra: [], inclusion: none, note: note) }
        let long = [UInt8](repeating: 0, count: TlogProof.maximumByteCount)
        #expect(throws: TlogProofError.self) { try TlogProof(extra: long, inclusion: none, note: note) }
    }

    @Test func theTwoHalvesOfAProofFailApart() throws {
        let proof = try TlogProof(decoding: good)
        #expect(throws: TlogProofVerificationError.inclusion(.rootMismatch)) {
            try proof.verify(entry: log.entries[5], policy: policy)
        }
        #expect(throws: TlogProofVerificationError.checkpoint(.quorumNotMet)) {
            try proof.verify(entry: log.entries[6], policy: log.policy("quorum w2\n"))
        }
    }

    @Test func anEmptyLineBeforeTheHashesMakesThemPartOfTheSignedText() throws {
        let proof = try TlogProof(decoding: good.replacing(first: "index 6\n", with: "index 6\n\n"))
        #expect(throws: TlogProofVerificationError.self) {
            try proof.verify(entry: log.entries[6], policy: policy)
        }
    }

    @Test func noBitOfAProofCanBeFlipped() throws {
        _ = try TlogProof(decoding: good).verify(entry: log.entries[6], policy: policy)
        for place in good.indices {
            for bit in 0..<8 {
                var text = good
                text[place] ^= 1 << UInt8(bit)
                let accepted = try? TlogProof(decoding: text).verify(entry: log.entries[6], policy: policy)
                #expect(accepted == nil, "bit \(bit) of byte \(place)")
            }
        }
    }

    @Test func noByteOfAProofCanBeLeftOutOrDoubled() throws {
        for place in good.indices {
            var shorter = good
            shorter.remove(at: place)
            var longer = good
            longer.insert(good[place], at: place)
            for text in [shorter, longer, Array(good[..<place])] {
                let accepted = try? TlogProof(decoding: text).verify(entry: log.entries[6], policy: policy)
                #expect(accepted == nil, "byte \(place)")
            }
        }
    }
}
