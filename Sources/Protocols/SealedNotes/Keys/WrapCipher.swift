package import Crypto
import KeyTransparency
package import NoteLog

// swift-crypto's HPKE speaks `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// HPKE in base mode, one message. The one seam to it.
///
/// Spec: RFC 9180, section 6.1; X-Wing of draft-connolly-cfrg-xwing-kem.
package enum WrapCipher {
    /// What is encrypted: HPKE's `info`.
    package enum Purpose {
        /// A note's key.
        case note
        /// A note's key, and behind it the sender's checkpoint.
        case noteAndCheckpoint
        /// An account's master key.
        case account
        /// The key of one message.
        case message

        fileprivate var info: Data {
            switch self {
            case .note: Data("signet-note-wrap/v1".utf8)
            case .noteAndCheckpoint: Data("signet-note-wrap/v2".utf8)
            case .account: Data("signet-account-device-wrap/v1".utf8)
            case .message: Data("signet-message-wrap/v1".utf8)
            }
        }
    }

    package static func seal(
        _ key: SymmetricKey, and checkpoint: [UInt8] = [], to recipient: WrapRecipient, suite: WrapSuite,
        purpose: Purpose, associated: [UInt8]
    ) throws -> (encapsulation: [UInt8], ciphertext: [UInt8]) {
        var sender =
            switch suite {
            case .xWing:
                try HPKE.Sender(
                    recipientKey: XWingMLKEM768X25519.PublicKey(rawRepresentation: recipient.keys.kem ?? []),
                    ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: purpose.info)
            case .p256:
                try HPKE.Sender(
                    recipientKey: P256.KeyAgreement.PublicKey(compressedRepresentation: recipient.keys.agreement),
                    ciphersuite: .P256_SHA256_AES_GCM_256, info: purpose.info)
            }
        let ciphertext = try key.withUnsafeBytes { bytes in
            guard !checkpoint.isEmpty else { return try sender.seal(bytes, authenticating: associated) }
            var both = Data(bytes) + checkpoint
            defer { both.resetBytes(in: 0..<both.count) }
            return try sender.seal(both, authenticating: associated)
        }
        return (Array(sender.encapsulatedKey), Array(ciphertext))
    }

    package static func open(
        _ encapsulation: [UInt8], _ ciphertext: [UInt8], with keys: DeviceAgreementKeys, suite: WrapSuite,
        purpose: Purpose, associated: [UInt8]
    ) throws -> (key: SymmetricKey, checkpoint: [UInt8]) {
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
        var opened = try recipient.open(ciphertext, authenticating: associated)
        defer { opened.resetBytes(in: opened.startIndex..<opened.endIndex) }
        return (SymmetricKey(data: opened.prefix(NoteKey.byteCount)), Array(opened.dropFirst(NoteKey.byteCount)))
    }
}
