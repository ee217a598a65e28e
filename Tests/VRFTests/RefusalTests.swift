// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VRF

private let negativeKey = "81699a8b9918192a977aeb9672d55edb4ff56be7a04a88f18e552144abb4462b"

struct KeyRefusalTests {
    @Test(arguments: [0, 1, 31, 33, 64])
    func aPublicKeyOfAnotherLengthIsRefused(count: Int) throws {
        let bytes = Array((try unhex(SpecificationVector.publicKey) + [UInt8](repeating: 0, count: 32)).prefix(count))
        #expect(throws: VRFKeyError.invalidLength(count)) { try VRFPublicKey(bytes) }
    }

    @Test func publicKey_refusesTheIdentity() {
        #expect(throws: VRFKeyError.identity) { try VRFPublicKey([UInt8](repeating: 0, count: 32)) }
    }

    @Test(
        arguments: RFC9496.nonCanonical + RFC9496.negative + RFC9496.nonSquare + RFC9496.negativeProduct
            + RFC9496.zeroY + [negativeKey])
    func aPublicKeyThatIsNoCanonicalEncodingIsRefused(_ encoding: String) throws {
        let bytes = try unhex(encoding)
        #expect(throws: VRFKeyError.invalidEncoding) { try VRFPublicKey(bytes) }
    }

    @Test func aPublicKeyWithTheTopBitSetIsRefused() throws {
        var bytes = try unhex(SpecificationVector.publicKey)
        bytes[31] |= 0x80
        #expect(throws: VRFKeyError.invalidEncoding) { try VRFPublicKey(bytes) }
    }

    @Test func aPublicKeyPrintsTheBytesItWasReadFrom() throws {
        for encoding in RFC9496.multiples.dropFirst() {
            #expect(hex(try VRFPublicKey(unhex(encoding)).bytes) == encoding)
        }
    }
}

struct ProofRefusalTests {
    private let valid: [UInt8]
    private let key: VRFPublicKey
    private let alpha: [UInt8]

    init() throws {
        valid = try unhex(SpecificationVector.proof)
        key = try VRFPublicKey(unhex(SpecificationVector.publicKey))
        alpha = try unhex(SpecificationVector.alpha)
    }

    @Test(arguments: [0, 32, 79, 81, 160])
    func aProofOfAnotherLengthIsRefused(count: Int) {
        let bytes = Array((valid + valid).prefix(count))
        #expect(throws: VRFProofError.invalidLength(count)) { try VRFProof(bytes) }
    }

    @Test(
        arguments: RFC9496.nonCanonical + RFC9496.negative + RFC9496.nonSquare + RFC9496.negativeProduct
            + RFC9496.zeroY)
    func aGammaThatIsNoCanonicalEncodingIsRefused(_ encoding: String) throws {
        let bytes = try unhex(encoding) + valid[32...]
        #expect(throws: VRFProofError.gammaInvalid) { try VRFProof(bytes) }
    }

    @Test func aGammaThatIsTheIdentityIsRefused() {
        let bytes = [UInt8](repeating: 0, count: 32) + valid[32...]
        #expect(throws: VRFProofError.gammaIsIdentity) { try VRFProof(bytes) }
    }

    @Test func aResponseEqualToTheOrderIsRefused() {
        let bytes = valid[..<48] + PublicScalar.order.bytes
        #expect(throws: VRFProofError.responseNotCanonical) { try VRFProof(Array(bytes)) }
    }

    /// 1d5c…940c + q: the same residue, so only the canonical check tells the two apart.
    @Test func aResponsePlusTheOrderIsRefused() {
        var sum = [UInt8](valid[48...])
        var carry = 0
        for (index, byte) in PublicScalar.order.bytes.enumerated() {
            carry += Int(sum[index]) + Int(byte)
            sum[index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        #expect(throws: VRFProofError.responseNotCanonical) { try VRFProof(valid[..<48] + sum) }
    }

    @Test func aWellFormedProofPrintsTheBytesItWasReadFrom() throws {
        #expect(try VRFProof(valid).bytes == valid)
        var largest = PublicScalar.order.bytes
        largest[0] -= 1
        let edge = valid[..<32] + [UInt8](repeating: 0xFF, count: 16) + largest
        #expect(try VRFProof(Array(edge)).bytes == Array(edge))
    }

    @Test func verify_refusesAnotherGamma() throws {
        let proof = try VRFProof(unhex(RFC9496.multiples[7]) + valid[32...])
        #expect(throws: VRFProofError.challengeMismatch) { try key.verify(proof, for: alpha) }
    }

    @Test func verify_refusesAnotherKey() throws {
        let other = try VRFPublicKey(unhex(RFC9496.multiples[2]))
        let proof = try VRFProof(valid)
        #expect(throws: VRFProofError.challengeMismatch) { try other.verify(proof, for: alpha) }
    }

    @Test func verify_refusesAnotherInput() throws {
        let proof = try VRFProof(valid)
        for other in [[], alpha + [0], Array(alpha.dropLast()), alpha + [10]] {
            #expect(throws: VRFProofError.challengeMismatch) { try key.verify(proof, for: other) }
        }
    }

    /// Each bit of c and of s on its own; a bit of s may also make it too large.
    @Test func everyFlippedBitOfTheProofIsRefused() {
        for bit in 0..<(80 * 8) {
            var bytes = valid
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: VRFProofError.self, "bit \(bit)") {
                _ = try key.verify(VRFProof(bytes), for: alpha)
            }
        }
    }

    @Test func everyFlippedBitOfTheKeyIsRefused() throws {
        let proof = try VRFProof(valid)
        for bit in 0..<256 {
            var bytes = key.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: (any Error).self, "bit \(bit)") {
                _ = try VRFPublicKey(bytes).verify(proof, for: alpha)
            }
        }
    }

    @Test func everyFlippedBitOfTheInputIsRefused() throws {
        let proof = try VRFProof(valid)
        for bit in 0..<(alpha.count * 8) {
            var bytes = alpha
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: VRFProofError.challengeMismatch, "bit \(bit)") {
                try key.verify(proof, for: bytes)
            }
        }
    }
}

struct HashTests {
    @Test(arguments: [0, 32, 63, 65])
    func anOutputOfAnotherLengthIsRefused(count: Int) {
        #expect(VRFHash([UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func anOutputPrintsTheBytesItWasReadFrom() {
        let bytes = (0..<64).map { UInt8($0) }
        #expect(VRFHash(bytes)?.bytes == bytes)
    }
}
