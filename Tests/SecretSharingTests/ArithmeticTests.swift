// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import SecretSharing

/// Our arithmetic beside swift-crypto's: what we add and multiply, BoringSSL multiplies into the same points.
@Suite struct ArithmeticTests {
    @Test func smallMultiplesOfTheGeneratorAreSwiftCryptos() throws {
        let generator = try SecretScalar([UInt8](repeating: 0, count: 31) + [1]).publicPoint()
        for number in 1...600 {
            let bytes = [UInt8](repeating: 0, count: 30) + [UInt8(number >> 8), UInt8(number & 255)]
            let scalar = try SecretScalar(bytes)
            #expect(try PointSum.multiple(scalar, generator) == scalar.publicPoint())
        }
    }

    @Test func multiplesOfPointsHaveSwiftCryptosCoordinates() throws {
        let scalars = try interestingScalars()
        for (a, b) in zip(scalars, scalars.reversed()) {
            let point = try a.publicPoint()
            #expect(try Array(PointSum.multiple(b, point).encoded.dropFirst()) == agreedX(b, point))
        }
    }

    @Test func aProductOfScalarsIsTheScalarOfTheProduct() throws {
        let scalars = try interestingScalars()
        for a in scalars {
            for b in scalars {
                let product = try ScalarSum.product(a, b).publicPoint()
                #expect(try Array(product.encoded.dropFirst()) == agreedX(b, a.publicPoint()))
            }
        }
    }

    @Test func aSumOfScalarsIsTheScalarOfTheSum() throws {
        let scalars = try interestingScalars()
        for a in scalars {
            for b in scalars {
                let sum = try? ScalarSum.of([a, b])
                let points = try? PointSum.of(a.publicPoint(), b.publicPoint())
                #expect(try sum?.publicPoint() == points)
            }
        }
    }

    @Test func aScalarAndItsNegativeAddUpToNothing() throws {
        for scalar in try interestingScalars() {
            let negative = Residue<GroupOrder>.zero - scalar.residue
            #expect((scalar.residue + negative).isZero)
            let point = try scalar.publicPoint()
            #expect(
                CurvePoint(JacobianPoint.identity + point.affine + (try SecretScalar(negative).publicPoint().affine))
                    == nil)
        }
    }

    @Test func anInverseTimesTheValueIsOne() throws {
        for scalar in try interestingScalars() {
            #expect(scalar.residue * scalar.residue.inverted() == .one)
        }
        #expect(Residue<GroupOrder>.zero.inverted().isZero)
        #expect(Residue<FieldPrime>(5) * Residue<FieldPrime>(5).inverted() == .one)
    }

    @Test func aPointAddedToItselfIsDoubled() throws {
        let two = try SecretScalar([UInt8](repeating: 0, count: 31) + [2])
        let generator = try SecretScalar([UInt8](repeating: 0, count: 31) + [1]).publicPoint()
        #expect(try PointSum.of(generator, generator) == two.publicPoint())
    }

    @Test func scalar_refusesZeroAndTheOrder() throws {
        let order = try interestingScalars()[3].exposed.dropLast() + [0x51]
        #expect(throws: SecretScalarError.notBelowOrder) { try SecretScalar(Array(order)) }
        #expect(throws: SecretScalarError.notBelowOrder) { try SecretScalar([UInt8](repeating: 0xFF, count: 32)) }
        #expect(throws: SecretScalarError.zero) { try SecretScalar([UInt8](repeating: 0, count: 32)) }
    }

    @Test(arguments: [0, 31, 33]) func scalar_refusesAnotherLength(_ count: Int) {
        #expect(throws: SecretScalarError.invalidLength(count)) {
            try SecretScalar([UInt8](repeating: 1, count: count))
        }
    }

    @Test func aScalarComesBackWithItsLeadingZeros() throws {
        let bytes = [UInt8](repeating: 0, count: 20) + [UInt8](repeating: 9, count: 12)
        #expect(try SecretScalar(bytes).exposed == bytes)
        #expect(try ScalarSum.of([SecretScalar(bytes)]).exposed == bytes)
    }

    @Test func aSecretPrintsNothingOfItself() throws {
        let scalar = try SecretScalar([UInt8](repeating: 0x41, count: 32))
        var text = ""
        dump(scalar, to: &text)
        dump(SecretShare(index: try index(7), scalar: scalar), to: &text)
        print(scalar, String(reflecting: scalar), scalar.signingKeyDescription, to: &text)
        #expect(!text.contains("65") && !text.contains("41") && !text.contains("AAAA"))
    }
}

extension SecretScalar {
    fileprivate var signingKeyDescription: String { "\(self)" }
}
