// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import VRF

struct PublicScalarTests {
    private let order = PublicScalar.order

    @Test func theOrderMinusOneIsTheLargestScalar() {
        let largest = Bytes32(
            word0: order.word0 - 1, word1: order.word1, word2: order.word2, word3: order.word3)
        #expect(PublicScalar(canonical: largest)?.encoded == largest)
    }

    @Test func theOrderAndEverythingAboveItAreRefused() {
        let above = [
            order,
            Bytes32(word0: order.word0 + 1, word1: order.word1, word2: 0, word3: order.word3),
            Bytes32(word0: 0, word1: order.word1 + 1, word2: 0, word3: order.word3),
            Bytes32(word0: 0, word1: 0, word2: 1, word3: order.word3),
            Bytes32(word0: 0, word1: 0, word2: 0, word3: order.word3 + 1),
            Bytes32(word0: .max, word1: .max, word2: .max, word3: .max),
        ]
        for value in above { #expect(PublicScalar(canonical: value) == nil) }
    }

    @Test(arguments: 2...8)
    func digitsAreOddSmallSparseAndAddUp(width: Int) throws {
        var generator = SeededGenerator(seed: 0xD161_7500 + UInt64(width))
        for _ in 0..<300 {
            let scalar = try #require(PublicScalar(canonical: Bytes32(generator.scalar().span)))
            let digits = scalar.digits(width: width)
            #expect(digits.last != 0, "seed \(generator.seed)")
            var lastNonZero = -width
            for (position, digit) in digits.enumerated() where digit != 0 {
                #expect(digit & 1 == 1 && abs(Int(digit)) < 1 << (width - 1), "seed \(generator.seed)")
                #expect(position - lastNonZero >= width, "seed \(generator.seed)")
                lastNonZero = position
            }
            #expect(sum(of: digits) == scalar.encoded, "seed \(generator.seed)")
        }
    }

    /// Σ d(i)·2^i modulo 2^256, from the highest digit downwards.
    private func sum(of digits: [Int8]) -> Bytes32 {
        var words: [UInt64] = [0, 0, 0, 0]
        for digit in digits.reversed() {
            let extended = Int64(digit)
            var carry: UInt64 = 0
            for index in 0..<4 {
                let doubled = words[index] << 1
                let addend = index == 0 ? UInt64(bitPattern: extended) : UInt64(bitPattern: extended >> 63)
                let total = UInt128(doubled) + UInt128(addend) + UInt128(carry)
                carry = UInt64(truncatingIfNeeded: total >> 64) + (words[index] >> 63)
                words[index] = UInt64(truncatingIfNeeded: total)
            }
        }
        return Bytes32(word0: words[0], word1: words[1], word2: words[2], word3: words[3])
    }
}
