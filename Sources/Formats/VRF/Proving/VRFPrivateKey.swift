// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    /// A VRF private key: a secret scalar in guarded memory that is wiped when the last copy goes.
    ///
    /// Security: everything that touches the scalar runs in libsodium in constant time. The key is not `Codable` and
    /// prints nothing of the secret; ``withScalar(_:)`` is the only way to the bytes.
    ///
    /// Spec: c2sp.org/vrf-r255 (`SK` = x).
    public struct VRFPrivateKey: Sendable {
        /// 32 bytes.
        public static let byteCount = 32

        /// The key that others verify with.
        public let publicKey: VRFPublicKey

        private let secret: VRFSecret

        /// The key with this scalar: 32 bytes, little-endian, not zero, below the group order.
        ///
        /// - Throws: ``VRFKeyError``: wrong length, zero or not canonical (the caller's mistake), or
        ///   ``VRFKeyError/sodiumUnavailable``.
        ///
        /// Security: wipe `bytes` afterwards; this copies them.
        public init(_ bytes: [UInt8]) throws(VRFKeyError) { try self.init(bytes.span) }

        /// The key with this scalar: 32 bytes, little-endian, not zero, below the group order.
        ///
        /// - Throws: ``VRFKeyError``: wrong length, zero or not canonical (the caller's mistake), or
        ///   ``VRFKeyError/sodiumUnavailable``.
        ///
        /// Security: wipe the memory behind `bytes` afterwards; this copies it.
        public init(_ bytes: Span<UInt8>) throws(VRFKeyError) { try self.init(VRFSecret(copying: bytes)) }

        /// A new key from the system's random source.
        ///
        /// - Throws: ``VRFKeyError/sodiumUnavailable``.
        public static func generate() throws(VRFKeyError) -> VRFPrivateKey { try VRFPrivateKey(VRFSecret()) }

        private init(_ secret: VRFSecret) throws(VRFKeyError) {
            self.secret = secret
            guard let product = secret.withBytes({ SodiumGroup.generatorTimes($0) }) else { throw .identity }
            publicKey = try VRFPublicKey(product.bytes)
        }

        /// Lends the scalar's 32 bytes, little-endian, for storing it.
        ///
        /// - Throws: any error that `body` throws.
        ///
        /// Security: code that copies the bytes must protect and wipe the copy.
        public func withScalar<Result, Failure: Error>(
            _ body: (Span<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try secret.withBytes { pointer throws(Failure) in
                try body(Span(_unsafeStart: pointer, count: Self.byteCount))
            }
        }

        /// The output for `alpha` and the proof of it. The same `alpha` always gives the same two values.
        ///
        /// Spec: RFC 9381, section 5.1 (ECVRF_prove); c2sp.org/vrf-r255.
        ///
        /// - Throws: ``VRFProvingError/degenerate``, which no findable input causes.
        ///
        /// Security: the output is public once the proof is given away. `alpha` is treated as public: the time taken
        /// depends on its length.
        public func prove(_ alpha: [UInt8]) throws(VRFProvingError) -> (hash: VRFHash, proof: VRFProof) {
            let input = VRFTranscript.map(publicKey: publicKey.encoded, alpha: alpha.span)
            guard let mapped = SodiumGroup.mapped(sha512(input.span)),
                let proof = secret.withBytes({ proof(of: mapped, secret: $0) })
            else { throw .degenerate }
            return (VRFHash(sha512(VRFTranscript.output(gamma: proof.gammaEncoded).span)), proof)
        }

        /// Spec: RFC 9381, section 5.1, steps 4 to 8.
        private func proof(of mapped: Bytes32, secret: UnsafePointer<UInt8>) -> VRFProof? {
            let nonce = VRFNonce(secret: secret, mapped: mapped)
            guard let gamma = SodiumGroup.product(secret, mapped),
                let u = nonce.generatorTimes(),
                let v = nonce.product(mapped)
            else { return nil }
            let transcript = VRFTranscript.challenge(
                publicKey: publicKey.encoded, mapped: mapped, gamma: gamma, u: u, v: v)
            let challenge = PublicScalar(challengeFrom: sha512(transcript.span))
            let response = nonce.response(challenge: challenge.encoded, secret: secret)
            return VRFProof(gamma: gamma, challenge: challenge, response: response)
        }
    }

    extension VRFProof {
        /// Puts together what the prover computed; nil when gamma or the response is not canonical.
        fileprivate init?(gamma: Bytes32, challenge: PublicScalar, response: Bytes32) {
            guard let point = RistrettoPoint(encoded: gamma),
                let response = PublicScalar(canonical: response)
            else { return nil }
            self.init(gamma: point, gammaEncoded: gamma, challenge: challenge, response: response)
        }
    }
#endif
