// SPDX-License-Identifier: Apache-2.0

import Crypto
public import NoteLog
public import SealedNotes

extension SealedMessage {
    /// Seals a body for devices of people whose keys were verified and accepted, and signs it with the sender's device.
    ///
    /// - Parameters:
    ///   - context: what the message is for, 1 to 255 bytes, such as `com.example.chat`; opening it takes the same.
    ///   - recipients: every device that may open it; the sender's own too, if it is to open its own messages.
    ///   - time: seconds since 1970-01-01T00:00:00Z.
    ///   - sign: gives the 64-byte Ed25519 signature of the sender's device over the bytes passed.
    /// - Throws: ``SealedMessageError``: one of the caller's mistakes.
    public static func seal(
        _ body: [UInt8], context: [UInt8], to recipients: [WrapRecipient], from sender: Author, at time: UInt64,
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(SealedMessageError) -> SealedMessage {
        let content = try MessageContent(
            context: context, sender: sender, time: time, recipients: recipients.map(MessageContent.Address.init),
            body: body)
        let key = SymmetricKey(size: .bits256)
        let id = MessageID(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
        let commitment = commitment(to: key, of: id)
        let header = SealedMessage(id: id, commitment: commitment, wraps: [], sealed: []).header
        let plain = content.encoded
        return SealedMessage(
            id: id, commitment: commitment, wraps: try wraps(of: key, id, header, to: recipients),
            sealed: try encrypt(plain + (try signature(over: header + plain, of: sender, sign)), key, header))
    }

    private static func wraps(
        of key: SymmetricKey, _ id: MessageID, _ header: [UInt8], to recipients: [WrapRecipient]
    ) throws(SealedMessageError) -> [Wrap] {
        var wraps: [Wrap] = []
        for recipient in recipients {
            do {
                let sealed = try WrapCipher.seal(
                    key, to: recipient, suite: .xWing, purpose: .message, associated: header)
                wraps.append(
                    Wrap(
                        hint: hint(of: recipient.keysHash, in: id), encapsulation: sealed.encapsulation,
                        ciphertext: sealed.ciphertext))
            } catch { throw .unusableKey(recipient.author) }
        }
        return wraps
    }

    private static func signature(
        over bytes: [UInt8], of sender: Author, _ sign: ([UInt8]) throws -> [UInt8]
    ) throws(SealedMessageError) -> [UInt8] {
        guard let signature = try? sign(bytes), isSignature(signature, of: bytes, by: sender) else {
            throw .signingFailed
        }
        return signature
    }

    static func isSignature(_ signature: [UInt8], of bytes: [UInt8], by sender: Author) -> Bool {
        let key = try? Curve25519.Signing.PublicKey(rawRepresentation: sender.device)
        return key?.isValidSignature(signature, for: bytes) ?? false
    }

    static func encrypt(
        _ plain: [UInt8], _ key: SymmetricKey, _ header: [UInt8]
    ) throws(SealedMessageError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(
                Padding.pad(plain), using: key, nonce: try nonce(), authenticating: header)
            return Array(box.ciphertext) + Array(box.tag)
        } catch { throw .tooLong(plain.count) }
    }

    /// Zero: the key is this message's alone.
    static func nonce() throws -> AES.GCM.Nonce { try AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 12)) }
}
