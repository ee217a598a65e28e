import Crypto
import KeyTransparency
import NoteLog

// swift-crypto's HPKE speaks `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// HPKE in base mode, one message. The one seam to it.
///
/// Spec: RFC 9180, section 6.1; X-Wing of draft-connolly-cfrg-xwing-kem.
enum WrapCipher {
    /// What is encrypted: HPKE's `info`.
    enum Purpose {
        case note
        case account

        fileprivate var info: Data {
            switch self {
            case .note: Data("signet-note-wrap/v1".utf8)
            case .account: Data("signet-account-device-wrap/v1".utf8)
            }
        }
    }

    static func seal(
        _ key: SymmetricKey, to recipient: WrapRecipient, suite: WrapSuite, purpose: Purpose, associated: [UInt8]
    ) throws -> (encapsulation: [UInt8], ciphertext: [UInt8]) {
        var sender =
            switch suite {
            case .xWing:
                try HPKE.Sender(
                    recipientKey: XWingMLKEM768X25519.PublicKey(rawRepresentation: recipient.keys.kem),
                    ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: purpose.info)
            case .p256:
                try HPKE.Sender(
                    recipientKey: P256.KeyAgreement.PublicKey(compressedRepresentation: recipient.keys.agreement),
                    ciphersuite: .P256_SHA256_AES_GCM_256, info: purpose.info)
            }
        let ciphertext = try key.withUnsafeBytes { try sender.seal($0, authenticating: associated) }
        return (Array(sender.encapsulatedKey), Array(ciphertext))
    }

    static func open(
        _ encapsulation: [UInt8], _ ciphertext: [UInt8], with keys: DeviceAgreementKeys, suite: WrapSuite,
        purpose: Purpose, associated: [UInt8]
    ) throws -> SymmetricKey {
        var recipient =
            switch suite {
            case .xWing:
                try HPKE.Recipient(
                    privateKey: keys.kem, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: purpose.info,
                    encapsulatedKey: Data(encapsulation))
            case .p256:
                try HPKE.Recipient(
                    privateKey: keys.agreement, ciphersuite: .P256_SHA256_AES_GCM_256, info: purpose.info,
                    encapsulatedKey: Data(encapsulation))
            }
        return SymmetricKey(data: try recipient.open(ciphertext, authenticating: associated))
    }
}
