// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import VRF

struct FieldTests {
    /// RFC 9496, section 4.1, gives each constant by its defining equation.
    @Test func constantsSatisfyTheirDefinitions() {
        let d = FieldElement.curveD
        #expect(d * FieldElement(121_666, 0, 0, 0, 0) == -FieldElement(121_665, 0, 0, 0, 0))
        #expect(FieldElement.twiceCurveD == d + d)
        #expect(FieldElement.sqrtMinusOne.squared == -.one)
        #expect(!FieldElement.sqrtMinusOne.isNegative)
        #expect(FieldElement.sqrtADMinusOne.squared == -d - .one)
        #expect(FieldElement.inverseSqrtAMinusD.squared * (-.one - d) == .one)
        #expect(FieldElement.oneMinusDSquared == .one - d.squared)
        #expect(FieldElement.dMinusOneSquared == (d - .one).squared)
    }

    @Test func theGeneratorLiesOnTheCurveAtFourFifths() {
        let point = RistrettoPoint.generator
        let five = FieldElement(5, 0, 0, 0, 0)
        #expect(point.y * five == FieldElement(4, 0, 0, 0, 0))
        #expect(!point.x.isNegative)
        #expect(point.t == point.x * point.y)
        #expect(point.y.squared - point.x.squared == .one + .curveD * point.t.squared)
    }

    @Test func theLargestLooseLimbsMultiplyLikeTheirCarriedForm() {
        let most: UInt64 = (1 << 54) - 1
        let loose = FieldElement(most, most, most, most, most)
        let tight = loose.carried
        #expect(loose * loose == tight * tight)
        #expect(loose.squared == tight.squared)
        #expect(loose.squared == loose * loose)
        #expect(loose * tight == tight * loose)
    }

    @Test func valuesAroundTheModulusReduce() throws {
        let mask = FieldElement.limbMask
        let modulus = FieldElement(mask - 18, mask, mask, mask, mask)
        #expect(modulus == .zero)
        #expect(FieldElement(mask - 19, mask, mask, mask, mask) == -.one)
        #expect(FieldElement(mask, mask, mask, mask, mask) == FieldElement(18, 0, 0, 0, 0))
        #expect(modulus.encoded == FieldElement.zero.encoded)
        let highest = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
        #expect(FieldElement(canonical: try Bytes32(hex: highest)) == -.one)
    }

    @Test func everyValueFromPUpwardsIsRefusedAsNonCanonical() throws {
        for low in UInt8(0xed)...0xff {
            let tail = String(repeating: "ff", count: 30)
            #expect(FieldElement(canonical: try Bytes32(hex: hex([low]) + tail + "7f")) == nil)
        }
        #expect(FieldElement(canonical: try Bytes32(hex: String(repeating: "00", count: 31) + "80")) == nil)
    }

    @Test func theRootOfARatioSquaresToTheRatio() {
        var generator = SeededGenerator(seed: 0xF1E1D)
        for _ in 0..<500 {
            let u = FieldElement(reducing: Bytes32(generator.bytes(32).span))
            let v = FieldElement(reducing: Bytes32(generator.bytes(32).span))
            let ratio = FieldElement.rootOfRatio(u, v)
            let expected = ratio.isSquare ? u : u * .sqrtMinusOne
            #expect(ratio.root.squared * v == expected, "seed \(generator.seed)")
            #expect(!ratio.root.isNegative, "seed \(generator.seed)")
        }
        #expect(FieldElement.rootOfRatio(.zero, .one).isSquare)
        #expect(FieldElement.rootOfRatio(.zero, .zero).isSquare)
        #expect(!FieldElement.rootOfRatio(.one, .zero).isSquare)
    }
}
