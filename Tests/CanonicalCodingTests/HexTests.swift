// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SeededRandomness
import Testing

struct HexTests {
    /// RFC 4648, section 10, in lower case.
    @Test(arguments: [("", ""), ("f", "66"), ("foobar", "666f6f626172")])
    func theRFCsExamplesHold(plain: String, text: String) throws {
        #expect(Hex.encode(utf8(plain)) == utf8(text))
        #expect(try Hex.decode(utf8(text)) == utf8(plain))
    }

    @Test func everyByteHasItsDigits() throws {
        let bytes = [UInt8](0...255)
        let text = bytes.map { (String($0, radix: 16).count == 1 ? "0" : "") + String($0, radix: 16) }
            .joined()
        #expect(Hex.encode(bytes) == utf8(text))
        #expect(try Hex.decode(utf8(text)) == bytes)
    }

    @Test(
        arguments: [
            ("0", .invalidLength(1)), ("000", .invalidLength(3)), ("0A", .invalidCharacter(offset: 1)),
            ("A0", .invalidCharacter(offset: 0)), ("0g", .invalidCharacter(offset: 1)),
            ("/0", .invalidCharacter(offset: 0)),
            (":0", .invalidCharacter(offset: 0)), ("`0", .invalidCharacter(offset: 0)),
            ("0x00", .invalidCharacter(offset: 1)),
            ("00 0", .invalidCharacter(offset: 2)), ("00\n\n", .invalidCharacter(offset: 2)),
        ] as [(String, CanonicalCodingError)])
    func whatIsNotCanonicalIsRefused(text: String, reason: CanonicalCodingError) {
        #expect(throws: reason) { try Hex.decode(utf8(text)) }
    }

    @Test func aDamagedTextIsRefusedOrPrintsBack() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let text = generator.mutate(Hex.encode(generator.bytes(upTo: 20)))
            if let read = try? Hex.decode(text) { #expect(Hex.encode(read) == text) }
        }
    }
}
