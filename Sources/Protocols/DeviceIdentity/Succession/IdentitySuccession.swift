public import CanonicalCoding
import Crypto
public import KeyTransparency

/// Says that one identity key follows another, and proves that it may.
///
/// Wire form: `signet-identity-succession/v1` LF; 32-byte label index; 32-byte hash of the last state under the old key; 33-byte
/// old identity key; 33-byte new identity key; u8 authority. Authority 1, the old key: its 64-byte signature.
/// Authority 2, the recovery key: 33-byte recovery key, 72-byte ``RecoveryCommitment``, 32-byte hash of the request,
/// 64-byte signature by the recovery key. At the end in both cases: 64-byte signature by the new key. Each signature is
/// over everything before the first of the two.
public struct IdentitySuccession: Hashable, Sendable {
    /// By what right the new key follows.
    public enum Authority: Hashable, Sendable {
        /// The old key says so: a planned change.
        case identityKey
        /// The recovery key says so, which the old state committed to.
        case recovery(RecoveryGround)
    }

    /// Whose.
    public let label: LabelIndex
    /// SHA-256 of the last state under the old key, 32 bytes.
    public let previousState: [UInt8]
    /// P-256, 33 bytes.
    public let oldKey: [UInt8]
    /// P-256, 33 bytes.
    public let newKey: [UInt8]
    /// By what right.
    public let authority: Authority
    let authoritySignature: [UInt8]
    let newSignature: [UInt8]

    private static let format = Array("signet-identity-succession/v1\n".utf8)

    /// Signs a succession.
    ///
    /// - Parameters:
    ///   - authorizing: signs with the old identity key, or with the recovery key.
    ///   - accepting: signs with the new key.
    /// - Throws: ``IdentitySuccessionError/signingFailed``, ``IdentitySuccessionError/invalidField``.
    public init(
        label: LabelIndex, previousState: [UInt8], oldKey: [UInt8], newKey: [UInt8], authority: Authority,
        authorizing: ([UInt8]) throws -> [UInt8], accepting: ([UInt8]) throws -> [UInt8]
    ) throws(IdentitySuccessionError) {
        let message = Self.message(label, previousState, oldKey, newKey, authority)
        guard let first = try? authorizing(message), let second = try? accepting(message) else {
            throw .signingFailed
        }
        try self.init(label, previousState, oldKey, newKey, authority, first, second)
    }

    private init(
        _ label: LabelIndex, _ previousState: [UInt8], _ oldKey: [UInt8], _ newKey: [UInt8],
        _ authority: Authority, _ authoritySignature: [UInt8], _ newSignature: [UInt8]
    ) throws(IdentitySuccessionError) {
        guard previousState.count == 32, P256Text.isKey(oldKey), P256Text.isKey(newKey), oldKey != newKey,
            authoritySignature.count == 64, newSignature.count == 64
        else { throw .invalidField }
        self.label = label
        self.previousState = previousState
        self.oldKey = oldKey
        self.newKey = newKey
        self.authority = authority
        self.authoritySignature = authoritySignature
        self.newSignature = newSignature
    }

    /// The wire form.
    public var encoded: [UInt8] { message + authoritySignature + newSignature }

    /// What both signatures are over.
    var message: [UInt8] { Self.message(label, previousState, oldKey, newKey, authority) }

    /// SHA-256 of the wire form, 32 bytes: what the log holds of it.
    public var hash: [UInt8] { Array(SHA256.hash(data: encoded)) }

    private static func message(
        _ label: LabelIndex, _ previousState: [UInt8], _ oldKey: [UInt8], _ newKey: [UInt8], _ authority: Authority
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(label.bytes)
        writer.write(previousState)
        writer.write(oldKey)
        writer.write(newKey)
        switch authority {
        case .identityKey: writer.write(UInt8(1))
        case .recovery(let ground):
            writer.write(UInt8(2))
            writer.write(ground.recoveryKey)
            writer.write(ground.commitment.encoded)
            writer.write(ground.request)
        }
        return writer.bytes
    }

    /// Reads the wire form; verifies nothing.
    ///
    /// - Throws: ``IdentitySuccessionError``: not exactly what ``encoded`` writes.
    public init(decoding bytes: [UInt8]) throws(IdentitySuccessionError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw IdentitySuccessionError.unknownFormat
            }
            guard let label = LabelIndex(Array(try reader.bytes(32))) else {
                throw IdentitySuccessionError.invalidField
            }
            let previousState = Array(try reader.bytes(32))
            let oldKey = Array(try reader.bytes(33))
            let newKey = Array(try reader.bytes(33))
            let authority: Authority
            switch try reader.uint8() {
            case 1: authority = .identityKey
            case 2: authority = .recovery(try RecoveryGround(from: &reader))
            default: throw IdentitySuccessionError.invalidField
            }
            let signatures = Array(try reader.bytes(128))
            try reader.end()
            try self.init(
                label, previousState, oldKey, newKey, authority, Array(signatures.prefix(64)),
                Array(signatures.suffix(64)))
        } catch let error as IdentitySuccessionError { throw error } catch let error as CanonicalCodingError {
            throw .malformed(error)
        } catch { throw .invalidField }
    }
}

/// On what a recovery rests.
public struct RecoveryGround: Hashable, Sendable {
    /// P-256, 33 bytes: told to the world now, for the first time.
    public let recoveryKey: [UInt8]
    /// What the old state committed to.
    public let commitment: RecoveryCommitment
    /// SHA-256 of the request that was logged, 32 bytes.
    public let request: [UInt8]

    /// Grounds of a recovery.
    ///
    /// - Throws: ``IdentitySuccessionError/invalidField``: no key of 33 bytes, or no hash of 32.
    public init(recoveryKey: [UInt8], commitment: RecoveryCommitment, request: [UInt8]) throws(IdentitySuccessionError)
    {
        guard P256Text.isKey(recoveryKey), request.count == 32 else { throw .invalidField }
        self.recoveryKey = recoveryKey
        self.commitment = commitment
        self.request = request
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let key = Array(try reader.bytes(33))
        let commitment = try RecoveryCommitment(decoding: Array(try reader.bytes(RecoveryCommitment.byteCount)))
        try self.init(recoveryKey: key, commitment: commitment, request: Array(try reader.bytes(32)))
    }
}

/// Why a succession is refused.
public enum IdentitySuccessionError: Error, Hashable, Sendable {
    /// The bytes do not begin with `signet-identity-succession/v1`.
    case unknownFormat
    /// The bytes do not have the form.
    case malformed(CanonicalCodingError)
    /// A key is no P-256 point, old and new are the same, or a length is wrong.
    case invalidField
    /// The caller's signing closure threw.
    case signingFailed
    /// It is about another account.
    case anotherAccount
    /// It does not follow the state that is known, or not its key.
    case doesNotFollow
    /// The old state has no guardians set.
    case notRecoverable
    /// The recovery key or the commitment is not what the old state committed to.
    case notCommitted
    /// The log holds no such request that is still in force.
    case noLoggedRequest
    /// The time for objections is not over; it ends then.
    case tooEarly(until: UInt64)
    /// The signature by the old or the recovery key does not verify.
    case invalidAuthority
    /// The new key did not sign.
    case invalidNewSignature
}
