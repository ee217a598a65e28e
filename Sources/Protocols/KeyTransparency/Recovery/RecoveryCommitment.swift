// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// What an account promises about its recovery before it needs it: by which key, with which bundle, after how long, and
/// who may ask.
///
/// Its ``hash`` is the `recoveryCommitment` of the account's state. It is public: the recovery key and the bundle cannot
/// be told from it, and what ``askKey`` has to sign only guardians and the owner can.
///
/// Wire form, 104 bytes: u32 epoch, u32 delay in seconds, 32-byte SHA-256 of the recovery key, 32-byte SHA-256 of the
/// bundle, 32-byte ask key. The hash is SHA-256 over `signet-recovery-commitment/v2`, LF and the wire form. The older
/// form, 72 bytes, ends before the ask key and is hashed behind `signet-recovery-commitment/v1`, LF: it is read, and
/// nothing starts under it any more.
public struct RecoveryCommitment: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 104
    /// The older form's length in bytes.
    public static let olderByteCount = 72
    /// The longest delay: 30 days, in seconds.
    public static let maximumDelay: UInt32 = 30 * 86_400
    /// Two days, in seconds.
    public static let standardDelay: UInt32 = 2 * 86_400

    /// Runs from 1; a new set of guardians or shares is a new epoch.
    public let epoch: UInt32
    /// How long a recovery is open to objection, in seconds.
    public let delay: UInt32
    /// SHA-256 of the recovery key's 33 bytes.
    public let keyHash: [UInt8]
    /// SHA-256 of the bundle.
    public let bundleHash: [UInt8]
    /// Ed25519, 32 bytes: has to endorse a start. Each guardian has the private half, and the owner may keep it on paper.
    /// Nil in the older form.
    public let askKey: [UInt8]?

    /// A commitment to a recovery key of 33 bytes, a bundle, and an ask key of 32 bytes.
    ///
    /// - Throws: ``RecoveryCommitmentError``.
    public init(
        epoch: UInt32, delay: UInt32, recoveryKey: [UInt8], bundle: [UInt8], askKey: [UInt8]
    ) throws(RecoveryCommitmentError) {
        guard AccountSignature.isKey(recoveryKey) else { throw .invalidKey }
        try self.init(
            epoch: epoch, delay: delay, keyHash: Array(SHA256.hash(data: recoveryKey)),
            bundleHash: Array(SHA256.hash(data: bundle)), askKey: askKey)
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryCommitmentError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryCommitmentError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        try self.init(fields: bytes, askKey: Array(bytes[72...]))
    }

    /// Reads the older form, which has no ask key.
    ///
    /// - Throws: ``RecoveryCommitmentError``.
    public init(decodingOlder bytes: [UInt8]) throws(RecoveryCommitmentError) {
        guard bytes.count == Self.olderByteCount else { throw .invalidLength(bytes.count) }
        try self.init(fields: bytes, askKey: nil)
    }

    private init(fields bytes: [UInt8], askKey: [UInt8]?) throws(RecoveryCommitmentError) {
        func number(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        try self.init(
            epoch: number(0), delay: number(4), keyHash: Array(bytes[8..<40]), bundleHash: Array(bytes[40..<72]),
            askKey: askKey)
    }

    private init(
        epoch: UInt32, delay: UInt32, keyHash: [UInt8], bundleHash: [UInt8], askKey: [UInt8]?
    ) throws(RecoveryCommitmentError) {
        guard epoch > 0 else { throw .invalidEpoch }
        guard delay <= Self.maximumDelay else { throw .delayTooLong(delay) }
        if let askKey { try Self.check(askKey) }
        self.epoch = epoch
        self.delay = delay
        self.keyHash = keyHash
        self.bundleHash = bundleHash
        self.askKey = askKey
    }

    /// With a key of small order, anyone could endorse a start.
    private static func check(_ askKey: [UInt8]) throws(RecoveryCommitmentError) {
        do throws(Ed25519KeyError) { try Ed25519Key.check(askKey) } catch { throw .invalidKey }
    }

    /// The wire form; of the older form what it was read from.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(epoch)
        writer.write(delay)
        writer.write(keyHash)
        writer.write(bundleHash)
        writer.write(askKey ?? [])
        return writer.bytes
    }

    /// What the account's state holds, 32 bytes.
    public var hash: [UInt8] {
        let line = askKey == nil ? "signet-recovery-commitment/v1\n" : "signet-recovery-commitment/v2\n"
        return Array(SHA256.hash(data: Array(line.utf8) + encoded))
    }
}

/// The commitment before the one in force: a recovery may still begin under it until its own delay has passed since the
/// change, so that the thief of a device cannot remove the guardians in one step.
///
/// Wire form, 112 bytes: 104 bytes of ``RecoveryCommitment``, u64 since when another is in force, seconds since 1970.
public struct FormerRecovery: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = RecoveryCommitment.byteCount + 8
    /// What was in force.
    public let commitment: RecoveryCommitment
    /// Since when it no longer is, in seconds since 1970.
    public let since: UInt64

    /// A commitment that another one took the place of.
    public init(_ commitment: RecoveryCommitment, since: UInt64) {
        self.commitment = commitment
        self.since = since
    }

    /// From when on nothing starts under it, in seconds since 1970.
    public var end: UInt64 {
        let (end, overflow) = since.addingReportingOverflow(UInt64(commitment.delay))
        return overflow ? .max : end
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(commitment.encoded)
        writer.write(since)
        return writer.bytes
    }

    init(from reader: inout FormatReader<AccountStateError>) throws(AccountStateError) {
        let bytes = Array(try reader.bytes(RecoveryCommitment.byteCount))
        do throws(RecoveryCommitmentError) { commitment = try RecoveryCommitment(decoding: bytes) } catch {
            throw .invalidField
        }
        since = try reader.uint64()
    }
}

/// Why a commitment is none.
public enum RecoveryCommitmentError: Error, Hashable, Sendable {
    /// The wire form has this many bytes.
    case invalidLength(Int)
    /// Not a P-256 point of 33 bytes, or no ask key: 32 bytes that are not an Ed25519 key, or one of small order.
    case invalidKey
    /// Epoch zero.
    case invalidEpoch
    /// More than ``RecoveryCommitment/maximumDelay``.
    case delayTooLong(UInt32)
}
