// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VRF

struct RistrettoTests {
    @Test func multiplesOfTheGeneratorHaveThePublishedEncodings() {
        var sum = RistrettoPoint.identity
        for (index, multiple) in RFC9496.multiples.enumerated() {
            #expect(sum.encoded.hex == multiple)
            let scalar = PublicScalar(word0: UInt64(index), word1: 0)
            let product = RistrettoPoint.variableTimeSum(
                PublicScalar(word0: 0, word1: 0), .generator, generatorTimes: scalar)
            #expect(product.encoded.hex == multiple)
            #expect(product == sum)
            sum = sum + .generator
        }
    }

    @Test(arguments: RFC9496.multiples)
    func aPublishedEncodingDecodesAndEncodesToItself(_ encoding: String) throws {
        let point = try #require(RistrettoPoint(encoded: Bytes32(hex: encoding)))
        #expect(point.encoded.hex == encoding)
        #expect((point + .generator) - .generator == point)
        #expect((point + -point).isIdentity)
    }

    @Test(arguments: RFC9496.nonCanonical)
    func decode_refusesAnUnreducedFieldElement(_ encoding: String) throws {
        let bytes = try Bytes32(hex: encoding)
        #expect(FieldElement(canonical: bytes) == nil)
        #expect(RistrettoPoint(encoded: bytes) == nil)
    }

    @Test(arguments: RFC9496.negative)
    func decode_refusesANegativeFieldElement(_ encoding: String) throws {
        let bytes = try Bytes32(hex: encoding)
        #expect(FieldElement(canonical: bytes)?.isNegative == true)
        #expect(RistrettoPoint(encoded: bytes) == nil)
    }

    @Test(arguments: RFC9496.nonSquare)
    func anEncodingWithoutASquareRootIsRefused(_ encoding: String) throws {
        try expectRefusedThoughNonNegative(encoding)
    }

    @Test(arguments: RFC9496.negativeProduct)
    func anEncodingWithANegativeProductIsRefused(_ encoding: String) throws {
        try expectRefusedThoughNonNegative(encoding)
    }

    @Test(arguments: RFC9496.zeroY)
    func anEncodingWithYZeroIsRefused(_ encoding: String) throws {
        try expectRefusedThoughNonNegative(encoding)
    }

    @Test func theOneWayMapGivesThePublishedElements() throws {
        for (input, element) in RFC9496.mapped {
            #expect(RistrettoPoint(mapping: try Digest512(hex: input)).encoded.hex == element)
        }
    }

    /// The four points of edwards25519 that stand for one element differ by these: adding (0, -1) and (±√-1, 0).
    @Test func allFourPointsOfAnElementAreEqualAndEncodeAlike() throws {
        let point = RistrettoPoint.generator
        let (x, y, t) = (point.x, point.y, point.t)
        let turned = [
            RistrettoPoint(x: -x, y: -y, z: .one, t: t),
            RistrettoPoint(x: y * .sqrtMinusOne, y: x * .sqrtMinusOne, z: .one, t: -t),
            RistrettoPoint(x: -(y * .sqrtMinusOne), y: -(x * .sqrtMinusOne), z: .one, t: -t),
        ]
        for other in turned {
            #expect(other == point)
            #expect(other.encoded == point.encoded)
            #expect((other - point).isIdentity)
            #expect((other - point).encoded == RistrettoPoint.identity.encoded)
        }
    }

    private func expectRefusedThoughNonNegative(_ encoding: String) throws {
        let bytes = try Bytes32(hex: encoding)
        #expect(FieldElement(canonical: bytes)?.isNegative == false)
        #expect(RistrettoPoint(encoded: bytes) == nil)
    }
}
