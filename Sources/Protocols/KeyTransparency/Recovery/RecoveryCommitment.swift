import CanonicalCoding
import Crypto

/// What an account promises about its recovery before it needs it: by which key, with which bundle, after how long.
///
/// Its ``hash`` is the `recoveryCommitment` of the account's state. Until a recovery nobody can tell the key or the
/// bundle from it, so that nobody can prepare.
///
/// Wire form, 72 bytes: u32 epoch, u32 delay in seconds, 32-byte SHA-256 of the recovery key, 32-byte SHA-256 of the
/// bundle. The hash is SHA-256 over `signet-recovery-commitment/v1`, LF and the wire form.
public struct RecoveryCommitment: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 72
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

    /// A commitment to a recovery key of 33 bytes and a bundle.
    ///
    /// - Throws: ``RecoveryCommitmentError``.
    public init(
        epoch: UInt32, delay: UInt32, recoveryKey: [UInt8], bundle: [UInt8]
    ) throws(RecoveryCommitmentError) {
        guard AccountSignature.isKey(recoveryKey) else { throw .invalidKey }
        try self.init(
            epoch: epoch, delay: delay, keyHash: Array(SHA256.hash(data: recoveryKey)),
            bundleHash: Array(SHA256.hash(data: bundle)))
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryCommitmentError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryCommitmentError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        func number(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        try self.init(
            epoch: number(0), delay: number(4), keyHash: Array(bytes[8..<40]), bundleHash: Array(bytes[40...]))
    }

    private init(
        epoch: UInt32, delay: UInt32, keyHash: [UInt8], bundleHash: [UInt8]
    ) throws(RecoveryCommitmentError) {
        guard epoch > 0 else { throw .invalidEpoch }
        guard delay <= Self.maximumDelay else { throw .delayTooLong(delay) }
        self.epoch = epoch
        self.delay = delay
        self.keyHash = keyHash
        self.bundleHash = bundleHash
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(epoch)
        writer.write(delay)
        writer.write(keyHash)
        writer.write(bundleHash)
        return writer.bytes
    }

    /// What the account's state holds, 32 bytes.
    public var hash: [UInt8] {
        Array(SHA256.hash(data: Array("signet-recovery-commitment/v1\n".utf8) + encoded))
    }
}

/// Why a commitment is none.
public enum RecoveryCommitmentError: Error, Hashable, Sendable {
    /// The wire form has this many bytes.
    case invalidLength(Int)
    /// Not a P-256 point of 33 bytes.
    case invalidKey
    /// Epoch zero.
    case invalidEpoch
    /// More than ``RecoveryCommitment/maximumDelay``.
    case delayTooLong(UInt32)
}
