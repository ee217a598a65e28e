// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    public import Crypto

    /// A client between its two messages of a registration.
    ///
    /// Spec: RFC 9807, section 5.
    ///
    /// Security: the server learns nothing of the password in a registration, and must be reached over a channel on which
    /// it is authenticated: the account is registered with the party that answers.
    public struct ClientRegistration: Sendable {
        /// What to send.
        public let request: RegistrationRequest
        private let blind: GroupScalar

        /// Blinds a password of 1 to 65,535 bytes.
        ///
        /// - Throws: ``OPAQUEError/invalidPassword`` or ``OPAQUEError/unavailable``.
        public init(password: Span<UInt8>) throws(OPAQUEError) {
            guard sodiumIsReady else { throw .unavailable }
            try self.init(password: password, blind: GroupScalar())
        }

        /// With a given blind: for vectors.
        package init(password: Span<UInt8>, blindBytes: Span<UInt8>) throws(OPAQUEError) {
            guard sodiumIsReady, let blind = GroupScalar(blindBytes) else { throw .unavailable }
            try self.init(password: password, blind: blind)
        }

        private init(password: Span<UInt8>, blind: GroupScalar) throws(OPAQUEError) {
            guard (1...65_535).contains(password.count) else { throw .invalidPassword }
            request = RegistrationRequest(blinded: try ObliviousFunction.blind(password, by: blind))
            self.blind = blind
        }

        /// The record for the server to keep, and the 64-byte key that only this password gives again.
        ///
        /// - Parameter stretching: remembered by the client; never told by the server.
        /// - Throws: ``OPAQUEError/outOfMemory``, ``OPAQUEError/invalidPassword`` or ``OPAQUEError/unavailable``.
        public func finish(
            _ response: RegistrationResponse, password: Span<UInt8>, parameters: LoginParameters,
            stretching: KeyStretching
        ) throws(OPAQUEError) -> (record: RegistrationRecord, exportKey: SymmetricKey) {
            try finish(
                response, password: password, parameters: parameters, stretching: stretching,
                envelopeNonce: Randomness.bytes(32))
        }

        /// With a given nonce: for vectors.
        package func finish(
            _ response: RegistrationResponse, password: Span<UInt8>, parameters: LoginParameters,
            stretching: KeyStretching, envelopeNonce: [UInt8]
        ) throws(OPAQUEError) -> (record: RegistrationRecord, exportKey: SymmetricKey) {
            guard (1...65_535).contains(password.count) else { throw .invalidPassword }
            let secret = try PasswordSecret(
                password: password, blind: blind, evaluated: response.evaluated, stretching: stretching)
            let client = try secret.keyPair(nonce: envelopeNonce).element
            let envelope = secret.envelope(nonce: envelopeNonce, server: response.server, client: client, parameters)
            let record = RegistrationRecord(
                client: client, maskingKey: secret.maskingKey.withUnsafeBytes { Array($0) }, envelope: envelope)
            return (record, secret.exportKey(nonce: envelopeNonce))
        }
    }

    enum Randomness {
        /// From swift-crypto, which asks the system for eight bytes at a time; Swift's own generator asks for each.
        static func bytes(_ count: Int) -> [UInt8] {
            SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
        }
    }
#endif
