// SPDX-License-Identifier: Apache-2.0

public import Crypto

// swift-crypto's HPKE speaks `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The private key with which a device, or the person who recovered it, opens what this module seals: ML-KEM-768 with
/// X25519.
public typealias SealingKey = XWingMLKEM768X25519.PrivateKey

/// Seals to an X-Wing public key; only its holder can open it, even against a quantum computer. It does not show who
/// sealed: statements inside are signed.
///
/// Spec: RFC 9180 in base mode, KEM X-Wing (draft-connolly-cfrg-xwing-kem), HKDF-SHA256, AES-256-GCM; one message a context.
enum PublicSealing {
    /// A public key's length in bytes.
    static let keyByteCount = 1216
    static let encapsulationByteCount = 1120
    /// How many bytes longer the sealed form is: the encapsulated key and the tag.
    static let overhead = encapsulationByteCount + 16

    /// - Parameters:
    ///   - key: 1216 bytes.
    ///   - purpose: apart from other uses of the key (HPKE's info).
    ///   - context: what the opener must know to be about the same thing (additional data).
    /// - Returns: encapsulated key, 1120 bytes, and ciphertext. Nil when the key is none.
    static func seal(
        _ plaintext: [UInt8], to key: [UInt8], purpose: StaticString, context: [UInt8]
    ) -> [UInt8]? {
        guard let key = try? XWingMLKEM768X25519.PublicKey(rawRepresentation: key),
            var sender = try? HPKE.Sender(
                recipientKey: key, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: bytes(purpose)),
            let sealed = try? sender.seal(plaintext, authenticating: context)
        else { return nil }
        return Array(sender.encapsulatedKey) + Array(sealed)
    }

    /// The plaintext; nil when it was not sealed to this key for this purpose and context.
    static func open(
        _ sealed: [UInt8], with key: SealingKey, purpose: StaticString, context: [UInt8]
    ) -> [UInt8]? {
        guard sealed.count >= overhead,
            var recipient = try? HPKE.Recipient(
                privateKey: key, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: bytes(purpose),
                encapsulatedKey: Data(sealed.prefix(encapsulationByteCount))),
            let plaintext = try? recipient.open(sealed.dropFirst(encapsulationByteCount), authenticating: context)
        else { return nil }
        return Array(plaintext)
    }

    /// Whether bytes are a public key: reading one checks its length alone, sealing to it all of it.
    static func isKey(_ key: [UInt8]) -> Bool { seal([], to: key, purpose: "signet-key-check/v1", context: []) != nil }

    private static func bytes(_ purpose: StaticString) -> Data {
        purpose.withUTF8Buffer { Data($0) }
    }
}
