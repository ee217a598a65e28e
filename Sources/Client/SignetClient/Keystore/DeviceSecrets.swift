// SPDX-License-Identifier: Apache-2.0

package import Crypto
public import KeyTransparency
import SecretMemory
public import SignetAPI

/// The private keys of this device and, on the first device, the account's identity key or what signs with it.
///
/// Security: not codable and not printable. Private halves are used in this type and never handed out.
public struct DeviceSecrets: Sendable {
    /// The handle of the account to which the device belongs.
    public let handle: Handle
    /// The public halves.
    public let keys: DeviceKeys
    /// The account's identity key, P-256, 33 bytes compressed; nil on a device that does not hold it.
    public let identityKey: [UInt8]?

    let signing: SecretBytes
    let agreement: SecretBytes
    let kem: SecretBytes
    let identity: Identity?

    /// Where the private half of the identity key is held.
    enum Identity: Sendable {
        case held(SecretBytes)
        /// In a place that signs by itself.
        case elsewhere(any IdentitySigner)
    }

    /// Makes new keys.
    ///
    /// - Parameter withIdentity: whether this is the account's first device.
    /// - Throws: ``KeystoreError/keysDoNotFit`` if the cryptographic library made keys that it refuses, which is a bug.
    public static func generate(
        for handle: Handle, withIdentity: Bool
    ) throws(KeystoreError) -> DeviceSecrets {
        try generate(
            for: handle,
            identity: withIdentity
                ? .held(SecretBytes(copying: P256.Signing.PrivateKey().rawRepresentation)) : nil)
    }

    static func generate(for handle: Handle, identity: Identity?) throws(KeystoreError) -> DeviceSecrets {
        do {
            return try DeviceSecrets(
                handle: handle,
                signing: SecretBytes(copying: Curve25519.Signing.PrivateKey().rawRepresentation),
                agreement: SecretBytes(copying: P256.KeyAgreement.PrivateKey().rawRepresentation),
                kem: SecretBytes(copying: XWingMLKEM768X25519.PrivateKey.generate().seedRepresentation),
                identity: identity)
        } catch { throw .keysDoNotFit }
    }

    init(
        handle: Handle, signing: SecretBytes, agreement: SecretBytes, kem: SecretBytes,
        identity: Identity?
    ) throws(KeystoreError) {
        self.handle = handle
        self.signing = signing
        self.agreement = agreement
        self.kem = kem
        self.identity = identity
        do {
            keys = try DeviceKeys(
                signing: Array(Self.signingKey(signing).publicKey.rawRepresentation),
                agreement: Array(Self.agreementKey(agreement).publicKey.compressedRepresentation),
                kem: Array(Self.kemKey(kem).publicKey.rawRepresentation))
            switch identity {
            case nil: identityKey = nil
            case .held(let secret):
                identityKey = Array(try Self.identityPrivateKey(secret).publicKey.compressedRepresentation)
            case .elsewhere(let signer): identityKey = signer.publicKey
            }
        } catch { throw .keysDoNotFit }
    }

    /// Signs with the device's Ed25519 key; 64 bytes. Signed data begins with the line of one of our formats: no two uses of
    /// the key sign the same bytes, and an app cannot have bytes of its choice signed.
    ///
    /// - Throws: ``KeystoreError/keysDoNotFit``, which is a bug.
    package func sign(_ message: [UInt8]) throws(KeystoreError) -> [UInt8] {
        do { return Array(try Self.signingKey(signing).signature(for: message)) } catch {
            throw .keysDoNotFit
        }
    }

    /// Signs with the identity key: ECDSA on P-256 with SHA-256, r || s, 64 bytes; nil on a device that does not hold it.
    ///
    /// - Throws: ``KeystoreError/place(_:_:)``, from a place that signs by itself; ``KeystoreError/keysDoNotFit``, which is a
    ///   bug.
    package func signAsIdentity(_ message: [UInt8]) throws(KeystoreError) -> [UInt8]? {
        switch identity {
        case nil: return nil
        case .held(let secret):
            do {
                return Array(try Self.identityPrivateKey(secret).signature(for: message).rawRepresentation)
            } catch { throw .keysDoNotFit }
        case .elsewhere(let signer): return try signer.sign(message)
        }
    }

    /// Lends the private halves that decrypt what is encrypted to this device.
    ///
    /// - Throws: ``KeystoreError/keysDoNotFit``, which is a bug.
    package func withAgreementKeys<Result>(
        _ body: (P256.KeyAgreement.PrivateKey, XWingMLKEM768X25519.PrivateKey) -> Result
    ) throws(KeystoreError) -> Result {
        do { return body(try Self.agreementKey(agreement), try Self.kemKey(kem)) } catch { throw .keysDoNotFit }
    }

    /// Makes the card with which this device asks to be added to the account.
    ///
    /// - Throws: `SubmissionError` if the challenge is not for these keys.
    public func card(answering challenge: PossessionChallenge) throws(SubmissionError) -> DeviceCard {
        let request = PossessionRequest(handle: handle, keys: keys)
        guard let agreementKey = try? Self.agreementKey(agreement), let kemKey = try? Self.kemKey(kem) else {
            throw .unanswerableChallenge
        }
        let proof = try challenge.answer(for: request, agreementKey: agreementKey, kemKey: kemKey)
        return try DeviceCard(request, proof: proof, sign: sign)
    }

    /// Lends the X-Wing key, for opening what was sealed to this device.
    ///
    /// - Throws: any error of `body`, and ``KeystoreError/keysDoNotFit``, which is a bug.
    package func withSealingKey<Value>(_ body: (XWingMLKEM768X25519.PrivateKey) throws -> Value) throws -> Value {
        let key: XWingMLKEM768X25519.PrivateKey
        do { key = try Self.kemKey(kem) } catch { throw KeystoreError.keysDoNotFit }
        return try body(key)
    }

    private static func signingKey(_ secret: SecretBytes) throws -> Curve25519.Signing.PrivateKey {
        try secret.withBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
    }

    private static func agreementKey(_ secret: SecretBytes) throws -> P256.KeyAgreement.PrivateKey {
        try secret.withBytes { try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
    }

    private static func identityPrivateKey(_ secret: SecretBytes) throws -> P256.Signing.PrivateKey {
        try secret.withBytes { try P256.Signing.PrivateKey(rawRepresentation: $0) }
    }

    private static func kemKey(_ secret: SecretBytes) throws -> XWingMLKEM768X25519.PrivateKey {
        try secret.withBytes { try XWingMLKEM768X25519.PrivateKey(seedRepresentation: $0, publicKey: nil) }
    }
}

extension DeviceSecrets: CustomStringConvertible, CustomReflectable {
    /// Only the handle.
    public var description: String { "DeviceSecrets(\(handle))" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
