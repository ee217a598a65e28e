// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency

/// The account master key under a password or under the printed recovery key: one row at the server.
///
/// Wire form: `signet-account-wrap/v1` LF; u8 kind (1 password, 2 recovery key); u8 handle length, handle; u32 epoch; 12 nonce,
/// 32 ciphertext, 16 tag: AES-256-GCM, everything before as associated data.
///
/// Security: without the password or the recovery key, no one can make one that opens, so that a server cannot choose
/// the account's key. It can show an old one; ``AccountMasterKey/epoch`` reveals that.
public struct AccountKeyWrap: Hashable, Sendable {
    /// No wrap is longer, in bytes.
    public static let maximumByteCount = 512

    /// What opens it.
    public enum Kind: UInt8, Hashable, Sendable {
        /// The export key of a login.
        case password = 1
        /// The printed recovery key.
        case recovery = 2
    }

    /// What opens it.
    public let kind: Kind
    /// Whose.
    public let handle: Handle
    /// Of the account master key.
    public let epoch: UInt32
    /// The wire form.
    public let encoded: [UInt8]
    private let start: [UInt8]
    private let box: [UInt8]

    static let format: StaticString = "signet-account-wrap/v1\n"

    /// Seals the account master key under a login's export key.
    ///
    /// - Parameter exportKey: 64 bytes, as OPAQUE gives them: stretched by Argon2id.
    /// - Throws: ``SealedNoteError/unusableKey``, a bug.
    public init(_ account: AccountMasterKey, exportKey: SymmetricKey) throws(SealedNoteError) {
        try self.init(account, kind: .password, under: Self.unlockKey(exportKey))
    }

    /// Seals the account master key under a recovery key.
    ///
    /// - Throws: ``SealedNoteError/unusableKey``, a bug.
    public init(_ account: AccountMasterKey, recoveryKey: RecoveryKey) throws(SealedNoteError) {
        try self.init(account, kind: .recovery, under: recoveryKey.wrapKey)
    }

    private init(_ account: AccountMasterKey, kind: Kind, under key: SymmetricKey) throws(SealedNoteError) {
        self.kind = kind
        handle = account.handle
        epoch = account.epoch
        start = Self.start(kind, handle, epoch)
        box = try SecretBox.seal(account.secret, under: key, associated: start)
        encoded = start + box
    }

    /// Reads a wrap.
    ///
    /// - Throws: ``SealedNoteError/malformedContent`` or ``SealedNoteError/tooLong``.
    public init(decoding bytes: [UInt8]) throws(SealedNoteError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var reader = ByteReader(bytes)
        do {
            try reader.format(Self.format)
            guard let kind = Kind(rawValue: try reader.uint8()) else { throw SealedNoteError.malformedContent }
            self.kind = kind
            handle = try reader.handle()
            epoch = try reader.uint32()
            box = Array(try reader.bytes(SecretBox.byteCount))
            try reader.end()
        } catch { throw .malformedContent }
        start = Self.start(kind, handle, epoch)
        encoded = bytes
    }

    /// The account master key, by password.
    ///
    /// - Throws: ``SealedNoteError/notForThisDevice``: another account's, or under a recovery key;
    ///   ``SealedNoteError/notOpened``.
    public func open(exportKey: SymmetricKey, of handle: Handle) throws(SealedNoteError) -> AccountMasterKey {
        try open(.password, handle, Self.unlockKey(exportKey))
    }

    /// The account master key, by recovery key.
    ///
    /// - Throws: ``SealedNoteError/notForThisDevice``: another account's, or under a password;
    ///   ``SealedNoteError/notOpened``.
    public func open(recoveryKey: RecoveryKey, of handle: Handle) throws(SealedNoteError) -> AccountMasterKey {
        try open(.recovery, handle, recoveryKey.wrapKey)
    }

    private func open(
        _ kind: Kind, _ handle: Handle, _ key: SymmetricKey
    ) throws(SealedNoteError) -> AccountMasterKey {
        guard kind == self.kind, handle == self.handle else { throw .notForThisDevice }
        let secret = try SecretBox.open(box, under: key, associated: start)
        return AccountMasterKey(handle: handle, epoch: epoch, secret: secret)
    }

    private static func unlockKey(_ exportKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA512>.deriveKey(
            inputKeyMaterial: exportKey, info: Array("signet-unlock/v1".utf8), outputByteCount: 32)
    }

    private static func start(_ kind: Kind, _ handle: Handle, _ epoch: UInt32) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(kind.rawValue)
        writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
        writer.write(handle.bytes)
        writer.write(epoch)
        return writer.bytes
    }
}
