// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
public import NoteLog

/// The account master key, encrypted by one device of an account to another and signed by it.
///
/// Wire form: `signet-account-device-wrap/v1` LF; u32 epoch; sender and recipient, each u8 handle length, handle, 32-byte
/// signing key; 32 hash of the recipient device's keys; u8 suite; encapsulation (1120 or 65); 48 ciphertext and tag;
/// 64 Ed25519 signature by the sender's device over all bytes before.
///
/// Security: anyone can encrypt to a public key; the signature keeps the server from choosing the account's key.
public struct AccountDeviceWrap: Hashable, Sendable {
    /// No wrap is longer, in bytes.
    public static let maximumByteCount = 2048

    /// Of the account master key.
    public let epoch: UInt32
    /// The device that signed.
    public let sender: Author
    /// The device that opens it.
    public let recipient: Author
    /// `DeviceKeys.hash` of the recipient, 32 bytes.
    public let recipientKeys: [UInt8]
    /// How.
    public let suite: WrapSuite
    /// The wire form.
    public let encoded: [UInt8]
    private let start: [UInt8]
    private let encapsulation: [UInt8]
    private let ciphertext: [UInt8]

    static let format: StaticString = "signet-account-device-wrap/v1\n"

    /// Encrypts the account master key to another device of the account.
    ///
    /// - Parameters:
    ///   - recipient: from a verified lookup of the own handle.
    ///   - sign: gives the 64-byte Ed25519 signature of the sender's device over the bytes passed.
    /// - Throws: ``SealedNoteError/notAMember``: a device of another account; ``SealedNoteError/unusableKey``;
    ///   ``SealedNoteError/record(_:)``.
    public init(
        _ account: AccountMasterKey, to recipient: WrapRecipient, sender: Author, suite: WrapSuite = .xWing,
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(SealedNoteError) {
        guard recipient.author.handle == account.handle, sender.handle == account.handle else { throw .notAMember }
        let start = Self.start(account.epoch, sender, recipient.author, recipient.keys.hash, suite)
        let sealed: (encapsulation: [UInt8], ciphertext: [UInt8])
        do {
            sealed = try WrapCipher.seal(
                account.secret, to: recipient, suite: suite, purpose: .account, associated: start)
        } catch { throw .unusableKey }
        let unsigned = start + sealed.encapsulation + sealed.ciphertext
        let signature: [UInt8]
        do { signature = try sign(unsigned) } catch { throw .record(.signingFailed) }
        try self.init(decoding: unsigned + signature)
    }

    /// Reads a wrap and checks form and signature.
    ///
    /// - Throws: ``SealedNoteError/malformedContent``, ``SealedNoteError/tooLong`` or ``SealedNoteError/record(_:)``.
    public init(decoding bytes: [UInt8]) throws(SealedNoteError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var reader = ByteReader(bytes)
        let signature: ArraySlice<UInt8>
        do {
            try reader.format(Self.format)
            epoch = try reader.uint32()
            sender = Author(handle: try reader.handle(), device: Array(try reader.bytes(32)))
            recipient = Author(handle: try reader.handle(), device: Array(try reader.bytes(32)))
            recipientKeys = Array(try reader.bytes(32))
            guard let suite = WrapSuite(rawValue: try reader.uint8()) else { throw SealedNoteError.malformedContent }
            self.suite = suite
            start = Array(bytes.prefix(reader.offset))
            encapsulation = Array(try reader.bytes(suite.encapsulationByteCount))
            ciphertext = Array(try reader.bytes(WrapRecord.ciphertextByteCount))
            signature = try reader.bytes(64)
            try reader.end()
        } catch { throw .malformedContent }
        encoded = bytes
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: sender.device),
            key.isValidSignature(signature, for: bytes.dropLast(64))
        else { throw .record(.invalidSignature) }
    }

    /// The account master key. Checks, in this order: address, sender, encryption.
    ///
    /// - Parameter own: the account's devices now, from a verified lookup of the own handle.
    /// - Throws: ``SealedNoteError``.
    public func open(
        with keys: DeviceAgreementKeys, own: AuthorKeys
    ) throws(SealedNoteError) -> AccountMasterKey {
        guard recipient == keys.author, recipientKeys == keys.publicHash, own.handle == recipient.handle else {
            throw .notForThisDevice
        }
        guard sender.handle == own.handle, own.devices.contains(sender.device) else { throw .noAuthority }
        let opened = try? WrapCipher.open(
            encapsulation, ciphertext, with: keys, suite: suite, purpose: .account, associated: start)
        guard let opened else { throw .notOpened }
        return AccountMasterKey(handle: recipient.handle, epoch: epoch, secret: opened.key)
    }

    private static func start(
        _ epoch: UInt32, _ sender: Author, _ recipient: Author, _ recipientKeys: [UInt8], _ suite: WrapSuite
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(epoch)
        for author in [sender, recipient] {
            writer.write(UInt8(truncatingIfNeeded: author.handle.bytes.count))
            writer.write(author.handle.bytes)
            writer.write(author.device)
        }
        writer.write(recipientKeys)
        writer.write(suite.rawValue)
        return writer.bytes
    }
}
