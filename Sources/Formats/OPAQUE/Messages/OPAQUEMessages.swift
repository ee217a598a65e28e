// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    /// The client's first message of a registration, 32 bytes: a blinded element.
    ///
    /// Spec: RFC 9807, section 5.1.
    public struct RegistrationRequest: Hashable, Sendable {
        /// 32.
        public static let byteCount = 32
        let blinded: GroupElement

        init(blinded: GroupElement) { self.blinded = blinded }

        /// Reads the wire form.
        ///
        /// - Throws: ``OPAQUEError/malformed``.
        public init(decoding bytes: [UInt8]) throws(OPAQUEError) {
            guard bytes.count == Self.byteCount, let blinded = GroupElement(bytes) else { throw .malformed }
            self.blinded = blinded
        }

        /// The wire form.
        public var encoded: [UInt8] { blinded.bytes }
    }

    /// The server's answer to a registration, 64 bytes: evaluated element, server's public key.
    ///
    /// Spec: RFC 9807, section 5.1.
    public struct RegistrationResponse: Hashable, Sendable {
        /// 64.
        public static let byteCount = 64
        let evaluated: GroupElement
        /// The key that the client is about to register with, 32 bytes. Compare it with the one known out of band.
        public var serverPublicKey: [UInt8] { server.bytes }
        let server: GroupElement

        init(evaluated: GroupElement, server: GroupElement) {
            self.evaluated = evaluated
            self.server = server
        }

        /// Reads the wire form.
        ///
        /// - Throws: ``OPAQUEError/malformed``.
        public init(decoding bytes: [UInt8]) throws(OPAQUEError) {
            guard bytes.count == Self.byteCount, let evaluated = GroupElement(bytes.prefix(32)),
                let server = GroupElement(bytes.suffix(32))
            else { throw .malformed }
            self.init(evaluated: evaluated, server: server)
        }

        /// The wire form.
        public var encoded: [UInt8] { evaluated.bytes + server.bytes }
    }

    /// What the server keeps of an account, 192 bytes: client's public key 32, masking key 64, envelope 96.
    ///
    /// Spec: RFC 9807, section 4.1.1 and section 5.1.
    ///
    /// Security: without the server's OPRF seed no guess at the password can be checked against it.
    public struct RegistrationRecord: Hashable, Sendable {
        /// 192.
        public static let byteCount = 192
        let client: GroupElement
        let maskingKey: [UInt8]
        let envelope: Envelope

        init(client: GroupElement, maskingKey: [UInt8], envelope: Envelope) {
            self.client = client
            self.maskingKey = maskingKey
            self.envelope = envelope
        }

        /// Reads the wire form.
        ///
        /// - Throws: ``OPAQUEError/malformed``.
        public init(decoding bytes: [UInt8]) throws(OPAQUEError) {
            guard bytes.count == Self.byteCount, let client = GroupElement(bytes.prefix(32)) else { throw .malformed }
            self.init(
                client: client, maskingKey: Array(bytes[32..<96]), envelope: Envelope(Array(bytes[96...])))
        }

        /// The wire form.
        public var encoded: [UInt8] { client.bytes + maskingKey + envelope.bytes }
    }

    /// Nonce 32 and tag 64.
    struct Envelope: Hashable, Sendable {
        static let byteCount = 96
        let bytes: [UInt8]

        /// 96 bytes; the caller has checked.
        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var nonce: [UInt8] { Array(bytes.prefix(32)) }
        var tag: [UInt8] { Array(bytes.suffix(64)) }
    }

    /// KE1, the client's first message of a login, 96 bytes: blinded element, nonce, ephemeral key.
    ///
    /// Spec: RFC 9807, section 6.
    public struct LoginRequest: Hashable, Sendable {
        /// 96.
        public static let byteCount = 96
        let blinded: GroupElement
        let nonce: [UInt8]
        let keyShare: GroupElement

        init(blinded: GroupElement, nonce: [UInt8], keyShare: GroupElement) {
            self.blinded = blinded
            self.nonce = nonce
            self.keyShare = keyShare
        }

        /// Reads the wire form.
        ///
        /// - Throws: ``OPAQUEError/malformed``.
        public init(decoding bytes: [UInt8]) throws(OPAQUEError) {
            guard bytes.count == Self.byteCount, let blinded = GroupElement(bytes.prefix(32)),
                let keyShare = GroupElement(bytes.suffix(32))
            else { throw .malformed }
            self.init(blinded: blinded, nonce: Array(bytes[32..<64]), keyShare: keyShare)
        }

        /// The wire form.
        public var encoded: [UInt8] { blinded.bytes + nonce + keyShare.bytes }
    }

    /// KE2, the server's answer to a login, 320 bytes: evaluated element 32, masking nonce 32, masked key and envelope
    /// 128, nonce 32, ephemeral key 32, MAC 64.
    ///
    /// Spec: RFC 9807, section 6.
    public struct LoginResponse: Hashable, Sendable {
        /// 320.
        public static let byteCount = 320
        let credential: CredentialResponse
        let nonce: [UInt8]
        let keyShare: GroupElement
        let mac: [UInt8]

        init(credential: CredentialResponse, nonce: [UInt8], keyShare: GroupElement, mac: [UInt8]) {
            self.credential = credential
            self.nonce = nonce
            self.keyShare = keyShare
            self.mac = mac
        }

        /// Reads the wire form.
        ///
        /// - Throws: ``OPAQUEError/malformed``.
        public init(decoding bytes: [UInt8]) throws(OPAQUEError) {
            guard bytes.count == Self.byteCount, let evaluated = GroupElement(bytes.prefix(32)),
                let keyShare = GroupElement(bytes[224..<256])
            else { throw .malformed }
            self.init(
                credential: CredentialResponse(
                    evaluated: evaluated, maskingNonce: Array(bytes[32..<64]), masked: Array(bytes[64..<192])),
                nonce: Array(bytes[192..<224]), keyShare: keyShare, mac: Array(bytes[256...]))
        }

        /// The wire form.
        public var encoded: [UInt8] { credential.bytes + nonce + keyShare.bytes + mac }
    }

    /// The part of KE2 that carries the envelope, 192 bytes.
    struct CredentialResponse: Hashable, Sendable {
        let evaluated: GroupElement
        let maskingNonce: [UInt8]
        let masked: [UInt8]

        var bytes: [UInt8] { evaluated.bytes + maskingNonce + masked }
    }

    /// KE3, the client's proof that it knew the password, 64 bytes.
    ///
    /// Spec: RFC 9807, section 6.
    public struct LoginProof: Hashable, Sendable {
        /// 64.
        public static let byteCount = 64
        /// The wire form.
        public let encoded: [UInt8]

        init(mac: [UInt8]) { encoded = mac }

        /// Reads the wire form.
        ///
        /// - Throws: ``OPAQUEError/malformed``.
        public init(decoding bytes: [UInt8]) throws(OPAQUEError) {
            guard bytes.count == Self.byteCount else { throw .malformed }
            encoded = bytes
        }
    }
#endif
