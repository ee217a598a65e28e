// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// A new device asks for an identity: what the log holds of it while the owner's other devices may object.
///
/// Its ``hash`` is the `pendingRecovery` of the account's state. The request itself, whose hash is in here, goes to the
/// guardians. It exists only with the endorsement of a holder of the ask key: a guardian who was read the right code,
/// or the owner with their paper. So no one else can block a recovery.
///
/// Wire form, 257 bytes: 32-byte SHA-256 of the request; 33-byte identity key to be; 104-byte ``RecoveryCommitment``;
/// u64 started, u64 expires, both in seconds since 1970, big-endian; 72-byte ``RecoveryEndorsement``. The older form,
/// 153 bytes, has a commitment of the older form and no endorsement; it is read, and no step that begins with it follows.
public struct RecoveryStart: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 32 + 33 + RecoveryCommitment.byteCount + 16 + RecoveryEndorsement.byteCount
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
    /// By the ask key; nil in the older form.
    public let endorsement: RecoveryEndorsement?

    /// When the time for objections ends, in seconds since 1970.
    public var notBefore: UInt64 { started + UInt64(commitment.delay) }

    /// A start of these parts.
    ///
    /// - Throws: ``RecoveryStepFault``: no hash of 32 bytes, no key, times out of bounds, or not endorsed.
    public init(
        request: [UInt8], identityKey: [UInt8], commitment: RecoveryCommitment, started: UInt64, expires: UInt64,
        endorsement: RecoveryEndorsement
    ) throws(RecoveryStepFault) {
        try self.init(
            request: request, identityKey: identityKey, commitment: commitment, started: started, expires: expires,
            endorsed: endorsement)
        guard endorsement.endorses(self) else { throw .notEndorsed }
    }

    private init(
        request: [UInt8], identityKey: [UInt8], commitment: RecoveryCommitment, started: UInt64, expires: UInt64,
        endorsed endorsement: RecoveryEndorsement?
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
        self.endorsement = endorsement
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryStepFault``.
    public init(decoding bytes: [UInt8]) throws(RecoveryStepFault) {
        do throws(AccountStateError) {
            var reader = FormatReader<AccountStateError>(bytes)
            self = try RecoveryStart(from: &reader)
            try reader.end()
        } catch {
            guard case .invalidRecovery(let fault) = error else { throw .invalidField }
            throw fault
        }
    }

    init(from reader: inout FormatReader<AccountStateError>) throws(AccountStateError) {
        let (request, identityKey) = (Array(try reader.bytes(32)), Array(try reader.bytes(33)))
        let promised = Array(try reader.bytes(RecoveryCommitment.byteCount))
        let commitment: RecoveryCommitment
        do throws(RecoveryCommitmentError) { commitment = try RecoveryCommitment(decoding: promised) } catch {
            throw .invalidRecovery(.invalidField)
        }
        let (started, expires) = (try reader.uint64(), try reader.uint64())
        let endorsement = try RecoveryEndorsement(from: &reader)
        do throws(RecoveryStepFault) {
            try self.init(
                request: request, identityKey: identityKey, commitment: commitment, started: started, expires: expires,
                endorsement: endorsement)
        } catch { throw .invalidRecovery(error) }
    }

    init(older reader: inout FormatReader<AccountStateError>) throws(AccountStateError) {
        let (request, identityKey) = (Array(try reader.bytes(32)), Array(try reader.bytes(33)))
        let promised = Array(try reader.bytes(RecoveryCommitment.olderByteCount))
        let commitment: RecoveryCommitment
        do throws(RecoveryCommitmentError) { commitment = try RecoveryCommitment(decodingOlder: promised) } catch {
            throw .invalidRecovery(.invalidField)
        }
        let (started, expires) = (try reader.uint64(), try reader.uint64())
        do throws(RecoveryStepFault) {
            try self.init(
                request: request, identityKey: identityKey, commitment: commitment, started: started, expires: expires,
                endorsed: nil)
        } catch { throw .invalidRecovery(error) }
    }

    /// The wire form; of the older form what it was read from.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(request)
        writer.write(identityKey)
        writer.write(commitment.encoded)
        writer.write(started)
        writer.write(expires)
        writer.write(endorsement?.encoded ?? [])
        return writer.bytes
    }

    /// What the state holds, 32 bytes: SHA-256 over `signet-recovery-start/v2`, LF and the wire form without the endorsement's
    /// signature, of which there may be several; of the older form over `signet-recovery-start/v1`, LF and all of it.
    public var hash: [UInt8] {
        let line = endorsement == nil ? "signet-recovery-start/v1\n" : "signet-recovery-start/v2\n"
        return Array(SHA256.hash(data: Array(line.utf8) + encoded.dropLast(endorsement?.signature.count ?? 0)))
    }
}

/// "This request may begin", signed by a holder of the ask key of the account's commitment.
///
/// It is good for a day: one that was made before an objection cannot begin anything once the day after that is over.
///
/// Wire form, 72 bytes: u64 time in seconds since 1970; 64-byte Ed25519 signature by the ask key over
/// `signet-recovery-endorsement/v1`, LF, 32-byte hash of the request, 33-byte identity key, 32-byte hash of the commitment,
/// u64 when the request expires, u64 time.
public struct RecoveryEndorsement: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 72
    /// How long a start may follow, in seconds: as long as nothing starts after an objection.
    public static let lifetime = RecoveryStop.freeze
    /// How much later than the start's its time may be, in seconds: clocks differ.
    public static let maximumClockDifference: UInt64 = 3600

    /// When it was made, in seconds since 1970.
    public let time: UInt64
    /// 64 bytes.
    public let signature: [UInt8]

    /// Endorses a request.
    ///
    /// - Parameters:
    ///   - request: SHA-256 of the request, 32 bytes.
    ///   - identityKey: the identity key to be, 33 bytes.
    ///   - expires: when the request is void, in seconds since 1970.
    ///   - time: now, in seconds since 1970.
    ///   - sign: gives the ask key's 64-byte Ed25519 signature.
    /// - Throws: any error that `sign` throws.
    public init<Failure: Error>(
        of request: [UInt8], identityKey: [UInt8], commitment: RecoveryCommitment, expires: UInt64, at time: UInt64,
        signing sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        self.time = time
        signature = try sign(Self.statement(request, identityKey, commitment, expires, time))
    }

    /// Reads the wire form; whether it endorses anything is asked of it.
    ///
    /// - Throws: ``RecoveryStepFault``.
    public init(decoding bytes: [UInt8]) throws(RecoveryStepFault) {
        do throws(AccountStateError) {
            var reader = FormatReader<AccountStateError>(bytes)
            try self.init(from: &reader)
            try reader.end()
        } catch { throw .invalidField }
    }

    init(from reader: inout FormatReader<AccountStateError>) throws(AccountStateError) {
        time = try reader.uint64()
        signature = Array(try reader.bytes(64))
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(time)
        writer.write(signature)
        return writer.bytes
    }

    fileprivate func endorses(_ start: RecoveryStart) -> Bool {
        guard let askKey = start.commitment.askKey else { return false }
        let (latest, overflow) = time.addingReportingOverflow(Self.lifetime)
        guard overflow || start.started <= latest, time <= start.started + Self.maximumClockDifference else {
            return false
        }
        let statement = Self.statement(start.request, start.identityKey, start.commitment, start.expires, time)
        return AccountSignature.isValid(signature, over: statement[...], byDevice: askKey)
    }

    private static func statement(
        _ request: [UInt8], _ identityKey: [UInt8], _ commitment: RecoveryCommitment, _ expires: UInt64, _ time: UInt64
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-recovery-endorsement/v1\n")
        writer.write(request)
        writer.write(identityKey)
        writer.write(commitment.hash)
        writer.write(expires)
        writer.write(time)
        return writer.bytes
    }
}

/// Why a step of a recovery is malformed or not signed as it should be.
public enum RecoveryStepFault: Error, Hashable, Sendable {
    /// A hash, key or presence byte is none.
    case invalidField
    /// The ask key that the account committed to did not endorse it, or not around the time at which it started.
    case notEndorsed
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
