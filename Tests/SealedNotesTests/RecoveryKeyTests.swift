// SPDX-License-Identifier: Apache-2.0

import Crypto
import SeededRandomness
import Testing

@testable import SealedNotes

/// The recovery key as it is printed and typed.
struct RecoveryKeyTests {
    private func isSame(_ left: RecoveryKey, _ right: RecoveryKey) -> Bool { left.wrapKey == right.wrapKey }

    @Test func aPrintedRecoveryKeyRoundTrips() throws {
        for seed in 0..<50 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let bytes =
                seed == 0
                ? [UInt8](repeating: 0, count: 32)
                : seed == 1 ? [UInt8](repeating: 255, count: 32) : generator.bytes(32)
            let key = RecoveryKey(secret: SymmetricKey(data: bytes))
            try key.withPrinted { text throws in
                #expect(text.count == 65 + 12)
                #expect(isSame(try RecoveryKey(typed: text), key))
                let small = text.map { (65...90).contains($0) ? $0 + 32 : $0 == 48 ? 79 : $0 == 49 ? 108 : $0 }
                #expect(isSame(try RecoveryKey(typed: small.filter { $0 != 45 }), key))
            }
        }
    }

    @Test func oneWrongCharacterNamesItsGroup() throws {
        try RecoveryKey.generate().withPrinted { text throws in
            for place in text.indices where text[place] != 45 {
                var other = text
                other[place] = text[place] == 65 ? 66 : 65
                #expect(throws: PrintedKeyError.wrongGroup(place / 6 + 1)) { try RecoveryKey(typed: other) }
            }
        }
    }

    @Test func swappedNeighboursAndGroupsAreFound() throws {
        try RecoveryKey(secret: SymmetricKey(data: Array(1...32))).withPrinted { text throws in
            for place in text.indices.dropLast()
            where text[place] != 45 && text[place + 1] != 45 && text[place] != text[place + 1] {
                var other = text
                other.swapAt(place, place + 1)
                #expect(throws: PrintedKeyError.wrongGroup(place / 6 + 1)) { try RecoveryKey(typed: other) }
            }
            let groups = text.split(separator: 45)
            let swapped = [groups[1], groups[0]] + groups[2...]
            #expect(throws: PrintedKeyError.wrongGroup(1)) {
                try RecoveryKey(typed: Array(swapped.joined(separator: [45])))
            }
        }
    }

    @Test func otherLengthsAndCharactersAreRefused() throws {
        try RecoveryKey.generate().withPrinted { text throws in
            #expect(throws: PrintedKeyError.wrongLength(64)) { try RecoveryKey(typed: text.dropLast()) }
            #expect(throws: PrintedKeyError.wrongLength(66)) { try RecoveryKey(typed: text + [65]) }
            #expect(throws: PrintedKeyError.wrongLength(0)) { try RecoveryKey(typed: []) }
            #expect(throws: PrintedKeyError.invalidCharacter(offset: 77)) { try RecoveryKey(typed: text + [85]) }
        }
    }

    /// The four bits behind the key are zero: one spelling.
    @Test func surplusBitsAreRefused() throws {
        let key = RecoveryKey(secret: SymmetricKey(data: [UInt8](repeating: 0, count: 32)))
        try key.withPrinted { text throws in
            // In the last group 0, 0, 0, 1 and its check, x⁴ + 12 = 16 + 12, which is W.
            var other = text
            other.replaceSubrange(72..<77, with: Array("0001W".utf8))
            #expect(throws: PrintedKeyError.wrongGroup(13)) { try RecoveryKey(typed: other) }
        }
    }
}
