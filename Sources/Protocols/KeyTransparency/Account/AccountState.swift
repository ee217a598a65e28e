// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto

/// Everything an account says of itself at one version: who it is and which devices are its own.
///
/// States form a chain: versions step by exactly one, each names the hash of the one before, and the
/// identity key signs it, but for the steps of a recovery (``AccountStep``). The log holds only a ``StateCommitment``, so the state can be erased.
///
/// Wire form, all integers big-endian: `signet-account/v2` LF; u8 handle length, handle; u64 version;
/// 32-byte hash of the previous state (zeros at version 1); 33-byte identity key; u8 what it commits to: 0 no recovery,
/// 1 and 32 bytes (the older form), 2 and 32 bytes, 3 and 32 bytes and the 112 of ``FormerRecovery``, 4 and these 112; two
/// optional 32-byte fields, each a presence byte 0 or 1 and, if 1, the value (pending recovery, account head); u8 device count; devices in rising order of number, each u16 number, u64
/// time added, 97 bytes of ``ListedKeys``; 64-byte signature, whose s is low. In `signet-account/v1`, which is read and no longer
/// made, a device has its 1281 bytes of keys, and s is low or high.
public struct AccountState: Hashable, Sendable {
    /// The most devices an account has.
    public static let maximumDeviceCount = 24
    /// No state is longer, in bytes.
    public static let maximumByteCount = 32_768

    /// Whose state it is.
    public let handle: Handle
    /// 1 for the first, then one more each time.
    public let version: UInt64
    /// SHA-256 of the previous state's encoding; 32 zero bytes at version 1.
    public let previous: [UInt8]
    /// The account's P-256 identity key, 33 bytes, compressed.
    public let identityKey: [UInt8]
    /// Hash of the recovery key and bundle, 32 bytes, when guardians are set.
    public let recoveryCommitment: [UInt8]?
    /// As ``recoveryCommitment``, 32 bytes, made by programs that knew no ask key: nothing starts under it any more.
    public let olderCommitment: [UInt8]?
    /// What it committed to before; for the length of that one's delay a recovery may still begin under it.
    public let formerRecovery: FormerRecovery?
    /// Hash of a recovery under way, 32 bytes.
    public let pendingRecovery: [UInt8]?
    /// Hash over the heads of the account's notes, 32 bytes.
    public let accountHead: [UInt8]?
    /// The devices, in rising order of number; at least one.
    public let devices: [DeviceRecord]
    /// By what right it follows the one before.
    public let step: AccountStep
    /// Over everything before it, 64 bytes: ECDSA by the identity key, r || s; in a note about a recovery, by whom it
    /// names.
    public let signature: [UInt8]
    /// The whole wire form, from which the state was read or into which it was written; without keys that came beside it.
    public let encoded: [UInt8]
    /// How it is written.
    package let form: AccountStateForm

    /// SHA-256 of ``encoded``, 32 bytes: what the next state's `previous` must be.
    public var hash: [UInt8] { Array(SHA256.hash(data: encoded)) }

    /// Reads a state and checks everything that can be checked without another one: form, bounds,
    /// order, and the signature by the identity key it names.
    ///
    /// Security: the signature proves possession of the identity key, not that the key is the right one.
    ///
    /// - Throws: ``AccountStateError``: the sender made a malformed or unsigned state.
    public init(decoding bytes: [UInt8]) throws(AccountStateError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        if let form = AccountStateForm.found(bytes, { $0.note }) {
            try self.init(decodingNote: bytes, form)
        } else if let form = AccountStateForm.found(bytes, { $0.recovered }) {
            try self.init(decodingRecovered: bytes, form)
        } else if let form = AccountStateForm.found(bytes, { $0.ordinary }) {
            try self.init(decodingOrdinary: bytes, form)
        } else {
            throw .unknownFormat
        }
    }

    private init(decodingOrdinary bytes: [UInt8], _ form: AccountStateForm) throws(AccountStateError) {
        var reader = FormatReader<AccountStateError>(ByteReader(bytes.dropFirst(form.ordinary.count)))
        let body = try AccountStateBody(fields: &reader, form: form)
        try body.check()
        let signature = Array(try reader.bytes(64))
        try reader.end()
        guard AccountSignature.isValid(signature, over: bytes.dropLast(64), by: body.identityKey) else {
            throw .invalidSignature
        }
        try form.check(signature)
        self.init(body, step: .ordinary, signature: signature, encoded: bytes)
    }

    init(_ body: AccountStateBody, step: AccountStep, signature: [UInt8], encoded: [UInt8]) {
        handle = body.handle
        version = body.version
        previous = body.previous
        identityKey = body.identityKey
        recoveryCommitment = body.recoveryCommitment
        olderCommitment = body.olderCommitment
        formerRecovery = body.formerRecovery
        pendingRecovery = body.pendingRecovery
        accountHead = body.accountHead
        devices = body.form == .hashedKeys ? body.devices.map { $0.withoutKEM } : body.devices
        self.step = step
        self.signature = signature
        self.encoded = encoded
        form = body.form
    }

    /// The same state with its devices' keys added or left out.
    init(_ state: AccountState, devices: [DeviceRecord]) {
        handle = state.handle
        version = state.version
        previous = state.previous
        identityKey = state.identityKey
        recoveryCommitment = state.recoveryCommitment
        olderCommitment = state.olderCommitment
        formerRecovery = state.formerRecovery
        pendingRecovery = state.pendingRecovery
        accountHead = state.accountHead
        self.devices = devices
        step = state.step
        signature = state.signature
        encoded = state.encoded
        form = state.form
    }

    /// The body of the state that follows this one, with other devices and everything else kept.
    ///
    /// - Throws: ``AccountStateError/tooManyVersions``: the version counter is at its end.
    public func next(devices: [DeviceRecord]) throws(AccountStateError) -> AccountStateBody {
        guard version < UInt64.max else { throw .tooManyVersions }
        return AccountStateBody(
            handle: handle, version: version + 1, previous: hash, identityKey: identityKey,
            recoveryCommitment: recoveryCommitment, pendingRecovery: pendingRecovery,
            accountHead: accountHead, devices: devices, formerRecovery: formerRecovery,
            olderCommitment: olderCommitment)
    }

    /// The body of the state that follows this one, with another commitment to a recovery and everything else kept. A
    /// recovery under way ends with it.
    ///
    /// - Parameters:
    ///   - recovery: the hash of the new commitment, or nil.
    ///   - former: the commitment in force, and when the other takes its place; nil when there is none.
    /// - Throws: ``AccountStateError/tooManyVersions``: the version counter is at its end.
    public func next(
        committingTo recovery: [UInt8]?, leaving former: FormerRecovery?
    ) throws(AccountStateError) -> AccountStateBody {
        guard version < UInt64.max else { throw .tooManyVersions }
        return AccountStateBody(
            handle: handle, version: version + 1, previous: hash, identityKey: identityKey,
            recoveryCommitment: recovery, pendingRecovery: nil, accountHead: accountHead, devices: devices,
            formerRecovery: former ?? formerRecovery)
    }

    /// Whether `successor` may be the state right after this one: ``AccountStepVerifier``.
    public func isFollowed(by successor: AccountState) -> Bool {
        (try? AccountStepVerifier.verify(successor, after: self)) != nil
    }
}

extension AccountStateError: FormatError {}

/// Why a state was refused. Nothing but another state helps.
public enum AccountStateError: Error, Hashable, Sendable {
    /// The bytes do not have the form.
    case malformed(CanonicalCodingError)
    /// They start with no first line of a state.
    case unknownFormat
    /// More than ``AccountState/maximumByteCount`` bytes.
    case tooLong(Int)
    /// The handle is not one.
    case invalidHandle(HandleError)
    /// Version 0, or version 1 with a predecessor, or a later one without.
    case invalidVersion(UInt64)
    /// The version counter is at its end.
    case tooManyVersions
    /// A fixed-length field has another length.
    case invalidField
    /// A presence byte is neither 0 nor 1.
    case invalidPresenceByte(UInt8)
    /// The identity key is not a compressed P-256 point.
    case invalidIdentityKey
    /// A device key has the wrong length or is not a point.
    case invalidDeviceKey
    /// An X-Wing key beside the state is not the one whose hash it lists for the device of this number.
    case anotherDeviceKey(UInt16)
    /// More or fewer X-Wing keys beside the state than it has devices, or a state that has them inside.
    case deviceKeyCount(Int)
    /// No device, or more than ``AccountState/maximumDeviceCount``.
    case invalidDeviceCount(Int)
    /// Device numbers do not rise, or one is 0.
    case devicesOutOfOrder
    /// Two devices share a signing key.
    case repeatedDeviceKey
    /// The identity key's signature does not verify.
    case invalidSignature
    /// The signature is in its other form, (r, n - s), which verifies too: a party that passed the state on changed it,
    /// and its hash.
    case highSignature
    /// The caller's signing closure threw.
    case signingFailed
    /// A step of a recovery is not as it should be.
    case invalidRecovery(RecoveryStepFault)
}
