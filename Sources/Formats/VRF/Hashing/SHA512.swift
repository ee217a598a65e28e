// SPDX-License-Identifier: Apache-2.0

// The seam to swift-crypto: the only file of the verifying half that imports anything.
import Crypto

/// SHA-512 of public bytes, from swift-crypto.
func sha512(_ input: Span<UInt8>) -> Digest512 {
    var hash = SHA512()
    input.withUnsafeBytes { hash.update(bufferPointer: $0) }
    let digest = [UInt8](hash.finalize())
    return Digest512(digest.span)
}

extension VRFPublicKey {
    /// Checks that `proof` is this key's proof for `alpha` and gives the VRF's output.
    ///
    /// Spec: RFC 9381, section 5.3 (ECVRF_verify), with validate_key done when this key was made; c2sp.org/vrf-r255.
    ///
    /// - Throws: ``VRFProofError/challengeMismatch``: the proof is another key's, for another `alpha`, or altered.
    ///   The prover misbehaved; a retry does not help.
    ///
    /// Security: when this returns, the value is the only one the key's owner can ever prove for `alpha`.
    /// Variable time: key, proof and `alpha` are public here.
    public func verify(_ proof: VRFProof, for alpha: [UInt8]) throws(VRFProofError) -> VRFHash {
        try verify(proof, for: alpha.span, sha512: sha512)
    }
}
