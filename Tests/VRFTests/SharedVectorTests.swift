// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VRF

// Skipped, and reported as such, where the folder of shared vectors is absent.
@Suite(.enabled(if: SharedVectors.isPresent, "the folder shared/vectors is not beside the package"))
struct SharedVectorTests {
    let vectors: SharedVectors

    init() throws { vectors = try SharedVectors.load() }

    @Test func theFileHasAllItsEntries() {
        #expect(vectors.valid.count == 40)
        #expect(vectors.invalid.count == 20)
    }

    @Test func everyValidProofVerifiesToItsOutput() throws {
        for vector in vectors.valid {
            let proof = try VRFProof(unhex(vector.pi))
            let output = try VRFPublicKey(unhex(vector.pk)).verify(proof, for: unhex(vector.alpha))
            #expect(hex(output.bytes) == vector.beta)
            #expect(hex(proof.bytes) == vector.pi)
        }
    }

    @Test func everyInvalidEntryIsRefused() throws {
        for vector in vectors.invalid {
            let alpha = try unhex(vector.alpha)
            let (key, proof) = (try unhex(vector.pk), try unhex(vector.pi))
            #expect(throws: (any Error).self, "\(vector.why ?? "")") {
                _ = try VRFPublicKey(key).verify(VRFProof(proof), for: alpha)
            }
        }
    }

    #if canImport(CSodium)
        @Test func everySecretKeyGivesExactlyTheProofAndTheOutput() throws {
            for vector in vectors.valid {
                let key = try VRFPrivateKey(unhex(#require(vector.sk)))
                let (output, proof) = try key.prove(unhex(vector.alpha))
                #expect(hex(key.publicKey.bytes) == vector.pk)
                #expect(hex(proof.bytes) == vector.pi)
                #expect(hex(output.bytes) == vector.beta)
            }
        }
    #endif
}
