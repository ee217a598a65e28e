// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Secure Message, encrypted: a ``Seal`` cell without context under a key from both parties' keys (EC), or under a
/// random key encrypted to the recipient (RSA).
///
/// Wire form, little-endian: u32 type (0x26042720 EC, 0x26042710 RSA), u32 length of the whole; RSA: u32 length of
/// the wrapped key, wrapped key (OAEP-SHA1 of 70 bytes); cell.
///
/// Spec: Themis 0.15, Secure Message; RFC 8017, section 7.1.
///
/// Security: do not build on either. EC agrees with the two long-term keys alone: one leaked key opens all messages,
/// past and future; the sender can open and the recipient can forge every one, and a message can be played back to
/// its sender as the recipient's own. There is no context, so that a key wrapped for one note passes for another.
/// RSA does not authenticate the sender at all: Themis opens it with any public key, which is why
/// ``decrypt(_:by:reading:)`` does not ask for one.
public enum EncryptedMessage {
    static let headerByteCount = 8
    /// What Themis wraps in RSA messages.
    static let wrappedKeyByteCount = 70

    /// Encrypts 1 to 2³²−53 bytes for the owner of `recipient`.
    ///
    /// - Throws: ``MessageError``: the caller's mistake.
    public static func encrypt(
        _ message: [UInt8], from sender: ECPrivateKey, to recipient: ECPublicKey
    ) throws(MessageError) -> [UInt8] {
        try encrypt(message, from: sender, to: recipient, iv: CellCipher.randomBytes(CellHeader.ivByteCount))
    }

    /// Encrypts with a given IV: for vectors.
    package static func encrypt(
        _ message: [UInt8], from sender: ECPrivateKey, to recipient: ECPublicKey, iv: [UInt8]
    ) throws(MessageError) -> [UInt8] {
        guard !message.isEmpty else { throw .emptyMessage }
        guard let length = UInt32(exactly: headerByteCount + Seal.overhead + message.count) else {
            throw .messageTooLong(message.count)
        }
        guard let key = sender.agreement(with: recipient) else { throw .differentCurves }
        do {
            let cell = try Seal.seal(message, key: key, context: [], iv: iv)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Int(length))
            bytes.appendLittleEndian(MessageType.ecEncrypted.rawValue)
            bytes.appendLittleEndian(length)
            bytes.append(contentsOf: cell)
            return bytes
        } catch { throw .sealed(error) }
    }

    /// The message that the two keys' owners share.
    ///
    /// - Throws: ``MessageError``: what came in is not a message between the two.
    ///
    /// Security: one of the two wrote it; which one cannot be told.
    public static func decrypt(
        _ encrypted: [UInt8], by recipient: ECPrivateKey, from sender: ECPublicKey, reading: ReadingMode = .strict
    ) throws(MessageError) -> [UInt8] {
        let reader = try start(encrypted, .ecEncrypted)
        guard let key = recipient.agreement(with: sender) else { throw .differentCurves }
        do {
            return try Seal.open(Array(reader.rest), key: key, reading: reading)
        } catch { throw .sealed(error) }
    }

    /// The message that some unauthenticated sender encrypted to this key.
    ///
    /// - Throws: ``MessageError``: what came in is not a message to this key.
    ///
    /// Security: says nothing of the sender.
    public static func decrypt(
        _ encrypted: [UInt8], by recipient: RSAPrivateKey, reading: ReadingMode = .strict
    ) throws(MessageError) -> [UInt8] {
        var reader = try start(encrypted, .rsaEncrypted)
        guard let length = reader.uint32(), let wrapped = reader.bytes(Int(length)) else { throw .malformed }
        guard let key = recipient.decrypt(wrapped) else { throw .wrongRecipient }
        guard reading == .compatible || key.bitCount == wrappedKeyByteCount * 8 else { throw .malformed }
        do {
            return try Seal.open(Array(reader.rest), key: key, reading: reading)
        } catch { throw .sealed(error) }
    }

    /// A reader behind type and length, both checked.
    private static func start(_ bytes: [UInt8], _ type: MessageType) throws(MessageError) -> LittleEndianReader {
        var reader = LittleEndianReader(bytes[...])
        guard let found = reader.uint32() else { throw .malformed }
        guard found == type.rawValue else { throw .wrongType(found) }
        guard let length = reader.uint32(), Int(length) == bytes.count else { throw .malformed }
        return reader
    }
}
