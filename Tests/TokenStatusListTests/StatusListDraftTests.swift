// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import SeededRandomness
import StrictJSON
import Testing

@testable import TokenStatusList

/// Lists that are made here, and read as any other.
struct StatusListDraftTests {
    private let key = P256.Signing.PrivateKey()
    private let now: Int64 = 1_800_000_000

    private func reference(_ index: Int64 = 0) throws -> StatusReference {
        try StatusReference(uri: "https://cred.example/1", index: index)
    }

    private func signed(_ draft: StatusListDraft, lifetime: Int64 = 86_400) throws -> [UInt8] {
        try draft.signed(for: reference(), at: now, lifetime: lifetime) { bytes in
            Array(try key.signature(for: bytes).rawRepresentation)
        }
    }

    private func verified(_ text: [UInt8], at now: Int64? = nil) throws -> VerifiedStatusList {
        try StatusListVerifier.verify(text, for: reference(), signedBy: key.publicKey, at: now ?? self.now)
    }

    @Test(arguments: [1, 2, 4, 8]) func everyEntryIsReadAsItWasSet(bits: Int) throws {
        var generator = SeededGenerator(seed: UInt64(bits))
        var draft = try StatusListDraft(bitsPerEntry: bits, count: 512)
        let expected = (0..<512).map { _ in UInt8.random(in: 0..<UInt8(min(255, 1 << bits)), using: &generator) }
        for (index, status) in expected.enumerated() {
            try draft.set(1, at: Int64(index))
            try draft.set(status, at: Int64(index))
        }
        let list = try verified(try signed(draft))
        #expect(list.bitsPerEntry == bits)
        for (index, status) in expected.enumerated() { #expect(try list.status(at: Int64(index)) == status) }
        #expect(throws: StatusFault.index) { try list.status(at: 512) }
    }

    /// The examples of draft-ietf-oauth-status-list, section 4.1.
    @Test func aListHasTheBytesOfTheSpecification() throws {
        var one = try StatusListDraft(count: 16)
        for index in [0, 3, 4, 5, 7, 8, 9, 13, 15] { try one.set(1, at: Int64(index)) }
        #expect(one.bytes == [0xB9, 0xA3])
        var two = try StatusListDraft(bitsPerEntry: 2, count: 12)
        for (index, status) in [1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3].enumerated() {
            try two.set(UInt8(status), at: Int64(index))
        }
        #expect(two.bytes == [0xC9, 0x44, 0xF9])
    }

    @Test func aListExpiresAfterItsLifetime() throws {
        let text = try signed(StatusListDraft(count: 8), lifetime: 60)
        #expect(throws: Never.self) { try verified(text, at: now + 59) }
        #expect(throws: StatusFault.expiry) { try verified(text, at: now + 60) }
    }

    @Test func draft_refusesOtherSizesIndexesAndStatuses() throws {
        for bits in [0, 3, 16, -1] {
            #expect(throws: StatusListDraftFault.bits) { try StatusListDraft(bitsPerEntry: bits, count: 8) }
        }
        for count in [0, -8, 7, 9, 1 << 30] as [Int64] {
            #expect(throws: StatusListDraftFault.count) { try StatusListDraft(count: count) }
        }
        var draft = try StatusListDraft(bitsPerEntry: 2, count: 8)
        for index in [-1, 8] as [Int64] { #expect(throws: StatusListDraftFault.index) { try draft.set(1, at: index) } }
        #expect(throws: StatusListDraftFault.status) { try draft.set(4, at: 0) }
        #expect(throws: StatusFault.reference) { try StatusReference(uri: "http://cred.example/1", index: 0) }
        #expect(throws: StatusFault.reference) { try StatusReference(uri: "https://cred.example/1", index: -1) }
        let reference = try reference(7)
        #expect(try StatusReference(reference.claim) == reference)
    }

    /// A million entries, one in a hundred withdrawn, hold 10,099 bytes of information (the entropy of a list that is 1 % ones).
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func aLongListTakesAtMostTwoFifthsMoreThanItsEntropy(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var draft = try StatusListDraft(count: 1_000_000)
        for _ in 0..<10_000 { try draft.set(1, at: .random(in: 0..<1_000_000, using: &generator)) }
        let stream = ZlibStream.deflated(draft.bytes)
        #expect(Double(stream.count) < 1.4 * 10_099)
        #expect(try ZlibStream.inflated(stream, maximumByteCount: 125_000) == draft.bytes)
    }

    @Test func deflatedBytesAreInflatedAgain() throws {
        var generator = SeededGenerator(seed: 1951)
        var inputs: [[UInt8]] = [[], [0], [7], [0, 0, 0], [UInt8](0...255), Array(repeating: 9, count: 70_000)]
        for count in [1, 2, 3, 10, 11, 12, 14, 18, 257, 258, 259, 260, 261, 269, 520, 1000] {
            inputs.append(Array(repeating: 3, count: count))
            inputs.append(generator.bytes(count))
        }
        // Symbols whose frequencies grow like the Fibonacci numbers have the longest codes.
        var (first, second) = (1, 1)
        var skewed: [UInt8] = []
        for symbol in 0..<24 as Range<UInt8> {
            skewed += (0..<first).flatMap { _ in [symbol, 255 - symbol] }
            (first, second) = (second, first + second)
            if skewed.count > 300_000 { break }
        }
        inputs.append(skewed)
        for input in inputs {
            #expect(try ZlibStream.inflated(ZlibStream.deflated(input), maximumByteCount: input.count) == input)
        }
    }
}
