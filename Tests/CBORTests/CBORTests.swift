// SPDX-License-Identifier: Apache-2.0

import CBOR
import SeededRandomness
import Testing

struct CBORTests {
    private func hex(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func fault(_ bytes: [UInt8], _ limits: CBORLimits = .document) -> CBORFault? {
        do throws(CBORFault) {
            _ = try CBORValue(decoding: bytes, limits: limits)
            return nil
        } catch { return error }
    }

    /// RFC 8949, appendix A: all examples of kinds that are read.
    static let examples: [(String, CBORValue)] = [
        ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
        ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000),
        ("1bffffffffffffffff", .unsigned(.max)), ("3bffffffffffffffff", .negative(.max)), ("20", -1), ("29", -10),
        ("3863", -100), ("3903e7", -1000), ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null),
        ("c074323031332d30332d32315432303a30343a30305a", .tagged(0, "2013-03-21T20:04:00Z")),
        ("c11a514b67b0", .tagged(1, 1_363_896_240)), ("d74401020304", .tagged(23, .bytes([1, 2, 3, 4]))),
        ("d818456449455446", .encodedItem([0x64, 0x49, 0x45, 0x54, 0x46])), ("40", .bytes([])),
        ("4401020304", .bytes([1, 2, 3, 4])), ("60", ""), ("6161", "a"), ("6449455446", "IETF"), ("62225c", "\"\\"),
        ("62c3bc", "\u{fc}"), ("63e6b0b4", "\u{6c34}"), ("64f0908591", "\u{10151}"), ("80", .array([])),
        ("83010203", .array([1, 2, 3])), ("8301820203820405", .array([1, .array([2, 3]), .array([4, 5])])),
        ("a0", .map(CBORMap())),
    ]

    @Test(arguments: examples) func examplesOfTheSpecificationAreReadAndWritten(text: String, value: CBORValue) throws {
        #expect(try CBORValue(decoding: hex(text)) == value)
        #expect(value.encoded == hex(text))
    }

    @Test func aMapKeepsItsOrder() throws {
        for text in ["a201020304", "a203040102", "a26161016162820203", "a26162820203616101"] {
            let read = try CBORValue(decoding: hex(text))
            #expect(read.encoded == hex(text))
        }
        let map = try #require(try CBORValue(decoding: hex("a26161016162820203")).map)
        #expect(map["a"] == 1 && map["b"] == .array([2, 3]) && map["c"] == nil && map[1] == nil)
    }

    /// Two spellings of one number are two documents with one meaning: a signature over one of them does not cover the
    /// other.
    @Test(arguments: [
        "1817", "1900ff", "1a0000ffff", "1b00000000ffffffff", "3800", "5800", "7800", "9800", "b800", "d80000",
    ])
    func aNumberInMoreBytesThanItNeedsIsRefused(text: String) {
        #expect(fault(hex(text)) == .notShortest(offset: 0))
    }

    @Test(arguments: ["5f42010243030405ff", "7f61616162ff", "9fff", "bf616101ff", "1f", "df00"])
    func anItemOfIndefiniteLengthIsRefused(text: String) { #expect(fault(hex(text)) == .notShortest(offset: 0)) }

    @Test(arguments: [
        "f90000", "fa47c35000", "fb3ff199999999999a", "f7", "f0", "f8ff", "f818", "ff", "1c", "3d", "5e", "fc",
    ])
    func floatsUndefinedAndReservedValuesAreRefused(text: String) {
        #expect(fault(hex(text)) == .unsupported(offset: 0))
    }

    @Test func anItemWithMoreOrFewerBytesIsRefused() {
        #expect(fault(hex("0000")) == .trailing(1))
        #expect(fault([]) == .truncated)
        for text in ["18", "1903", "420a", "6261", "8201", "a2010203", "c0", "a101"] {
            #expect(fault(hex(text)) == .truncated, "\(text)")
        }
    }

    /// Lengths beyond the end of the bytes: no memory is allocated for them.
    @Test(arguments: [
        "5bffffffffffffffff", "7b7fffffffffffffff", "9bffffffffffffffff", "bb7fffffffffffffff", "9a00ffffff",
    ])
    func aLengthBeyondTheBytesIsRefusedWithoutAllocating(text: String) { #expect(fault(hex(text)) == .truncated) }

    @Test func aRepeatedKeyAndAKeyOfAnotherKindAreRefused() {
        #expect(fault(hex("a201020103")) == .duplicateKey)
        #expect(fault(hex("a2616101616102")) == .duplicateKey)
        for text in ["a1410102", "a18002", "a1a002", "a1f502", "a1c00102", "a1f602"] {
            #expect(fault(hex(text)) == .keyKind, "\(text)")
        }
    }

    @Test func textThatIsNotUTF8IsRefused() {
        for text in ["61ff", "62c328", "63eda080", "61c3"] { #expect(fault(hex(text)) == .notUTF8, "\(text)") }
    }

    @Test func depthIsBounded() {
        for opening in [[0x81], [0xA1, 0x00], [0xC1]] as [[UInt8]] {
            let limits = CBORLimits(byteCount: 4096, depth: 16)
            func nested(_ depth: Int) -> [UInt8] { Array([[UInt8]](repeating: opening, count: depth).joined()) + [0] }
            #expect(fault(nested(16), limits) == nil)
            #expect(fault(nested(17), limits) == .tooDeep)
            #expect(fault(nested(1000), CBORLimits(byteCount: 4096, depth: 1000)) == .tooDeep)
        }
        // Items beside each other do not count as nested.
        #expect(fault(hex("83808080"), CBORLimits(byteCount: 4, depth: 2)) == nil)
    }

    @Test func moreBytesThanTheLimitAreRefused() {
        #expect(fault(hex("4401020304"), CBORLimits(byteCount: 4, depth: 1)) == .tooLong(5))
        #expect(fault(hex("4401020304"), CBORLimits(byteCount: 5, depth: 1)) == nil)
    }

    @Test func anAcceptedMutantIsWrittenAsTheSameBytes() {
        var generator = SeededGenerator(seed: 8949)
        let seeds = Self.examples.map { $0.1.encoded } + [hex("a26161016162820203")]
        var taken = 0
        for seed in seeds {
            for _ in 0..<1000 {
                let mutant = generator.mutant(of: seed)
                guard let value = try? CBORValue(decoding: mutant) else { continue }
                taken += 1
                if value.encoded != mutant { Issue.record("\(mutant)") }
            }
        }
        #expect(taken > 1000)
    }
}
