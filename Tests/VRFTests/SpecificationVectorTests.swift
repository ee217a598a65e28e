// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VRF

private typealias Vector = SpecificationVector

struct SpecificationVectorTests {
    @Test func theProofVerifiesToTheOutput() throws {
        let key = try VRFPublicKey(unhex(Vector.publicKey))
        let output = try key.verify(VRFProof(unhex(Vector.proof)), for: unhex(Vector.alpha))
        #expect(hex(output.bytes) == Vector.output)
    }

    @Test func theInputIsHashedAndMappedAsSpecified() throws {
        let alpha = try unhex(Vector.alpha)
        let input = VRFTranscript.map(publicKey: try Bytes32(hex: Vector.publicKey), alpha: alpha.span)
        #expect(hex(sha512(input.span).bytes) == Vector.hashString)
        #expect(RistrettoPoint(mapping: try Digest512(hex: Vector.hashString)).encoded.hex == Vector.mapped)
    }

    @Test func theEquationsGiveUAndV() throws {
        let proof = try VRFProof(unhex(Vector.proof))
        let key = try VRFPublicKey(unhex(Vector.publicKey))
        let mapped = try #require(RistrettoPoint(encoded: Bytes32(hex: Vector.mapped)))
        let u = RistrettoPoint.variableTimeSum(proof.challenge, -key.point, generatorTimes: proof.response)
        let v = RistrettoPoint.variableTimeSum(proof.response, mapped, proof.challenge, -proof.gamma)
        #expect(u.encoded.hex == Vector.u)
        #expect(v.encoded.hex == Vector.v)
    }

    @Test func theChallengeIsHashedAsSpecified() throws {
        let transcript = VRFTranscript.challenge(
            publicKey: try Bytes32(hex: Vector.publicKey), mapped: try Bytes32(hex: Vector.mapped),
            gamma: try Bytes32(hex: Vector.gamma), u: try Bytes32(hex: Vector.u), v: try Bytes32(hex: Vector.v))
        #expect(hex(sha512(transcript.span).bytes) == Vector.challengeString)
    }

    #if canImport(CSodium)
        @Test func theSecretKeyGivesTheProofAndTheOutput() throws {
            let key = try VRFPrivateKey(unhex(Vector.secret))
            let (output, proof) = try key.prove(unhex(Vector.alpha))
            #expect(hex(key.publicKey.bytes) == Vector.publicKey)
            #expect(hex(proof.bytes) == Vector.proof)
            #expect(hex(output.bytes) == Vector.output)
        }

        @Test func theNonceIsDerivedAsSpecified() throws {
            let mapped = try Bytes32(hex: Vector.mapped)
            let nonce = VRFNonce(secret: try unhex(Vector.secret), mapped: mapped)
            #expect(nonce.generatorTimes()?.hex == Vector.u)
            #expect(nonce.product(mapped)?.hex == Vector.v)
            let challenge = Array(try unhex(Vector.challengeString).prefix(16)) + [UInt8](repeating: 0, count: 16)
            let response = nonce.response(challenge: Bytes32(challenge.span), secret: try unhex(Vector.secret))
            #expect(response.hex == Vector.response)
        }
    #endif
}
