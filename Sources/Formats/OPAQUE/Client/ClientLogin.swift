// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    public import Crypto

    /// A client between its two messages of a login.
    ///
    /// Spec: RFC 9807, section 6 (3DH).
    public struct ClientLogin: Sendable {
        /// What to send.
        public let request: LoginRequest
        private let blind: GroupScalar
        private let keyShare: GroupScalar

        /// What a login that succeeded gives.
        public struct Outcome: Sendable {
            /// What to send.
            public let proof: LoginProof
            /// 64 bytes that the server has too, new in each login.
            public let sessionKey: SymmetricKey
            /// 64 bytes that no other party has, the same in each login with this registration.
            public let exportKey: SymmetricKey
            /// The key that the server proved to hold, 32 bytes.
            public let serverPublicKey: [UInt8]
        }

        /// Blinds a password of 1 to 65,535 bytes.
        ///
        /// - Throws: ``OPAQUEError/invalidPassword`` or ``OPAQUEError/unavailable``.
        public init(password: Span<UInt8>) throws(OPAQUEError) {
            guard sodiumIsReady else { throw .unavailable }
            try self.init(
                password: password, blind: GroupScalar(), nonce: Randomness.bytes(32),
                keyShareSeed: SymmetricKey(size: .bits256))
        }

        /// With given randomness: for vectors.
        package init(
            password: Span<UInt8>, blindBytes: Span<UInt8>, nonce: [UInt8], keyShareSeed: SymmetricKey
        ) throws(OPAQUEError) {
            guard sodiumIsReady, let blind = GroupScalar(blindBytes) else { throw .unavailable }
            try self.init(password: password, blind: blind, nonce: nonce, keyShareSeed: keyShareSeed)
        }

        private init(
            password: Span<UInt8>, blind: GroupScalar, nonce: [UInt8], keyShareSeed: SymmetricKey
        ) throws(OPAQUEError) {
            guard (1...65_535).contains(password.count) else { throw .invalidPassword }
            let pair = try ObliviousFunction.keyPair(
                seed: keyShareSeed, purpose: "OPAQUE-DeriveDiffieHellmanKeyPair")
            request = LoginRequest(
                blinded: try ObliviousFunction.blind(password, by: blind), nonce: nonce, keyShare: pair.element)
            self.blind = blind
            keyShare = pair.scalar
        }

        /// Opens the envelope, checks that the server holds the key registered with, and proves the password.
        ///
        /// - Throws: ``OPAQUEError/notOpened`` for a wrong password and for an account that does not exist alike;
        ///   ``OPAQUEError/serverNotAuthentic``; ``OPAQUEError/outOfMemory``.
        ///
        /// Security: when this returns, password, parameters and stretching are those of the registration and the
        /// server holds the key registered with. Nothing is proven to the server before it has the proof.
        public func finish(
            _ response: LoginResponse, password: Span<UInt8>, parameters: LoginParameters, stretching: KeyStretching
        ) throws(OPAQUEError) -> Outcome {
            guard (1...65_535).contains(password.count) else { throw .invalidPassword }
            let secret = try PasswordSecret(
                password: password, blind: blind, evaluated: response.credential.evaluated, stretching: stretching)
            let (server, envelope) = try Masking.unmask(response.credential, secret.maskingKey)
            let client = try secret.keyPair(nonce: envelope.nonce)
            guard secret.opens(envelope, server: server, client: client.element, parameters) else { throw .notOpened }
            let keys = try schedule(response, server: server, client: client, parameters)
            guard keys.isServerMAC(response.mac) else { throw .serverNotAuthentic }
            return Outcome(
                proof: LoginProof(mac: keys.clientMAC), sessionKey: keys.sessionKey,
                exportKey: secret.exportKey(nonce: envelope.nonce), serverPublicKey: server.bytes)
        }

        private func schedule(
            _ response: LoginResponse, server: GroupElement, client: (scalar: GroupScalar, element: GroupElement),
            _ parameters: LoginParameters
        ) throws(OPAQUEError) -> KeySchedule {
            let preamble = KeySchedule.preamble(
                parameters, request: request, credential: response.credential, nonce: response.nonce,
                keyShare: response.keyShare, server: server, client: client.element)
            return try KeySchedule(
                [(response.keyShare, keyShare), (server, keyShare), (response.keyShare, client.scalar)],
                preamble: preamble)
        }
    }
#endif
