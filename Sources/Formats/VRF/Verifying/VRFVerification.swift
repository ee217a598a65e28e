// SPDX-License-Identifier: Apache-2.0

extension VRFPublicKey {
    /// ECVRF_verify, with SHA-512 given by the caller, so that this half builds where swift-crypto does not.
    ///
    /// Length, canonical form and the identity were refused when the key and the proof were made.
    ///
    /// Spec: RFC 9381, section 5.3, steps 5 to 9.
    package func verify(
        _ proof: VRFProof, for alpha: Span<UInt8>, sha512: (Span<UInt8>) -> Digest512
    ) throws(VRFProofError) -> VRFHash {
        // Step 5: H = encode_to_curve(PK, alpha).
        let mapped = RistrettoPoint(mapping: sha512(VRFTranscript.map(publicKey: encoded, alpha: alpha).span))
        // Step 6: U = s·B - c·Y.
        let u = RistrettoPoint.variableTimeSum(proof.challenge, -point, generatorTimes: proof.response)
        // Step 7: V = s·H - c·Gamma.
        let v = RistrettoPoint.variableTimeSum(proof.response, mapped, proof.challenge, -proof.gamma)
        // Step 8: c' = challenge_generation(Y, H, Gamma, U, V).
        let transcript = VRFTranscript.challenge(
            publicKey: encoded, mapped: mapped.encoded, gamma: proof.gammaEncoded, u: u.encoded, v: v.encoded)
        // Step 9.
        guard PublicScalar(challengeFrom: sha512(transcript.span)) == proof.challenge else {
            throw .challengeMismatch
        }
        return VRFHash(sha512(VRFTranscript.output(gamma: proof.gammaEncoded).span))
    }
}

extension PublicScalar {
    /// The first 16 bytes of the challenge's digest. Spec: RFC 9381, section 5.4.3, steps 6 and 7.
    init(challengeFrom digest: Digest512) { self.init(word0: digest.low.word0, word1: digest.low.word1) }
}
