// SPDX-License-Identifier: Apache-2.0

/// Why a VRF proof is refused. The prover misbehaved or the bytes were altered; no case is worth a retry.
public enum VRFProofError: Error, Hashable, Sendable {
    /// A proof is exactly 80 bytes; this is how many there were.
    case invalidLength(Int)
    /// Gamma is not the one canonical encoding of a ristretto255 element.
    case gammaInvalid
    /// Gamma is the identity element, which no proof under an accepted key has.
    case gammaIsIdentity
    /// The response s is not below the group order.
    case responseNotCanonical
    /// The recomputed challenge differs: another key, another input, or an altered proof.
    case challengeMismatch
}
