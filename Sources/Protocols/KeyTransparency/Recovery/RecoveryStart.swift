import CanonicalCoding
import Crypto

/// A new device asks for an identity: what the log holds of it while the owner's other devices may object.
///
/// Its ``hash`` is the `pendingRecovery` of the account's state. The request itself, whose hash is in here, goes to the
/// guardians.
///
/// Wire form, 153 bytes: 32-byte SHA-256 of the request; 33-byte identity key to be; 72-byte ``RecoveryCommitment``;
/// u64 started, u64 expires, both in seconds since 1970, big-endian.
public struct RecoveryStart: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 32 + 33 + RecoveryCommitment.byteCount + 16
    /// No request lives longer than its delay and this, in seconds: seven days.
    public static let lifetimeAfterDelay: UInt64 = 7 * 86_400

    /// SHA-256 of the request, 32 bytes.
    public let request: [UInt8]
    /// The identity key to be, P-256, 33 bytes. It signs the step that starts the recovery.
    public let identityKey: [UInt8]
    /// By which recovery key, after which delay: what the account committed to.
    public let commitment: RecoveryCommitment
    /// When it started, in seconds since 1970.
    public let started: UInt64
    /// When it is void, in seconds since 1970.
    public let expires: UInt64

    /// When the time for objections ends, in seconds since 1970.
    public var notBefore: UInt64 { started + UInt64(commitment.delay) }

    /// A start of these parts.
    ///
    /// - Throws: ``RecoveryStepFault``: no hash of 32 bytes, no key, or times out of bounds.
    public init(
        request: [UInt8], identityKey: [UInt8], commitment: RecoveryCommitment, started: UInt64, expires: UInt64
    ) throws(RecoveryStepFault) {
        guard request.count == 32, AccountSignature.isKey(identityKey) else { throw .invalidField }
        let longest = UInt64(commitment.delay) + Self.lifetimeAfterDelay
        guard started <= UInt64.max - longest, expires > started + UInt64(commitment.delay),
            expires <= started + longest
        else { throw .invalidTimes }
        self.request = request
        self.identityKey = identityKey
        self.commitment = commitment
        self.started = started
        self.expires = expires
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryStepFault``.
    public init(decoding bytes: [UInt8]) throws(RecoveryStepFault) {
        do {
            var reader = ByteReader(bytes)
            self = try RecoveryStart(from: &reader)
            try reader.end()
        } catch let error as RecoveryStepFault { throw error } catch { throw .invalidField }
    }

    init(from reader: inout ByteReader) throws {
        let request = Array(try reader.bytes(32))
        let identityKey = Array(try reader.bytes(33))
        let commitment = try RecoveryCommitment(decoding: Array(reader.bytes(RecoveryCommitment.byteCount)))
        try self.init(
            request: request, identityKey: identityKey, commitment: commitment, started: reader.uint64(),
            expires: reader.uint64())
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(request)
        writer.write(identityKey)
        writer.write(commitment.encoded)
        writer.write(started)
        writer.write(expires)
        return writer.bytes
    }

    /// SHA-256 over `signet-recovery-start/v1`, LF and the wire form, 32 bytes: what the state holds.
    public var hash: [UInt8] { Array(SHA256.hash(data: Array("signet-recovery-start/v1\n".utf8) + encoded)) }
}

/// Why a step of a recovery is malformed or not signed as it should be.
public enum RecoveryStepFault: Error, Hashable, Sendable {
    /// A hash, key or presence byte is none.
    case invalidField
    /// It expires before the delay is over, or lives too long after it.
    case invalidTimes
    /// It notes something about a state that is itself such a note, or about a later one.
    case invalidBase
    /// The state has no device of this number.
    case noSuchDevice(UInt16)
    /// Another key than the one that asked.
    case notTheKeyThatAsked
    /// Before the time for objections is over, or after the request expired.
    case outsideItsTime
    /// The recovery key is not the one that was committed to.
    case notTheCommittedKey
    /// The state still names the recovery that was used up.
    case stillRecoverable
    /// The recovery key did not sign.
    case invalidAuthority
}
