// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
package import Crypto
public import KeyTransparency
public import NoteLog

/// The key that opens everything of an account that only its own devices need: 32 random bytes of one epoch.
///
/// It is wrapped by the password, by each device and by the printed recovery key, one row each. A new password is a new
/// row and touches no note.
///
/// Security: wiped when the last copy goes; prints nothing.
public struct AccountMasterKey: Sendable {
    /// Whose.
    public let handle: Handle
    /// From 1; one more when a device is lost.
    public let epoch: UInt32
    package let secret: SymmetricKey

    /// A new key from the system's random source.
    public static func generate(for handle: Handle, epoch: UInt32) -> AccountMasterKey {
        AccountMasterKey(handle: handle, epoch: epoch, secret: SymmetricKey(size: .bits256))
    }

    /// The key that guardians gave back.
    ///
    /// - Parameter secret: 32 bytes.
    package init(handle: Handle, epoch: UInt32, secret: SymmetricKey) {
        self.handle = handle
        self.epoch = epoch
        self.secret = secret
    }

    /// What a device recognises the key by, 32 bytes: HMAC-SHA-256(key, `signet-account-key/v1` LF ‖ u32 epoch ‖ handle).
    public var commitment: [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-account-key/v1\n")
        writer.write(epoch)
        return Array(HMAC<SHA256>.authenticationCode(for: writer.bytes + handle.bytes, using: secret))
    }

    /// A key for one purpose: HKDF-SHA256 of the master key.
    ///
    /// Spec: RFC 5869.
    func key(for purpose: StaticString) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, info: purpose.withUTF8Buffer { Array($0) }, outputByteCount: 32)
    }
}

/// A note's key for the own devices: sealed under the account master key, so that a device added later has it.
///
/// Wire form: `signet-own-wrap/v1` LF; u8 handle length, handle; u32 epoch of the account key; 16 note; u32 epoch of the note
/// key; 12 nonce, 32 ciphertext, 16 tag: AES-256-GCM, everything before as associated data.
public struct OwnWrap: Hashable, Sendable {
    /// No wrap is longer, in bytes.
    public static let maximumByteCount = 512

    /// Whose.
    public let handle: Handle
    /// Of the account master key.
    public let accountEpoch: UInt32
    /// Whose key it is.
    public let note: NoteID
    /// Of the note's key.
    public let epoch: UInt32
    /// The wire form.
    public let encoded: [UInt8]
    private let start: [UInt8]
    private let box: [UInt8]

    static let format: StaticString = "signet-own-wrap/v1\n"

    /// Seals a note's key.
    ///
    /// - Throws: ``SealedNoteError/unusableKey``, a bug.
    public init(_ key: NoteKey, under account: AccountMasterKey) throws(SealedNoteError) {
        handle = account.handle
        accountEpoch = account.epoch
        note = key.note
        epoch = key.epoch
        start = Self.start(handle, accountEpoch, note, epoch)
        box = try SecretBox.seal(key.secret, under: account.key(for: Self.purpose), associated: start)
        encoded = start + box
    }

    /// Reads a wrap.
    ///
    /// - Throws: ``SealedNoteError/malformedContent``.
    public init(decoding bytes: [UInt8]) throws(SealedNoteError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var reader = ByteReader(bytes)
        do {
            try reader.format(Self.format)
            handle = try reader.handle()
            accountEpoch = try reader.uint32()
            guard let note = NoteID(try reader.bytes(NoteID.byteCount)) else { throw SealedNoteError.malformedContent }
            self.note = note
            epoch = try reader.uint32()
            box = Array(try reader.bytes(SecretBox.byteCount))
            try reader.end()
        } catch { throw .malformedContent }
        start = Self.start(handle, accountEpoch, note, epoch)
        encoded = bytes
    }

    /// The note's key, if it is the one that the note's owner committed to.
    ///
    /// - Throws: ``SealedNoteError/anotherKey``: another account's or epoch's master key;
    ///   ``SealedNoteError/notOfThisNote``; ``SealedNoteError/notOpened``; ``SealedNoteError/anotherCommitment``.
    public func open(
        with account: AccountMasterKey, control: VerifiedControl
    ) throws(SealedNoteError) -> NoteKey {
        guard account.handle == handle, account.epoch == accountEpoch else { throw .anotherKey }
        guard control.state.note == note, epoch > 0, Int(epoch) <= control.state.keyCommitments.count else {
            throw .notOfThisNote
        }
        let secret = try SecretBox.open(box, under: account.key(for: Self.purpose), associated: start)
        let key = NoteKey(note: note, epoch: epoch, secret: secret)
        guard key.commitment == control.state.keyCommitments[Int(epoch) - 1] else { throw .anotherCommitment }
        return key
    }

    private static let purpose: StaticString = "signet-own-wrap/v1"

    private static func start(_ handle: Handle, _ account: UInt32, _ note: NoteID, _ epoch: UInt32) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
        writer.write(handle.bytes)
        writer.write(account)
        writer.write(note.bytes)
        writer.write(epoch)
        return writer.bytes
    }
}

/// 32 secret bytes under a key: 12 nonce, 32 ciphertext, 16 tag. AES-256-GCM.
enum SecretBox {
    static let byteCount = 60

    static func seal(
        _ secret: SymmetricKey, under key: SymmetricKey, associated: [UInt8]
    ) throws(SealedNoteError) -> [UInt8] {
        do {
            let box = try secret.withUnsafeBytes {
                try AES.GCM.seal($0, using: key, authenticating: associated)
            }
            return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
        } catch { throw .unusableKey }
    }

    static func open(
        _ box: [UInt8], under key: SymmetricKey, associated: [UInt8]
    ) throws(SealedNoteError) -> SymmetricKey {
        do {
            let opened = try AES.GCM.open(AES.GCM.SealedBox(combined: box), using: key, authenticating: associated)
            return SymmetricKey(data: opened)
        } catch { throw .notOpened }
    }
}

extension ByteReader {
    mutating func format(_ line: StaticString) throws {
        let line = line.withUTF8Buffer { Array($0) }
        guard try bytes(line.count).elementsEqual(line) else { throw SealedNoteError.malformedContent }
    }

    mutating func handle() throws -> Handle {
        let count = Int(try uint8())
        return try Handle(canonical: Array(bytes(count)))
    }
}
