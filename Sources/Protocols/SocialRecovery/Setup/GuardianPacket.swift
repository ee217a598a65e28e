// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
import DeviceIdentity
public import KeyTransparency
import SecretMemory
public import SecretSharing

/// What a guardian keeps: one share, and what they need to judge a request. It tells neither how many guardians there
/// are, nor how many are needed, nor who.
///
/// Plaintext, 1024 bytes: `signet-packet/v2` LF, scope (36), u16 place, 32-byte share, 33-byte public half, 32-byte
/// SHA-256 of the recovery key, owner's and guardian's handle each behind a u8 length, u8 and u64 of the meeting, u32
/// delay in seconds, then u8 place, 32-byte part of the key to the guardian list and 32-byte part of the seed of the
/// journal's key (``ByteShare``), 32-byte seed of the ask key, 64-byte signature by the owner's identity key over all before,
/// zeros. Sealed with X-Wing to the guardian's device key; purpose `signet-packet/v2`, context the scope. Both places are
/// drawn at random.
public struct GuardianPacket: Sendable {
    /// The sealed form's length in bytes, the same for all.
    public static let sealedByteCount = plaintextByteCount + PublicSealing.overhead
    static let plaintextByteCount = 1024
    private static let format: StaticString = "signet-packet/v2\n"

    /// Account and epoch.
    public let scope: RecoveryScope
    /// The share. Its public half has been checked.
    public let share: SecretShare
    /// SHA-256 of the recovery key, 32 bytes.
    public let recoveryKeyHash: [UInt8]
    /// Whose identity it recovers.
    public let owner: Handle
    /// Whose share it is.
    public let guardian: Handle
    /// When and how the two met, as the owner entered it.
    public let meeting: MeetingEvidence
    /// How long a recovery is open to objection, in seconds.
    public let delay: UInt32
    let parts: GuardianParts
    /// With which this guardian endorses a request, and signs answers to it.
    public let askKey: AskKey

    /// The guardian's place in the spoken code, one of ``SpokenNumbers/placeCount``, drawn at random.
    public var place: UInt8 { parts.place }

    init(
        scope: RecoveryScope, share: SecretShare, recoveryKeyHash: [UInt8], owner: Handle, guardian: Handle,
        meeting: MeetingEvidence, delay: UInt32, parts: GuardianParts, askKey: AskKey
    ) {
        self.scope = scope
        self.share = share
        self.recoveryKeyHash = recoveryKeyHash
        self.owner = owner
        self.guardian = guardian
        self.meeting = meeting
        self.delay = delay
        self.parts = parts
        self.askKey = askKey
    }

    /// Opens a packet and checks all of it.
    ///
    /// - Parameters:
    ///   - key: the private half of the device key that it was sealed to.
    ///   - guardian: who opens it.
    ///   - owner: whose packet it should be.
    ///   - identityKey: the owner's, from a verified lookup, 33 bytes.
    /// - Throws: ``GuardianPacketError``.
    public init(
        opening sealed: [UInt8], with key: SealingKey, scope: RecoveryScope, as guardian: Handle,
        from owner: Handle, identityKey: [UInt8]
    ) throws(GuardianPacketError) {
        guard sealed.count == Self.sealedByteCount else { throw .invalidLength(sealed.count) }
        guard
            var plaintext = PublicSealing.open(
                sealed, with: key, purpose: "signet-packet/v2", context: scope.encoded)
        else { throw .notSealedToThisDevice }
        defer { plaintext.wipe() }
        let (packet, point): (GuardianPacket, [UInt8])
        do throws(RecoveryFormatError) {
            (packet, point) = try Self.read(plaintext, identityKey: identityKey)
        } catch { throw .malformed(error) }
        guard packet.scope == scope, packet.owner == owner else { throw .anotherAccount }
        guard packet.guardian == guardian else { throw .anotherGuardian }
        guard (try? packet.share.scalar.publicPoint())?.encoded == point else { throw .wrongShare }
        self = packet
    }

    /// Seals the packet to a guardian's device; `sign` signs with the owner's identity key. Nil when either fails.
    func sealed(to key: GuardianKey, signing sign: ([UInt8]) throws -> [UInt8]) -> [UInt8]? {
        guard var plaintext = plaintext(signing: sign) else { return nil }
        defer { plaintext.wipe() }
        return PublicSealing.seal(
            plaintext, to: key.sealingKey, purpose: "signet-packet/v2", context: scope.encoded)
    }

    /// What is sealed.
    func plaintext(signing sign: ([UInt8]) throws -> [UInt8]) -> [UInt8]? {
        var plaintext = unsigned
        guard let signature = try? sign(plaintext), signature.count == 64 else {
            plaintext.wipe()
            return nil
        }
        plaintext += signature
        plaintext += [UInt8](repeating: 0, count: max(0, Self.plaintextByteCount - plaintext.count))
        return plaintext
    }

    private var unsigned: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(scope.encoded)
        writer.write(share.index.value)
        share.scalar.withBytes { for index in $0.indices { writer.write($0[index]) } }
        writer.write((try? share.scalar.publicPoint())?.encoded ?? [])
        writer.write(recoveryKeyHash)
        writer.short(owner.bytes)
        writer.short(guardian.bytes)
        writer.write(meeting.kind.rawValue)
        writer.write(meeting.date)
        writer.write(delay)
        parts.write(to: &writer)
        askKey.seed.withSpan { writer.write(span: $0) }
        return writer.bytes
    }

    /// The packet, and the point that its share is said to have, of what was sealed. The owner's signature is checked here.
    static func read(
        _ plaintext: [UInt8], identityKey: [UInt8]
    ) throws(RecoveryFormatError) -> (GuardianPacket, [UInt8]) {
        try RecoveryFormat.read(plaintext, format) { reader in
            let scope = try RecoveryScope(from: &reader)
            guard let place = ShareIndex(try reader.uint16()) else { throw RecoveryFormatError.invalidField }
            let share = SecretShare(index: place, scalar: try SecretScalar(reader.array(32)))
            let point = try reader.array(33)
            let keyHash = try reader.array(32)
            let (owner, guardian) = (try reader.handle(), try reader.handle())
            guard let kind = MeetingEvidence.Kind(rawValue: try reader.uint8()) else {
                throw RecoveryFormatError.invalidField
            }
            let meeting = MeetingEvidence(kind: kind, date: try reader.uint64())
            let delay = try reader.uint32()
            let parts = try GuardianParts(from: &reader)
            let ask = try reader.array(32)
            let askKey = AskKey(seed: SecretBytes(copying: ask.span))
            let signed = Array(plaintext.prefix(reader.offset))
            guard P256Text.isValid(try reader.array(64), over: signed, by: identityKey) else {
                throw RecoveryFormatError.invalidField
            }
            try reader.padding()
            let packet = GuardianPacket(
                scope: scope, share: share, recoveryKeyHash: keyHash, owner: owner, guardian: guardian,
                meeting: meeting, delay: delay, parts: parts, askKey: askKey)
            return (packet, point)
        }
    }

    /// The guardian's answer to "do you still have it?": 32-byte challenge.
    ///
    /// - Throws: `HoldingError`.
    public func proveHolding(of challenge: [UInt8]) throws(HoldingError) -> HoldingProof {
        try share.proveHolding(of: challenge)
    }
}

/// Why a packet is not kept.
public enum GuardianPacketError: Error, Hashable, Sendable {
    /// It has this many bytes.
    case invalidLength(Int)
    /// This device's key does not open it.
    case notSealedToThisDevice
    /// What is inside does not have the form, or is not signed by the owner.
    case malformed(RecoveryFormatError)
    /// It belongs to another account or epoch than it came for.
    case anotherAccount
    /// It is meant for another guardian.
    case anotherGuardian
    /// The share does not match its public half.
    case wrongShare
}
