// SPDX-License-Identifier: Apache-2.0

import SeededRandomness

#if canImport(CSodium)
    import Testing

    @testable import VRF

    /// Random inputs from fixed seeds, our arithmetic against libsodium's. One published vector has been seen to pass
    /// over a real fault, so these shapes matter: scalars with zero low or high digits, 0, 1 and q - 1, equal points,
    /// opposite points, the identity.
    @Suite(.enabled(if: Oracle.isReady))
    struct SodiumCrossCheckTests {
        static let seeds: [UInt64] = [1, 2, 3, 0x5167_6E65_7400_0001]

        @Test(arguments: seeds)
        func theOneWayMapAgrees(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            for round in 0..<1000 {
                let uniform = generator.bytes(64)
                let point = RistrettoPoint(mapping: Digest512(uniform.span))
                #expect(point.encoded.bytes == Oracle.map(uniform), "seed \(seed), round \(round)")
            }
        }

        @Test(arguments: seeds)
        func decodedElementsAgreeAndRoundTrip(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            var accepted = 0
            for round in 0..<4000 {
                let encoding = generator.nearlyAnEncoding()
                let point = RistrettoPoint(encoded: Bytes32(encoding.span))
                // libsodium 1.0.18 ignores the top bit; RFC 9496, section 4.3.1, step 1, refuses it.
                let expected = encoding[31] < 0x80 && Oracle.isValid(encoding)
                #expect((point != nil) == expected, "seed \(seed), round \(round)")
                guard let point else { continue }
                accepted += 1
                #expect(point.encoded.bytes == encoding, "seed \(seed), round \(round)")
            }
            #expect(accepted > 400 && accepted < 3600, "seed \(seed)")
        }

        @Test(arguments: seeds)
        func sumsAndDifferencesAgree(seed: UInt64) throws {
            var generator = SeededGenerator(seed: seed)
            for round in 0..<500 {
                let (p, q) = try generator.pair()
                let (pBytes, qBytes) = (p.encoded.bytes, q.encoded.bytes)
                #expect((p + q).encoded.bytes == Oracle.add(pBytes, qBytes), "seed \(seed), round \(round)")
                #expect((p - q).encoded.bytes == Oracle.subtract(pBytes, qBytes), "seed \(seed), round \(round)")
                #expect(
                    p.projective.doubled.extended.encoded.bytes == Oracle.add(pBytes, pBytes),
                    "seed \(seed), round \(round)")
                #expect((p == q) == (pBytes == qBytes), "seed \(seed), round \(round)")
            }
        }

        @Test(arguments: seeds)
        func sumsOfTwoProductsAgree(seed: UInt64) throws {
            var generator = SeededGenerator(seed: seed)
            for round in 0..<750 {
                let (p, q) = try generator.pair()
                let (a, b) = (generator.scalar(), generator.scalar())
                let sum = RistrettoPoint.variableTimeSum(try open(a), p, try open(b), q)
                let expected = Oracle.add(
                    Oracle.product(a, p.encoded.bytes), Oracle.product(b, q.encoded.bytes))
                #expect(sum.encoded.bytes == expected, "seed \(seed), round \(round)")
                try expectUsable(sum, "seed \(seed), round \(round)")
            }
        }

        @Test(arguments: seeds)
        func sumsWithTheGeneratorAgree(seed: UInt64) throws {
            var generator = SeededGenerator(seed: seed)
            for round in 0..<750 {
                let (p, _) = try generator.pair()
                let (a, b) = (generator.scalar(), generator.scalar())
                let sum = RistrettoPoint.variableTimeSum(try open(a), p, generatorTimes: try open(b))
                let expected = Oracle.add(Oracle.product(a, p.encoded.bytes), Oracle.generatorTimes(b))
                #expect(sum.encoded.bytes == expected, "seed \(seed), round \(round)")
                try expectUsable(sum, "seed \(seed), round \(round)")
            }
        }

        /// All pairs of the scalars that have caught mistakes, on equal, opposite and unrelated points.
        @Test func sumsOfExtremeProductsAgree() throws {
            var generator = SeededGenerator(seed: 7)
            let p = RistrettoPoint(mapping: Digest512(generator.bytes(64).span))
            let q = RistrettoPoint(mapping: Digest512(generator.bytes(64).span))
            for a in Self.extremes {
                for b in Self.extremes {
                    for other in [p, -p, q, .identity] {
                        let sum = RistrettoPoint.variableTimeSum(try open(a), p, try open(b), other)
                        let expected = Oracle.add(
                            Oracle.product(a, p.encoded.bytes), Oracle.product(b, other.encoded.bytes))
                        #expect(sum.encoded.bytes == expected, "\(hex(a)) \(hex(b))")
                        try expectUsable(sum, "\(hex(a)) \(hex(b))")
                    }
                    let sum = RistrettoPoint.variableTimeSum(try open(a), .generator, generatorTimes: try open(b))
                    let expected = Oracle.add(Oracle.generatorTimes(a), Oracle.generatorTimes(b))
                    #expect(sum.encoded.bytes == expected, "\(hex(a)) \(hex(b))")
                    try expectUsable(sum, "\(hex(a)) \(hex(b))")
                }
            }
        }

        /// 0, 1, 2, q - 1, q - 2, single high bits, zero low words, zero high words, runs of ones.
        private static let extremeWords: [[UInt64]] = [
            [0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [16, 0, 0, 0],
            [0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, 0, 0],
            [0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, 0x0FFF_FFFF_FFFF_FFFF],
            [0x5812_631A_5CF5_D3EC, 0x14DE_F9DE_A2F7_9CD6, 0, 0x1000_0000_0000_0000],
            [0x5812_631A_5CF5_D3EB, 0x14DE_F9DE_A2F7_9CD6, 0, 0x1000_0000_0000_0000],
            [0, 0, 0, 0x1000_0000_0000_0000], [0, 0, 1, 0], [0, 0x8000_0000_0000_0000, 0, 0],
            [0, 0, 0xFFFF_FFFF_FFFF_FFFF, 0x0FFF_FFFF_FFFF_FFFF], [0, 0, 0, 0x0FFF_0000_0000_0000],
        ]

        private static let extremes = extremeWords.map {
            Bytes32(word0: $0[0], word1: $0[1], word2: $0[2], word3: $0[3]).bytes
        }

        /// T must belong to X, Y and Z: a sum whose T is wrong still encodes well now and then, but adds wrongly.
        private func expectUsable(_ point: RistrettoPoint, _ comment: Comment) throws {
            #expect(point.t * point.z == point.x * point.y, comment)
            let next = point + .generator
            let expected = Oracle.add(point.encoded.bytes, RistrettoPoint.generator.encoded.bytes)
            #expect(next.encoded.bytes == expected, comment)
        }

        private func open(_ scalar: [UInt8]) throws -> PublicScalar {
            try #require(PublicScalar(canonical: Bytes32(scalar.span)))
        }
    }

    extension SeededGenerator {
        /// Two points, often related: equal, opposite, one the identity, or the generator.
        fileprivate mutating func pair() throws -> (RistrettoPoint, RistrettoPoint) {
            let p = RistrettoPoint(mapping: Digest512(bytes(64).span))
            switch next() % 8 {
            case 0: return (p, p)
            case 1: return (p, -p)
            case 2: return (p, .identity)
            case 3: return (.identity, p)
            case 4: return (.generator, p)
            default: return (p, RistrettoPoint(mapping: Digest512(bytes(64).span)))
            }
        }

        /// 32 bytes that are an encoding, one changed by a bit, or random with and without the sign bits cleared.
        fileprivate mutating func nearlyAnEncoding() -> [UInt8] {
            var encoding = bytes(32)
            switch next() % 4 {
            case 0: break
            case 1:
                encoding[0] &= 0xFE
                encoding[31] &= 0x7F
            case 2: encoding = RistrettoPoint(mapping: Digest512(bytes(64).span)).encoded.bytes
            default:
                encoding = RistrettoPoint(mapping: Digest512(bytes(64).span)).encoded.bytes
                let bit = Int(next() % 256)
                encoding[bit / 8] ^= 1 << (bit % 8)
            }
            return encoding
        }
    }
#endif
