// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    public import Crypto

    extension LoginServerKeys {
        /// The server's part of a registration. It keeps nothing; the client sends the record next.
        ///
        /// - Parameter credential: the account's identifier, the same at each login and never another account's.
        /// - Throws: ``OPAQUEError/unavailable``.
        ///
        /// Spec: RFC 9807, section 5.2.
        public func respond(
            to request: RegistrationRequest, credential: [UInt8]
        ) throws(OPAQUEError) -> RegistrationResponse {
            RegistrationResponse(evaluated: try evaluate(request.blinded, for: credential), server: element)
        }
    }

    /// A server between its two messages of a login.
    ///
    /// Spec: RFC 9807, section 6 (3DH).
    ///
    /// Security: an account that does not exist is answered from a decoy that takes the same work and has the same form;
    /// such a login fails like one with a wrong password. A request that no proof follows is a guess: count it.
    public struct ServerLogin: Sendable {
        /// What to send.
        public let response: LoginResponse
        /// What the client's proof is compared with.
        package let pending: PendingLogin

        /// Answers a login.
        ///
        /// - Parameters:
        ///   - record: what the account registered; nil if there is no such account.
        ///   - credential: the account's identifier; for an account that does not exist, what the client called it.
        /// - Throws: ``OPAQUEError/unavailable``.
        public init(
            _ request: LoginRequest, record: RegistrationRecord?, credential: [UInt8], keys: LoginServerKeys,
            parameters: LoginParameters
        ) throws(OPAQUEError) {
            try self.init(
                request, record: record ?? keys.decoy, credential: credential, keys: keys, parameters: parameters,
                maskingNonce: Randomness.bytes(32), nonce: Randomness.bytes(32),
                keyShareSeed: SymmetricKey(size: .bits256))
        }

        /// With given randomness: for vectors.
        package init(
            _ request: LoginRequest, record: RegistrationRecord, credential: [UInt8], keys: LoginServerKeys,
            parameters: LoginParameters, maskingNonce: [UInt8], nonce: [UInt8], keyShareSeed: SymmetricKey
        ) throws(OPAQUEError) {
            let credentialResponse = CredentialResponse(
                evaluated: try keys.evaluate(request.blinded, for: credential), maskingNonce: maskingNonce,
                masked: Masking.mask(
                    server: keys.element, record.envelope, maskingKey: record.maskingKey, nonce: maskingNonce))
            let keyShare = try ObliviousFunction.keyPair(
                seed: keyShareSeed, purpose: "OPAQUE-DeriveDiffieHellmanKeyPair")
            let preamble = KeySchedule.preamble(
                parameters, request: request, credential: credentialResponse, nonce: nonce,
                keyShare: keyShare.element, server: keys.element, client: record.client)
            let schedule = try KeySchedule(
                [
                    (request.keyShare, keyShare.scalar), (request.keyShare, keys.scalar),
                    (record.client, keyShare.scalar),
                ], preamble: preamble)
            response = LoginResponse(
                credential: credentialResponse, nonce: nonce, keyShare: keyShare.element, mac: schedule.serverMAC)
            pending = PendingLogin(expected: SymmetricKey(data: schedule.clientMAC), sessionKey: schedule.sessionKey)
        }

        /// The session's key, 64 bytes, if the client knew the password.
        ///
        /// - Throws: ``OPAQUEError/clientNotAuthentic``.
        public func finish(_ proof: LoginProof) throws(OPAQUEError) -> SymmetricKey {
            try pending.finish(proof)
        }
    }
#endif
