import Crypto

// swift-crypto's HPKE speaks `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Seals to a P-256 public key; nobody but its holder opens. Says nothing of who sealed: statements inside are signed.
///
/// Spec: RFC 9180 in base mode, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM; one message a context.
enum PublicSealing {
    /// How many bytes longer the sealed form is: the encapsulated key and the tag.
    static let overhead = 65 + 16

    /// - Parameters:
    ///   - key: 33 bytes, compressed.
    ///   - purpose: apart from other uses of the key (HPKE's info).
    ///   - context: what the opener must know to be about the same thing (additional data).
    /// - Returns: encapsulated key, 65 bytes, and ciphertext. Nil when the key is none.
    static func seal(
        _ plaintext: [UInt8], to key: [UInt8], purpose: StaticString, context: [UInt8]
    ) -> [UInt8]? {
        guard let key = try? P256.KeyAgreement.PublicKey(compressedRepresentation: key),
            var sender = try? HPKE.Sender(
                recipientKey: key, ciphersuite: .P256_SHA256_AES_GCM_256, info: bytes(purpose)),
            let sealed = try? sender.seal(plaintext, authenticating: context)
        else { return nil }
        return Array(sender.encapsulatedKey) + Array(sealed)
    }

    /// The plaintext; nil when it was not sealed to this key for this purpose and context.
    static func open(
        _ sealed: [UInt8], with key: P256.KeyAgreement.PrivateKey, purpose: StaticString, context: [UInt8]
    ) -> [UInt8]? {
        guard sealed.count >= overhead,
            var recipient = try? HPKE.Recipient(
                privateKey: key, ciphersuite: .P256_SHA256_AES_GCM_256, info: bytes(purpose),
                encapsulatedKey: Data(sealed.prefix(65))),
            let plaintext = try? recipient.open(sealed.dropFirst(65), authenticating: context)
        else { return nil }
        return Array(plaintext)
    }

    private static func bytes(_ purpose: StaticString) -> Data {
        purpose.withUTF8Buffer { Data($0) }
    }
}
