// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import CryptoExtras

/// The two wraps of the eCall guide, by name. Only calls in legacy mode use them; nothing a peer sends selects one.
public enum LegacyWrap {
    /// Wraps a key by ECDH on P-256 with a fresh key, then AES-GCM.
    ///
    /// Wire form: 65-byte public key (SEC 1, uncompressed), 12-byte nonce, ciphertext, 16-byte tag. The guide names the two
    /// steps and not what is between: HKDF with SHA-256, no salt, no info, 32 bytes.
    ///
    /// - Throws: ``LegacyWrapError/unusableKey``.
    public static func wrapP256(
        _ key: SymmetricKey, to recipient: P256.KeyAgreement.PublicKey
    ) throws(LegacyWrapError) -> [UInt8] {
        do {
            let ephemeral = P256.KeyAgreement.PrivateKey()
            let shared = try ephemeral.sharedSecretFromKeyAgreement(with: recipient)
            let box = try key.withUnsafeBytes { try AES.GCM.seal(Array($0), using: wrappingKey(shared)) }
            guard let combined = box.combined else { throw LegacyWrapError.unusableKey }
            return Array(ephemeral.publicKey.x963Representation) + Array(combined)
        } catch { throw .unusableKey }
    }

    /// Opens what ``wrapP256(_:to:)`` made.
    ///
    /// - Throws: ``LegacyWrapError/notOpened``: for another key, or changed.
    public static func openP256(
        _ wrap: [UInt8], with key: P256.KeyAgreement.PrivateKey
    ) throws(LegacyWrapError) -> SymmetricKey {
        guard wrap.count > 65 else { throw .notOpened }
        do {
            let ephemeral = try P256.KeyAgreement.PublicKey(x963Representation: wrap[..<65])
            let shared = try key.sharedSecretFromKeyAgreement(with: ephemeral)
            let box = try AES.GCM.SealedBox(combined: wrap[65...])
            return SymmetricKey(data: try AES.GCM.open(box, using: wrappingKey(shared)))
        } catch { throw .notOpened }
    }

    /// Wraps a key by RSA-2048-OAEP with SHA-256; 256 bytes.
    ///
    /// - Throws: ``LegacyWrapError/unusableKey``: not a key of 2048 bits.
    public static func wrapRSA(
        _ key: SymmetricKey, to recipient: _RSA.Encryption.PublicKey
    ) throws(LegacyWrapError) -> [UInt8] {
        guard recipient.keySizeInBits == 2048 else { throw .unusableKey }
        do {
            return Array(
                try key.withUnsafeBytes { try recipient.encrypt(Array($0), padding: .PKCS1_OAEP_SHA256) })
        } catch { throw .unusableKey }
    }

    /// Opens what ``wrapRSA(_:to:)`` made.
    ///
    /// - Throws: ``LegacyWrapError/notOpened``: for another key, or changed.
    public static func openRSA(
        _ wrap: [UInt8], with key: _RSA.Encryption.PrivateKey
    ) throws(LegacyWrapError) -> SymmetricKey {
        do {
            return SymmetricKey(data: try key.decrypt(wrap, padding: .PKCS1_OAEP_SHA256))
        } catch { throw .notOpened }
    }

    private static func wrappingKey(_ shared: SharedSecret) -> SymmetricKey {
        shared.hkdfDerivedSymmetricKey(using: SHA256.self, salt: [UInt8](), sharedInfo: [UInt8](), outputByteCount: 32)
    }
}

/// Why a legacy wrap failed. A retry cannot help.
public enum LegacyWrapError: Error, Hashable, Sendable {
    /// Nothing can be wrapped for this key.
    case unusableKey
    /// The wrap does not open.
    case notOpened
}
