// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency

// swift-crypto's HPKE speaks `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Asks for a challenge: whose device, and its public keys.
///
/// Wire form: u8 handle length, handle, `DeviceKeys` (1281 bytes).
public struct PossessionRequest: Hashable, Sendable {
    /// The account the device is to belong to.
    public let handle: Handle
    /// The device's public keys.
    public let keys: DeviceKeys

    /// A request.
    public init(handle: Handle, keys: DeviceKeys) {
        self.handle = handle
        self.keys = keys
    }

    /// The wire form.
    public var encoded: [UInt8] {
        [UInt8(truncatingIfNeeded: handle.bytes.count)] + handle.bytes + keys.encoded
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``SubmissionError``.
    public init(decoding bytes: [UInt8]) throws(SubmissionError) {
        do {
            var reader = ByteReader(bytes)
            try self.init(from: &reader)
            try reader.end()
        } catch { throw SubmissionError(error) }
    }

    init(from reader: inout ByteReader) throws {
        let length = Int(try reader.uint8())
        handle = try Handle(canonical: Array(reader.bytes(length)))
        keys = try DeviceKeys(from: &reader)
    }
}

/// What only the holder of both agreement keys can answer: a secret encapsulated to each.
///
/// Wire form: 65-byte P-256 encapsulation, 1120-byte X-Wing encapsulation, token to the end.
///
/// Spec: RFC 9180 in base mode, secret export (section 5.3); suites DHKEM(P-256) with AES-256-GCM, and X-Wing.
public struct PossessionChallenge: Hashable, Sendable {
    /// The server's own note of the secrets, sealed under a key that only it has.
    public let token: [UInt8]
    /// HPKE encapsulation to the P-256 key, 65 bytes.
    public let agreement: [UInt8]
    /// HPKE encapsulation to the X-Wing key, 1120 bytes.
    public let kem: [UInt8]

    /// No token is longer, in bytes.
    public static let maximumTokenByteCount = 512
    /// How long a challenge may be answered, in seconds.
    public static let lifetime: UInt64 = 3600

    /// The wire form.
    public var encoded: [UInt8] { agreement + kem + token }

    /// Reads the wire form.
    ///
    /// - Throws: ``SubmissionError``.
    public init(decoding bytes: [UInt8]) throws(SubmissionError) {
        do {
            var reader = ByteReader(bytes)
            agreement = Array(try reader.bytes(65))
            kem = Array(try reader.bytes(1120))
            token = Array(reader.rest())
            guard token.count <= Self.maximumTokenByteCount else { throw SubmissionError.tokenTooLong }
        } catch { throw SubmissionError(error) }
    }

    /// The server's side: encapsulates a secret to each key and seals them into the token.
    ///
    /// - Parameters:
    ///   - sealingKey: 256 bits that only this server knows; a new one makes old challenges void.
    ///   - now: seconds since 1970.
    /// - Throws: ``SubmissionError/invalidDeviceKey``: a key that nothing can be encapsulated to.
    public init(
        for request: PossessionRequest, sealingKey: SymmetricKey, at now: UInt64
    ) throws(SubmissionError) {
        do {
            let agreementSender = try HPKE.Sender(
                recipientKey: P256.KeyAgreement.PublicKey(
                    compressedRepresentation: request.keys.agreement),
                ciphersuite: .P256_SHA256_AES_GCM_256, info: Self.info)
            let kemSender = try HPKE.Sender(
                recipientKey: XWingMLKEM768X25519.PublicKey(rawRepresentation: request.keys.kem),
                ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: Self.info)
            let secrets = try PossessionSecrets(
                agreement: agreementSender.exportSecret(context: Self.info, outputByteCount: 32),
                kem: kemSender.exportSecret(context: Self.info, outputByteCount: 32))
            let (expiry, _) = now.addingReportingOverflow(Self.lifetime)
            agreement = Array(agreementSender.encapsulatedKey)
            kem = Array(kemSender.encapsulatedKey)
            token = try secrets.sealed(under: sealingKey, until: expiry, for: request)
        } catch { throw .invalidDeviceKey }
    }

    /// The device's side: answers with the private halves of both keys.
    ///
    /// - Throws: ``SubmissionError/unanswerableChallenge``: not a challenge to these keys.
    public func answer(
        for request: PossessionRequest, agreementKey: P256.KeyAgreement.PrivateKey,
        kemKey: XWingMLKEM768X25519.PrivateKey
    ) throws(SubmissionError) -> PossessionProof {
        do {
            let agreementRecipient = try HPKE.Recipient(
                privateKey: agreementKey, ciphersuite: .P256_SHA256_AES_GCM_256, info: Self.info,
                encapsulatedKey: Data(agreement))
            let kemRecipient = try HPKE.Recipient(
                privateKey: kemKey, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256,
                info: Self.info, encapsulatedKey: Data(kem))
            let secrets = try PossessionSecrets(
                agreement: agreementRecipient.exportSecret(context: Self.info, outputByteCount: 32),
                kem: kemRecipient.exportSecret(context: Self.info, outputByteCount: 32))
            return PossessionProof(token: token, mac: secrets.mac(for: request))
        } catch { throw .unanswerableChallenge }
    }

    static let info = Data("signet-possession/v1".utf8)
}

/// The answer to a ``PossessionChallenge``.
public struct PossessionProof: Hashable, Sendable {
    /// The token as received.
    public let token: [UInt8]
    /// HMAC-SHA-256 over the request under both secrets, 32 bytes.
    public let mac: [UInt8]

    init(token: [UInt8], mac: [UInt8]) {
        self.token = token
        self.mac = mac
    }

    /// Checks that the device holds the private halves of both agreement keys.
    ///
    /// - Throws: ``SubmissionError``: ``SubmissionError/challengeExpired`` asks for a new challenge.
    public func verify(
        for request: PossessionRequest, sealingKey: SymmetricKey, at now: UInt64
    ) throws(SubmissionError) {
        let (secrets, expiry) = try PossessionSecrets.open(token, under: sealingKey, for: request)
        guard now <= expiry else { throw .challengeExpired }
        guard secrets.isValid(mac, for: request) else { throw .possessionNotProven }
    }
}

/// The two secrets while both sides compute with them.
private struct PossessionSecrets {
    let combined: SymmetricKey

    init(agreement: SymmetricKey, kem: SymmetricKey) {
        var hash = HMAC<SHA256>(key: agreement)
        kem.withUnsafeBytes { hash.update(data: $0) }
        combined = SymmetricKey(data: hash.finalize())
    }

    private init(combined: SymmetricKey) { self.combined = combined }

    func mac(for request: PossessionRequest) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: request.encoded, using: combined))
    }

    func isValid(_ mac: [UInt8], for request: PossessionRequest) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(mac, authenticating: request.encoded, using: combined)
    }

    func sealed(under key: SymmetricKey, until expiry: UInt64, for request: PossessionRequest) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.write(expiry)
        combined.withUnsafeBytes { writer.write($0) }
        let box = try AES.GCM.seal(writer.bytes, using: key, authenticating: request.encoded)
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    static func open(
        _ token: [UInt8], under key: SymmetricKey, for request: PossessionRequest
    ) throws(SubmissionError) -> (PossessionSecrets, expiry: UInt64) {
        do {
            let box = try AES.GCM.SealedBox(combined: token)
            let opened = try AES.GCM.open(box, using: key, authenticating: request.encoded)
            var reader = ByteReader(Array(opened))
            let expiry = try reader.uint64()
            return (PossessionSecrets(combined: SymmetricKey(data: reader.rest())), expiry)
        } catch { throw .unknownToken }
    }
}
