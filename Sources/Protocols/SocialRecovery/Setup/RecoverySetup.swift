// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency
import SecretMemory
public import SecretSharing

/// The owner's side: who guards their identity, from the first sealed packet to the state that commits to it.
///
/// A value without any secret: the recovery key lives only inside ``begin(_:using:signing:filling:)``. Keep ``encoded``
/// before each message goes out; after a power failure the setup goes on where it was. The set before stays in force
/// until this one is active.
///
/// ```
/// begin → delivering → (enough have answered "kept") → publishing → active
/// ```
public struct RecoverySetup: Hashable, Sendable {
    /// How far it is.
    public enum Stage: UInt8, Hashable, Sendable, CaseIterable {
        /// Packets go out; guardians answer that they keep them.
        case delivering = 1
        /// The account's next state shall commit to it.
        case publishing = 2
        /// A verified state commits to it. The set before may be deleted.
        case active = 3
    }

    /// A guardian of this set.
    public struct Guardian: Hashable, Sendable {
        /// The person and their keys.
        public let key: GuardianKey
        /// How the owner and they met.
        public let meeting: MeetingEvidence
        /// Where their share is.
        public let index: ShareIndex
        /// Their packet, to be sent.
        public let packet: [UInt8]
        /// What they have to sign to show that they keep it, 32 bytes.
        public let challenge: [UInt8]
        /// Whether they did.
        public fileprivate(set) var isKept: Bool
    }

    /// The file for the new device; store it with the server.
    public let bundle: RecoveryBundle
    /// What the account's state has to commit to.
    public let commitment: RecoveryCommitment
    /// What shares are checked with; the bundle holds them sealed.
    public let commitments: ShareCommitments
    private let sealedAskKey: [UInt8]
    /// The guardians, in the order they were chosen.
    public private(set) var guardians: [Guardian]
    /// How far it is.
    public private(set) var stage: Stage = .delivering
    private static let format: StaticString = "signet-setup/v2\n"

    /// What to set up.
    public struct Plan: Sendable {
        /// Account and epoch; the epoch is one more than that of the set before.
        public let scope: RecoveryScope
        /// Whose identity.
        public let owner: Handle
        /// X-Wing key of the owner's device, 1216 bytes: the device keeps the ask key sealed to it.
        public let ownKey: [UInt8]
        /// 3 to 16, each with how the two met.
        public let guardians: [(key: GuardianKey, meeting: MeetingEvidence)]
        /// How many of them recover it: at least 2, and one fewer than there are.
        public let threshold: Int
        /// How long a recovery is open to objection, in seconds.
        public let delay: UInt32
        /// Now, in seconds since 1970.
        public let created: UInt64

        /// A plan. By default three recover, and an objection has two days.
        public init(
            scope: RecoveryScope, owner: Handle, ownKey: [UInt8],
            guardians: [(key: GuardianKey, meeting: MeetingEvidence)],
            threshold: Int = 3, delay: UInt32 = RecoveryCommitment.standardDelay, created: UInt64
        ) {
            self.scope = scope
            self.owner = owner
            self.ownKey = ownKey
            self.guardians = guardians
            self.threshold = threshold
            self.delay = delay
            self.created = created
        }

        func check() throws(RecoverySetupError) {
            guard delay <= RecoveryCommitment.maximumDelay else { throw .delayTooLong(delay) }
            guard guardians.count <= Dealing.maximumShareCount else { throw .tooManyGuardians(guardians.count) }
            guard threshold >= 2 else { throw .thresholdTooLow(threshold) }
            guard guardians.count > threshold else { throw .tooFewGuardians(needed: threshold + 1) }
            guard Set(guardians.map(\.key.handle)).count == guardians.count,
                Set(guardians.map(\.key.sealingKey)).count == guardians.count
            else { throw .repeatedGuardian }
            guard !guardians.contains(where: { $0.key.handle == owner }) else { throw .ownGuardian }
        }
    }

    /// Makes a recovery key, cuts it among the guardians, seals everything, and lets the key go.
    ///
    /// - Parameters:
    ///   - generator: a cryptographic source.
    ///   - sign: signs with the owner's identity key, 64 bytes r || s.
    ///   - fill: puts what a recovery shall bring back into the journal, which is sealed to the key it is given, X-Wing, 1216
    ///     bytes.
    /// - Throws: ``RecoverySetupError``.
    public static func begin(
        _ plan: Plan, using generator: inout some RandomNumberGenerator, signing sign: ([UInt8]) throws -> [UInt8],
        filling fill: (inout RecoveryJournal, [UInt8]) throws(RecoveryJournalError) -> Void
    ) throws(RecoverySetupError) -> (setup: RecoverySetup, journal: RecoveryJournal) {
        try plan.check()
        let indices = ShareIndex.random(count: plan.guardians.count, using: &generator)
        let secret = SecretScalar.random(using: &generator)
        guard
            let dealing = try? Dealing(
                of: secret, threshold: plan.threshold, at: indices, using: &generator),
            let seed = JournalSeed.random(using: &generator)
        else { throw .dealingFailed }
        var journal = RecoveryJournal(scope: plan.scope)
        do throws(RecoveryJournalError) { try fill(&journal, seed.publicKey) } catch {
            throw .journal(error)
        }
        let sealing = SetupSealing(plan: plan, dealing: dealing, seed: seed, journal: journal)
        return (try sealing.setup(using: &generator, signing: sign), journal)
    }

    init(
        bundle: RecoveryBundle, commitment: RecoveryCommitment, commitments: ShareCommitments, sealedAskKey: [UInt8],
        guardians: [Guardian]
    ) {
        self.sealedAskKey = sealedAskKey
        self.bundle = bundle
        self.commitment = commitment
        self.commitments = commitments
        self.guardians = guardians
    }

    /// How many of them recover the identity.
    public var threshold: Int { commitments.threshold }

    static let askPurpose: StaticString = "signet-ask-key/v2"

    /// The ask key, which the owner may keep on paper; nil when it is not this device's key that it is sealed to.
    ///
    /// - Parameter key: the private half of the X-Wing key of the device that made the set.
    public func askKey(with key: SealingKey) -> AskKey? {
        guard
            var seed = PublicSealing.open(
                sealedAskKey, with: key, purpose: Self.askPurpose, context: bundle.scope.encoded)
        else { return nil }
        defer { seed.wipe() }
        let askKey = AskKey(seed: SecretBytes(copying: seed.span))
        return askKey.publicKey == commitment.askKey ? askKey : nil
    }

    /// How many guardians have to keep their packet before the set may be published: one more than recover.
    public var neededCount: Int { min(guardians.count, commitments.threshold + 1) }

    /// How many keep it.
    public var keptCount: Int { guardians.count(where: \.isKept) }

    /// A guardian answered that they keep their packet. May come twice.
    ///
    /// - Throws: ``RecoverySetupError``: no such guardian, or the answer does not prove it.
    public mutating func kept(by handle: Handle, _ proof: HoldingProof) throws(RecoverySetupError) {
        guard let position = guardians.firstIndex(where: { $0.key.handle == handle }) else { throw .noSuchGuardian }
        let guardian = guardians[position]
        do throws(HoldingError) {
            _ = try commitments.verify(proof, for: guardian.challenge, at: guardian.index)
        } catch { throw .notKept(handle) }
        guardians[position].isKept = true
    }

    /// Enough guardians keep their packet; from now on the account's next state carries the commitment.
    ///
    /// - Throws: ``RecoverySetupError/notEnoughKept(missing:)``.
    public mutating func publish() throws(RecoverySetupError) {
        guard stage == .delivering else { return }
        guard keptCount >= neededCount else { throw .notEnoughKept(missing: neededCount - keptCount) }
        stage = .publishing
    }

    /// A state of the account, from a verified lookup, that should commit to this set. May come twice.
    ///
    /// - Throws: ``RecoverySetupError/notCommitted``: it commits to another set, or to none.
    public mutating func activate(by state: AccountState) throws(RecoverySetupError) {
        guard stage != .delivering else { throw .notEnoughKept(missing: max(1, neededCount - keptCount)) }
        guard state.recoveryCommitment == commitment.hash else { throw .notCommitted }
        stage = .active
    }
}

/// Why guardians were not set up.
public enum RecoverySetupError: Error, Hashable, Sendable {
    /// More than 16.
    case tooManyGuardians(Int)
    /// As many guardians as recover would be lost with one of them.
    case tooFewGuardians(needed: Int)
    /// Below 2.
    case thresholdTooLow(Int)
    /// One person, or one device, twice.
    case repeatedGuardian
    /// The owner cannot guard themselves.
    case ownGuardian
    /// Longer than ``RecoveryCommitment/maximumDelay``.
    case delayTooLong(UInt32)
    /// The numbers drawn were unusable, which chance does not cause. Worth a retry.
    case dealingFailed
    /// A guardian's key cannot be sealed to.
    case invalidGuardianKey(Handle)
    /// The journal could not be filled.
    case journal(RecoveryJournalError)
    /// The caller's signing closure threw.
    case signingFailed
    /// The owner's X-Wing key cannot be sealed to; the caller's mistake.
    case invalidOwnKey
    /// This set has no guardian of this name.
    case noSuchGuardian
    /// The guardian's answer does not prove that they keep their share.
    case notKept(Handle)
    /// This many more guardians have to answer first.
    case notEnoughKept(missing: Int)
    /// The account's state does not commit to this set.
    case notCommitted
}

extension RecoverySetup {
    /// For the owner's device: `signet-setup/v2` LF, u8 stage, commitment, 1168 bytes of sealed ask key, u32 length and
    /// bundle, u8 threshold and so many
    /// points of 33 bytes, u8 count, for each guardian: u8 length and handle, 1216 + 33 bytes of keys, u8 kind and u64 date of the meeting, u16 place, packet, 32-byte
    /// challenge, u8 whether kept.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(stage.rawValue)
        writer.write(commitment.encoded)
        writer.write(sealedAskKey)
        writer.long(bundle.encoded)
        writer.write(UInt8(truncatingIfNeeded: commitments.threshold))
        writer.write(commitments.encoded)
        writer.write(UInt8(guardians.count))
        for guardian in guardians {
            writer.short(guardian.key.handle.bytes)
            writer.write(guardian.key.sealingKey)
            writer.write(guardian.key.identityKey)
            writer.write(guardian.meeting.kind.rawValue)
            writer.write(guardian.meeting.date)
            writer.write(guardian.index.value)
            writer.write(guardian.packet)
            writer.write(guardian.challenge)
            writer.flag(guardian.isKept)
        }
        return writer.bytes
    }

    /// Reads what the owner's device kept.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in
            guard let stage = Stage(rawValue: try reader.uint8()) else { throw RecoveryFormatError.invalidField }
            let commitment = try RecoveryCommitment(decoding: reader.array(RecoveryCommitment.byteCount))
            let sealedAskKey = try reader.array(32 + PublicSealing.overhead)
            let bundle = try RecoveryBundle(decoding: reader.long(), commitment: commitment)
            let threshold = Int(try reader.uint8())
            let commitments = try ShareCommitments(decoding: reader.array(threshold * CurvePoint.byteCount))
            var guardians: [Guardian] = []
            for _ in 0..<(try reader.uint8()) { guardians.append(try Guardian(from: &reader)) }
            var setup = RecoverySetup(
                bundle: bundle, commitment: commitment, commitments: commitments, sealedAskKey: sealedAskKey,
                guardians: guardians)
            setup.stage = stage
            return setup
        }
    }
}

extension RecoverySetup.Guardian {
    init(key: GuardianKey, meeting: MeetingEvidence, index: ShareIndex, packet: [UInt8], challenge: [UInt8]) {
        self.key = key
        self.meeting = meeting
        self.index = index
        self.packet = packet
        self.challenge = challenge
        isKept = false
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let handle = try reader.handle()
        key = GuardianKey(
            unchecked: handle, sealingKey: try reader.array(PublicSealing.keyByteCount),
            identityKey: try reader.array(33))
        guard let kind = MeetingEvidence.Kind(rawValue: try reader.uint8()) else {
            throw RecoveryFormatError.invalidField
        }
        meeting = MeetingEvidence(kind: kind, date: try reader.uint64())
        guard let index = ShareIndex(try reader.uint16()) else { throw RecoveryFormatError.invalidField }
        self.index = index
        packet = try reader.array(GuardianPacket.sealedByteCount)
        challenge = try reader.array(32)
        isKept = try reader.flag()
    }
}
