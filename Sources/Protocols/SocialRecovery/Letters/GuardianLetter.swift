// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency
public import SecretSharing

/// What an owner and a guardian write to each other. Sealed, all letters have one length.
///
/// Plaintext, 2960 bytes: u8 kind, scope (36), then for a packet 2160 bytes and the 32-byte challenge; for a check the
/// 32-byte challenge; for a proof the 32-byte challenge and 64 bytes; for a set in force its 104-byte commitment; for an
/// objection u16 length and ``GuardianObjection``; zeros. With X-Wing to
/// the recipient's device key; purpose `signet-letter/v2`, context the sender's handle, a zero byte, the recipient's.
public enum GuardianLetter: Hashable, Sendable {
    /// The owner asks a guardian to keep a packet, and to show that they do.
    case packet(RecoveryScope, sealed: [UInt8], challenge: [UInt8])
    /// The owner asks whether the share is still kept.
    case check(RecoveryScope, challenge: [UInt8])
    /// The guardian shows that it is.
    case proof(RecoveryScope, challenge: [UInt8], HoldingProof)
    /// The owner says that this set is in force: once the log confirms it, what came before may be deleted.
    case inForce(RecoveryScope, RecoveryCommitment)
    /// The owner did not ask, and one of their devices says so.
    case objection(RecoveryScope, GuardianObjection)

    /// The sealed form's length in bytes.
    public static let sealedByteCount = plaintextByteCount + PublicSealing.overhead
    private static let plaintextByteCount = 2960

    /// Seals it.
    ///
    /// - Parameter key: the recipient's X-Wing key, from a verified lookup, 1216 bytes.
    /// - Returns: nil when the key cannot be sealed to.
    public func sealed(from sender: Handle, to recipient: Handle, key: [UInt8]) -> [UInt8]? {
        PublicSealing.seal(
            plaintext.padded(toMultipleOf: Self.plaintextByteCount), to: key, purpose: "signet-letter/v2",
            context: Self.context(sender, recipient))
    }

    /// Opens a letter. It says nothing of who sealed it: what is inside proves itself.
    ///
    /// - Throws: ``GuardianLetterError``.
    public init(
        opening sealed: [UInt8], from sender: Handle, to recipient: Handle, with key: SealingKey
    ) throws(GuardianLetterError) {
        guard sealed.count == Self.sealedByteCount,
            let plaintext = PublicSealing.open(
                sealed, with: key, purpose: "signet-letter/v2", context: Self.context(sender, recipient))
        else { throw .notSealedToThisDevice }
        do throws(RecoveryFormatError) { try self.init(plaintext: plaintext) } catch { throw .malformed(error) }
    }

    private static func context(_ sender: Handle, _ recipient: Handle) -> [UInt8] {
        sender.bytes + [0] + recipient.bytes
    }

    /// What is sealed, before the zeros that make all letters equally long.
    var plaintext: [UInt8] {
        switch self {
        case .packet(let scope, let sealed, let challenge): [1] + scope.encoded + sealed + challenge
        case .check(let scope, let challenge): [2] + scope.encoded + challenge
        case .proof(let scope, let challenge, let proof): [3] + scope.encoded + challenge + proof.signature
        case .inForce(let scope, let commitment): [4] + scope.encoded + commitment.encoded
        case .objection(let scope, let objection):
            [5] + scope.encoded + [UInt8(objection.encoded.count >> 8), UInt8(objection.encoded.count & 255)]
                + objection.encoded
        }
    }

    /// Reads what was sealed, with or without the zeros behind it.
    init(plaintext: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(plaintext, "") { reader in
            let letter = try GuardianLetter(from: &reader)
            try reader.padding()
            return letter
        }
    }

    private init(from reader: inout ByteReader) throws {
        let kind = try reader.uint8()
        let scope = try RecoveryScope(from: &reader)
        switch kind {
        case 1:
            self = .packet(
                scope, sealed: try reader.array(GuardianPacket.sealedByteCount), challenge: try reader.array(32))
        case 2: self = .check(scope, challenge: try reader.array(32))
        case 3:
            let challenge = try reader.array(32)
            guard let proof = HoldingProof(try reader.array(HoldingProof.byteCount)) else {
                throw RecoveryFormatError.invalidField
            }
            self = .proof(scope, challenge: challenge, proof)
        case 4: self = .inForce(scope, try RecoveryCommitment(decoding: reader.array(RecoveryCommitment.byteCount)))
        case 5:
            self = .objection(scope, try GuardianObjection(decoding: reader.array(Int(reader.uint16()))))
        default: throw RecoveryFormatError.invalidField
        }
    }
}

/// Why a letter is not read.
public enum GuardianLetterError: Error, Hashable, Sendable {
    /// This device's key does not open it, or its sender is not the one that the server names.
    case notSealedToThisDevice
    /// What is inside is not a letter.
    case malformed(RecoveryFormatError)
}

/// What a guardian answers to a new device.
///
/// Wire form, 4096 bytes: u8 1 and ``GuardianNumber``, or u8 2, u16 length and ``ShareRelease``, or u8 3 and 72 bytes of
/// `RecoveryEndorsement`; zeros.
public enum GuardianAnswer: Hashable, Sendable {
    /// The guardian's number for the spoken code, signed.
    case number(GuardianNumber)
    /// The share, sealed to the device.
    case release(ShareRelease)
    /// The request may go into the log.
    case endorsement(RecoveryEndorsement)

    /// The wire form's length in bytes.
    public static let byteCount = 4096

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .number(let number):
            writer.write(UInt8(1))
            writer.write(number.encoded)
        case .release(let release):
            writer.write(UInt8(2))
            writer.write(UInt16(truncatingIfNeeded: release.encoded.count))
            writer.write(release.encoded)
        case .endorsement(let endorsement):
            writer.write(UInt8(3))
            writer.write(endorsement.encoded)
        }
        return writer.bytes.padded(toMultipleOf: Self.byteCount)
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, "") { reader in
            let answer: GuardianAnswer
            switch try reader.uint8() {
            case 1: answer = .number(try GuardianNumber(from: &reader))
            case 2: answer = .release(try ShareRelease(decoding: reader.array(Int(reader.uint16()))))
            case 3:
                answer = .endorsement(
                    try RecoveryEndorsement(decoding: reader.array(RecoveryEndorsement.byteCount)))
            default: throw RecoveryFormatError.invalidField
            }
            try reader.padding()
            guard bytes.count == Self.byteCount else { throw RecoveryFormatError.invalidField }
            return answer
        }
    }
}
