// SPDX-License-Identifier: Apache-2.0

/// A VRF proof (`pi`): well-formed, **not verified**. Only ``VRFPublicKey/verify(_:for:)`` gives an output.
///
/// Spec: c2sp.org/vrf-r255; RFC 9381, section 5.4.4: gamma (32 bytes) || c (16) || s (32), both little-endian.
public struct VRFProof: Hashable, Sendable {
    /// 80 bytes.
    public static let byteCount = 80

    let gamma: RistrettoPoint
    let gammaEncoded: Bytes32
    /// Below 2^128.
    let challenge: PublicScalar
    let response: PublicScalar

    init(gamma: RistrettoPoint, gammaEncoded: Bytes32, challenge: PublicScalar, response: PublicScalar) {
        self.gamma = gamma
        self.gammaEncoded = gammaEncoded
        self.challenge = challenge
        self.response = response
    }

    /// The proof whose one encoding is `bytes`, 80 bytes.
    ///
    /// - Throws: ``VRFProofError``: wrong length, gamma not canonical or the identity, s not below the group order.
    ///   The prover sent something malformed; a retry does not help.
    public init(_ bytes: [UInt8]) throws(VRFProofError) { try self.init(bytes.span) }

    /// The proof whose one encoding is `bytes`, 80 bytes.
    ///
    /// - Throws: ``VRFProofError``: wrong length, gamma not canonical or the identity, s not below the group order.
    ///   The prover sent something malformed; a retry does not help.
    public init(_ bytes: Span<UInt8>) throws(VRFProofError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        gammaEncoded = Bytes32(bytes)
        guard let gamma = RistrettoPoint(encoded: gammaEncoded) else { throw .gammaInvalid }
        guard !gamma.isIdentity else { throw .gammaIsIdentity }
        guard let response = PublicScalar(canonical: Bytes32(bytes, at: 48)) else { throw .responseNotCanonical }
        self.gamma = gamma
        self.response = response
        // The 32 bytes at 32 are c (16 bytes) and half of s, so the low half is c.
        let challenge = Bytes32(bytes, at: 32)
        self.challenge = PublicScalar(word0: challenge.word0, word1: challenge.word1)
    }

    /// The 80 bytes of the one encoding.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        gammaEncoded.append(to: &bytes)
        challenge.encoded.append(to: &bytes)
        bytes.removeLast(16)
        response.encoded.append(to: &bytes)
        return bytes
    }

    /// Two proofs are equal when their encodings are.
    public static func == (a: VRFProof, b: VRFProof) -> Bool {
        a.gammaEncoded == b.gammaEncoded && a.challenge == b.challenge && a.response == b.response
    }

    /// Hashes the encoding.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(gammaEncoded)
        hasher.combine(challenge)
        hasher.combine(response)
    }
}
