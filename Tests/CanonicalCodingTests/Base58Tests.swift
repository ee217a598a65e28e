// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SeededRandomness
import Testing

struct Base58Tests {
    /// draft-msporny-base58-03, section 5, and Bitcoin Core's base58_encode_decode.json.
    static let examples: [(hex: String, text: String)] = [
        ("48656c6c6f20576f726c6421", "2NEpo7TZRRrLZSi2U"),
        (
            "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c617a7920646f672e",
            "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z"
        ),
        ("0000287fb4cd", "11233QC4"),
        ("", ""), ("61", "2g"), ("626262", "a3gV"), ("636363", "aPEr"),
        ("73696d706c792061206c6f6e6720737472696e67", "2cFupjhnEsSn59qHXstmK2ffpLv2"),
        ("00eb15231dfceb60925886b67d065299925915aeb172c06647", "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"),
        ("516b6fcd0f", "ABnLTmg"), ("bf4f89001e670274dd", "3SEo3LWLoPntC"), ("572e4794", "3EFU7m"),
        ("ecac89cad93923c02321", "EJDM8drfXA6uyA"), ("10c8511e", "Rt5zm"),
        ("00000000000000000000", "1111111111"),
    ]

    @Test func thePublishedExamplesHold() throws {
        for (hex, text) in Self.examples {
            let bytes = try Hex.decode(utf8(hex))
            #expect(try Base58.encode(bytes) == utf8(text))
            #expect(try Base58.decode(utf8(text)) == bytes)
        }
    }

    @Test(arguments: ["0", "O", "I", "l", " ", "+", "-", "2g ", "\u{E9}"])
    func decode_refusesCharactersOutsideTheAlphabet(text: String) {
        let offset = text.utf8.count == 3 ? 2 : 0
        #expect(throws: CanonicalCodingError.invalidCharacter(offset: offset)) {
            try Base58.decode(utf8(text))
        }
    }

    @Test func bothDirectionsAreBounded() throws {
        let longest = [UInt8](repeating: UInt8(ascii: "1"), count: Base58.maximumByteCount)
        #expect(try Base58.decode(longest).count == Base58.maximumByteCount)
        #expect(throws: CanonicalCodingError.invalidLength(4097)) { try Base58.decode(longest + [0x31]) }
        #expect(throws: CanonicalCodingError.invalidLength(4097)) { try Base58.encode(longest + [0x31]) }
    }

    @Test func aDamagedTextIsRefusedOrPrintsBack() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<5000 {
            let text = generator.mutate(try Base58.encode(generator.bytes(upTo: 40)))
            if let read = try? Base58.decode(text) { #expect(try Base58.encode(read) == text) }
        }
    }
}

struct MultibaseTests {
    /// draft-multiformats-multibase-08, appendix B.
    @Test func thePublishedExamplesHold() throws {
        let bytes = utf8("Multibase is awesome! \\o/")
        #expect(try Multibase.encode(bytes, as: .base58btc) == utf8("zYAjKoNbau5KiqmHPmSxYCvn66dA1vLmwbt"))
        #expect(try Multibase.encode(bytes, as: .base64url) == utf8("uTXVsdGliYXNlIGlzIGF3ZXNvbWUhIFxvLw"))
        for encoding in Multibase.Encoding.allCases {
            let read = try Multibase.decode(Multibase.encode(bytes, as: encoding))
            #expect(read.encoding == encoding && read.bytes == bytes)
        }
    }

    @Test func anotherPrefixIsRefused() {
        #expect(throws: CanonicalCodingError.truncated(needed: 1, remaining: 0)) { try Multibase.decode([]) }
        for prefix in UInt8.min...UInt8.max where prefix != UInt8(ascii: "z") && prefix != UInt8(ascii: "u") {
            #expect(throws: CanonicalCodingError.unknownMultibase(prefix)) {
                try Multibase.decode([prefix, 0x31])
            }
        }
    }

    @Test func theFaultsOfTheTextAreThoseOfItsEncoding() {
        #expect(throws: CanonicalCodingError.invalidCharacter(offset: 0)) { try Multibase.decode(utf8("z0")) }
        #expect(throws: CanonicalCodingError.nonZeroTrailingBits) { try Multibase.decode(utf8("uZh")) }
        #expect(throws: CanonicalCodingError.invalidLength(5000)) {
            try Multibase.encode([UInt8](repeating: 1, count: 5000), as: .base58btc)
        }
    }
}
