// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SeededRandomness
import Testing

struct Base64Tests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func theRFCsExamplesHold(plain: String, text: String) throws {
        #expect(Base64.encode(utf8(plain)) == utf8(text))
        #expect(try Base64.decode(utf8(text)) == utf8(plain))
        let unpadded = utf8(text).filter { $0 != UInt8(ascii: "=") }
        #expect(Base64URL.encode(utf8(plain)) == unpadded)
        #expect(try Base64URL.decode(unpadded) == utf8(plain))
    }

    @Test func theTwoAlphabetsDifferInTwoCharacters() throws {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF]
        #expect(Base64.encode(bytes) == utf8("++++////"))
        #expect(Base64URL.encode(bytes) == utf8("----____"))
        #expect(throws: CanonicalCodingError.invalidCharacter(offset: 0)) {
            try Base64.decode(utf8("----____"))
        }
        #expect(throws: CanonicalCodingError.invalidCharacter(offset: 0)) {
            try Base64URL.decode(utf8("++++////"))
        }
    }

    @Test(
        arguments: [
            ("Z", .invalidPadding), ("Zg", .invalidPadding), ("Zg=", .invalidPadding),
            ("Zm9vYg", .invalidPadding),
            ("====", .invalidCharacter(offset: 0)), ("Z===", .invalidCharacter(offset: 1)),
            ("=", .invalidPadding),
            ("Zg==Zg==", .invalidCharacter(offset: 2)), ("Zm=v", .invalidCharacter(offset: 2)),
            ("Zh==", .nonZeroTrailingBits), ("Zm9=", .nonZeroTrailingBits),
            ("Zm9v====", .invalidCharacter(offset: 4)),
            ("Zm9v\n", .invalidPadding), ("Zm9\n", .invalidCharacter(offset: 3)),
            ("Zm\r\n", .invalidCharacter(offset: 2)),
            ("Zm 9", .invalidCharacter(offset: 2)), ("Zm9\u{0}", .invalidCharacter(offset: 3)),
            ("\u{E9}m9", .invalidCharacter(offset: 0)),
        ] as [(String, CanonicalCodingError)])
    func whatIsNotCanonicalIsRefused(text: String, reason: CanonicalCodingError) {
        #expect(throws: reason) { try Base64.decode(utf8(text)) }
    }

    @Test(
        arguments: [
            ("Z", .invalidLength(1)), ("Zm9vZ", .invalidLength(5)), ("Zg==", .invalidCharacter(offset: 2)),
            ("Zh", .nonZeroTrailingBits), ("Zm9", .nonZeroTrailingBits), ("Zm9v\n", .invalidLength(5)),
            ("Zm9v\n\n", .invalidCharacter(offset: 4)),
        ] as [(String, CanonicalCodingError)])
    func whatIsNotCanonicalWithoutPaddingIsRefused(text: String, reason: CanonicalCodingError) {
        #expect(throws: reason) { try Base64URL.decode(utf8(text)) }
    }

    @Test func eachPairOfLastCharactersStandsForOneValueAtMost() throws {
        let alphabet = utf8("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var seen: Set<[UInt8]> = []
        for first in alphabet {
            for second in alphabet {
                guard let bytes = try? Base64.decode([first, second] + utf8("==")) else { continue }
                #expect(bytes.count == 1)
                #expect(seen.insert(bytes).inserted)
            }
        }
        #expect(seen.count == 256)
    }

    @Test func everyLengthComesBack() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let bytes = generator.bytes(upTo: 100)
            #expect(try Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(try Base64.decode(Base64.encode(bytes)[...]) == bytes)
            #expect(try Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test func aDamagedTextIsRefusedOrPrintsBack() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<20_000 {
            let bytes = generator.bytes(upTo: 40)
            let padded = generator.mutate(Base64.encode(bytes)),
                unpadded = generator.mutate(Base64URL.encode(bytes))
            if let read = try? Base64.decode(padded) { #expect(Base64.encode(read) == padded) }
            if let read = try? Base64URL.decode(unpadded) { #expect(Base64URL.encode(read) == unpadded) }
        }
    }
}
