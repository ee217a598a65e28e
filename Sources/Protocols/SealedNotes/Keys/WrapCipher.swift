// SPDX-License-Identifier: Apache-2.0

package import Crypto
import KeyTransparency
package import NoteLog
import SecretMemory

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
        /// A note's key, the sender's checkpoint, and keys of earlier epochs.
        case noteAndOlderKeys
        /// An account's master key.
        case account
        /// The key of one message.
        case message

        fileprivate var info: Data {
            switch self {
            case .note: Data("signet-note-wrap/v1".utf8)
            case .noteAndCheckpoint: Data("signet-note-wrap/v2".utf8)
            case .noteAndOlderKeys: Data("signet-note-wrap/v3".utf8)
            case .account: Data("signet-account-device-wrap/v1".utf8)
            case .message: Data("signet-message-wrap/v1".utf8)
            }
        }
    }

    /// What a wrap brings.
    package struct Opened {
        /// The key.
        package let key: SymmetricKey
        /// The sender's checkpoint; empty if none came.
        package let checkpoint: [UInt8]
        /// Keys of the epochs right before, the oldest first.
        package let older: [SymmetricKey]
    }

    package static func seal(
        _ key: SymmetricKey, and checkpoint: [UInt8] = [], older: [SymmetricKey] = [], to recipient: WrapRecipient,
        suite: WrapSuite,
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
            guard !checkpoint.isEmpty || !older.isEmpty else {
                return try sender.seal(bytes, authenticating: associated)
            }
            var all = joined(bytes, checkpoint, older)
            defer { all.withUnsafeMutableBytes(wipeMemory) }
            return try sender.seal(all, authenticating: associated)
        }
        return (Array(sender.encapsulatedKey), Array(ciphertext))
    }

    /// In memory that is asked for once: what grows leaves copies behind.
    private static func joined(
        _ key: UnsafeRawBufferPointer, _ checkpoint: [UInt8], _ older: [SymmetricKey]
    ) -> Data {
        var all = Data(capacity: key.count + 2 + checkpoint.count + older.count * NoteKey.byteCount)
        all.append(contentsOf: key)
        if !older.isEmpty {
            all.append(contentsOf: [UInt8(checkpoint.count >> 8 & 0xFF), UInt8(checkpoint.count & 0xFF)])
        }
        all.append(contentsOf: checkpoint)
        for key in older { key.withUnsafeBytes { all.append(contentsOf: $0) } }
        return all
    }

    package static func open(
        _ encapsulation: [UInt8], _ ciphertext: [UInt8], with keys: DeviceAgreementKeys, suite: WrapSuite,
        purpose: Purpose, associated: [UInt8]
    ) throws -> Opened {
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
        defer { opened.withUnsafeMutableBytes(wipeMemory) }
        let (key, rest) = (SymmetricKey(data: opened.prefix(NoteKey.byteCount)), opened.dropFirst(NoteKey.byteCount))
        guard purpose == .noteAndOlderKeys else { return Opened(key: key, checkpoint: Array(rest), older: []) }
        guard rest.count >= 2 else { throw SealedNoteError.malformedContent }
        let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        let (checkpoint, keys) = (rest.dropFirst(2).prefix(count), rest.dropFirst(2).dropFirst(count))
        guard checkpoint.count == count, !keys.isEmpty, keys.count.isMultiple(of: NoteKey.byteCount) else {
            throw SealedNoteError.malformedContent
        }
        let older = stride(from: keys.startIndex, to: keys.endIndex, by: NoteKey.byteCount).map {
            SymmetricKey(data: keys[$0..<$0 + NoteKey.byteCount])
        }
        return Opened(key: key, checkpoint: Array(checkpoint), older: older)
    }
}
