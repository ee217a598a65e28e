// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SeededRandomness
import Testing

struct DecimalTests {
    @Test(
        arguments: [
            (0, "0"), (1, "1"), (9, "9"), (10, "10"), (100, "100"),
            (9_007_199_254_740_993, "9007199254740993"),
            (UInt64(Int64.max) + 1, "9223372036854775808"), (.max, "18446744073709551615"),
        ] as [(UInt64, String)])
    func aNumberHasOneText(value: UInt64, text: String) throws {
        #expect(Decimal.encode(value) == utf8(text))
        #expect(try Decimal.decode(utf8(text)) == value)
        #expect(try Decimal.decode(utf8(text)[...]) == value)
    }

    @Test(
        arguments: [
            ("", .invalidLength(0)), ("00", .notMinimal), ("01", .notMinimal),
            ("000000000000000000000000", .notMinimal),
            ("+1", .invalidCharacter(offset: 0)), ("-0", .invalidCharacter(offset: 0)),
            ("1 ", .invalidCharacter(offset: 1)),
            (" 1", .invalidCharacter(offset: 0)), ("1\n", .invalidCharacter(offset: 1)),
            ("1_0", .invalidCharacter(offset: 1)),
            ("0x1", .invalidCharacter(offset: 1)), ("1e3", .invalidCharacter(offset: 1)),
            ("1.0", .invalidCharacter(offset: 1)),
            ("/", .invalidCharacter(offset: 0)), (":", .invalidCharacter(offset: 0)),
            ("\u{661}", .invalidCharacter(offset: 0)),
            ("18446744073709551616", .overflow), ("20000000000000000000", .overflow),
            ("99999999999999999999999", .overflow),
        ] as [(String, CanonicalCodingError)])
    func whatIsNotCanonicalIsRefused(text: String, reason: CanonicalCodingError) {
        #expect(throws: reason) { try Decimal.decode(utf8(text)) }
    }

    @Test func aDamagedTextIsRefusedOrPrintsBack() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            let value = generator.next() >> UInt64.random(in: 0..<64, using: &generator)
            let text = generator.mutate(Decimal.encode(value))
            if let read = try? Decimal.decode(text) { #expect(Decimal.encode(read) == text) }
        }
    }
}
