// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import DeviceIdentity
public import KeyTransparency

/// The guardian's side of one request: from the request to the release of the share, or a refusal.
///
/// A value; keep ``encoded`` after each step. Times are the guardian's own, in seconds since 1970. A request begins off the
/// log: the first guardian who confirms it endorses it, and only then can the log take it. The delay runs from when this
/// device saw it there: no server can shorten it by writing an earlier time.
///
/// ```
/// asked → (offer a number) → numbered → (the device reveals, the person's code matches) → matched
///       → (the guardian confirms, present) → confirmed → (endorsed, unless the log has it) → (the log has it)
///       → (the delay is over, the owner did not object) → released
/// ```
/// At any point before `released`: declined or reported. A wrong code ends it: one try a request.
public struct GuardianCase: Hashable, Sendable {
    /// How far it is.
    public enum Stage: UInt8, Hashable, Sendable, CaseIterable {
        /// The request came in and is the one in the log.
        case asked = 1
        /// The guardian's number is out.
        case numbered = 2
        /// The person read the right code.
        case matched = 3
        /// The guardian confirmed. The share waits for the delay.
        case confirmed = 4
        /// The share is on its way.
        case released = 5
        /// The guardian said no, or the code was wrong.
        case declined = 6
        /// The guardian reported an impostor of the owner.
        case reported = 7
        /// A device of the owner's objected, and told this guardian so, regardless of the log.
        case stopped = 8
    }

    /// The request.
    public let request: RecoveryRequest
    /// By which commitment of the account.
    public let commitment: RecoveryCommitment
    /// What the log holds of it; nil before it does.
    public private(set) var start: RecoveryStart?
    /// When this device saw that the log holds it; nil before.
    public private(set) var seen: UInt64?
    /// Whose identity.
    public let owner: Handle
    /// How far it is.
    public private(set) var stage: Stage = .asked
    /// Who the guardian is.
    public let guardian: Handle
    /// The guardian's place in the spoken code, as their packet has it.
    public let place: UInt8
    /// The guardian's number for the spoken code, once offered.
    public private(set) var number: GuardianNumber?
    private var release: [UInt8] = []
    private var endorsement: RecoveryEndorsement?
    private static let format: StaticString = "signet-guardian-case/v2\n"

    /// Opens a case for a request.
    ///
    /// - Parameters:
    ///   - commitment: the commitment of the account as it was received.
    ///   - packet: what this guardian keeps for the account.
    ///   - state: the owner's last state, from a verified lookup.
    /// - Throws: ``GuardianCaseError``: there is nothing to ask the guardian about.
    public init(
        _ request: RecoveryRequest, commitment: RecoveryCommitment, packet: GuardianPacket, state: AccountState,
        at now: UInt64
    ) throws(GuardianCaseError) {
        self.request = request
        self.commitment = commitment
        owner = packet.owner
        guardian = packet.guardian
        place = packet.place
        try check(packet, state, now)
    }

    /// Whether this guardian has not decided anything about it.
    package var isUndecided: Bool { stage == .asked || stage == .numbered }

    /// When the share may be released: the delay after the start, and after this device saw it in the log. Nil before that.
    public var notBefore: UInt64? {
        guard let start, let seen else { return nil }
        let (own, overflow) = seen.addingReportingOverflow(UInt64(commitment.delay))
        return overflow ? .max : max(start.notBefore, own)
    }

    /// The log holds the request: the delay runs from now. The same again changes nothing.
    ///
    /// - Parameters:
    ///   - start: what the log should hold of the request, as it was received.
    ///   - state: the owner's last state, from a verified lookup.
    /// - Throws: ``GuardianCaseError/notLogged``.
    public mutating func logged(_ start: RecoveryStart, state: AccountState, at now: UInt64) throws(GuardianCaseError) {
        guard start.request == request.hash, start.identityKey == request.identityKey, start.commitment == commitment,
            state.pendingRecovery == start.hash
        else { throw .notLogged }
        // The same start may come under another endorsement, which its hash leaves out: the delay runs on.
        guard self.start?.hash != start.hash else { return }
        self.start = start
        seen = now
    }

    /// Lets the request into the log, signed with the shared ask key. It returns the same bytes each time it is called,
    /// for as long as they are valid.
    ///
    /// - Throws: ``GuardianCaseError``: the guardian has not confirmed, or the request is not the packet's any more.
    public mutating func endorse(
        _ packet: GuardianPacket, state: AccountState, at now: UInt64
    ) throws(GuardianCaseError) -> RecoveryEndorsement {
        guard stage == .confirmed else { throw .outOfOrder(stage) }
        try check(packet, state, now)
        if let endorsement, now < endorsement.time + RecoveryEndorsement.lifetime { return endorsement }
        let made = RecoveryEndorsement(
            of: request.hash, identityKey: request.identityKey, commitment: commitment, expires: request.expires,
            at: now, signing: packet.askKey.signature)
        endorsement = made
        return made
    }

    /// The guardian's number for the spoken code, to be sent to the device: 32 random bytes, drawn and signed once.
    ///
    /// - Parameter sign: signs with the guardian's device key, 64 bytes.
    /// - Throws: ``GuardianCaseError/signingFailed``.
    public mutating func offerNumber(
        using generator: inout some RandomNumberGenerator, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(GuardianCaseError) -> GuardianNumber {
        if let number { return number }
        let drawn = (0..<SpokenCode.numberByteCount).map { _ in generator.next() as UInt8 }
        guard let made = GuardianNumber(drawn, at: place, for: request.hash, by: guardian, signing: sign) else {
            throw .signingFailed
        }
        number = made
        if stage == .asked { stage = .numbered }
        return made
    }

    /// Compares what the guardian typed with the code of what the device revealed.
    ///
    /// - Throws: ``GuardianCaseError/notTheCommittedNumber``: the device revealed another number than it committed to for this
    ///   guardian's place;
    ///   ``GuardianCaseError/incompleteCode``: the case stays as it is, for that was not a guess;
    ///   ``GuardianCaseError/wrongCode``: the case is closed, as after ``decline()``.
    public mutating func compare(typed: [UInt8], revealed: SpokenReveal) throws(GuardianCaseError) {
        guard stage == .numbered, let number else { throw .outOfOrder(stage) }
        guard revealed.place == place else { throw .notTheCommittedNumber }
        guard revealed.isCommitted(by: request.revealRoot) else { throw .notTheCommittedNumber }
        guard SpokenCode.isWhole(typed: typed) else { throw .incompleteCode }
        let code = SpokenCode(request: request.hash, guardian: guardian, number: number.number, reveal: revealed)
        guard code.matches(typed: typed) else {
            stage = .declined
            throw .wrongCode
        }
        stage = .matched
    }

    /// The guardian confirms. The grant names whom they help.
    ///
    /// - Throws: ``GuardianCaseError``.
    public mutating func confirm(_ grant: consuming PresenceGrant) throws(GuardianCaseError) {
        guard stage == .matched else { throw .outOfOrder(stage) }
        guard grant.action == .confirmRecovery(of: owner) else { throw .anotherAction }
        stage = .confirmed
    }

    /// The guardian does not help.
    public mutating func decline() { if stage != .released { stage = .declined } }

    /// The guardian reports an impostor of the owner. Tell the owner's devices.
    public mutating func report() { if stage != .released { stage = .reported } }

    /// A device of the owner's objects. It counts whether or not the log shows it, and for good.
    ///
    /// - Parameters:
    ///   - state: the owner's last state, from a verified lookup.
    ///   - now: the guardian's clock, in seconds since 1970.
    /// - Throws: ``GuardianCaseError/invalidObjection``: to another request, or no device of the owner's signed it.
    public mutating func objected(
        _ objection: GuardianObjection, state: AccountState, at now: UInt64
    ) throws(GuardianCaseError) {
        guard objection.covers(request, of: owner, at: now), objection.isSigned(by: state) else {
            throw .invalidObjection
        }
        if stage != .released { stage = .stopped }
    }

    /// Seals the share to the request's device, once the log's delay is over. The same bytes each time it is called.
    ///
    /// - Parameters:
    ///   - quorumTime: when the quorum vouched for the checkpoint that shows `state`, seconds since 1970. An older one would
    ///     hide an objection of the last hours.
    ///   - sign: signs with the guardian's identity key, 64 bytes r || s.
    /// - Throws: ``GuardianCaseError``; ``GuardianCaseError/tooEarly(until:)`` and ``GuardianCaseError/viewTooOld(until:)``
    ///   are worth a retry then.
    public mutating func release(
        _ packet: GuardianPacket, state: AccountState, shownAt quorumTime: UInt64?, at now: UInt64,
        signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(GuardianCaseError) -> ShareRelease {
        guard stage == .confirmed || stage == .released else { throw .outOfOrder(stage) }
        if stage == .released, let before = try? ShareRelease(decoding: release) { return before }
        try check(packet, state, now)
        guard let start, let notBefore, state.pendingRecovery == start.hash else { throw .notLogged }
        guard now >= notBefore else { throw .tooEarly(until: notBefore) }
        guard let quorumTime, quorumTime >= notBefore else { throw .viewTooOld(until: notBefore) }
        guard let made = ShareRelease(packet, for: request, signing: sign) else { throw .signingFailed }
        release = made.encoded
        stage = .released
        return made
    }

    /// The request is this packet's, by a commitment of the account's: the checks in their order.
    private func check(
        _ packet: GuardianPacket, _ state: AccountState, _ now: UInt64
    ) throws(GuardianCaseError) {
        guard request.scope.label == packet.scope.label, state.handle == packet.owner else { throw .anotherAccount }
        guard request.scope.epoch == packet.scope.epoch else { throw .anotherEpoch(held: packet.scope.epoch) }
        guard now < request.expires else { throw .expired }
        guard state.isCommitted(to: commitment, at: start?.started ?? now),
            commitment.askKey == packet.askKey.publicKey, commitment.epoch == packet.scope.epoch,
            commitment.delay == packet.delay, commitment.keyHash == packet.recoveryKeyHash
        else { throw .notCommitted }
    }
}

/// Why a guardian's device does not go on.
public enum GuardianCaseError: Error, Hashable, Sendable {
    /// The request is for another account than the packet.
    case anotherAccount
    /// The request is for another set of shares; this guardian keeps one of the epoch named.
    case anotherEpoch(held: UInt32)
    /// The request is too old.
    case expired
    /// The log holds no such request that is in force: it never did, or one of the owner's devices objected.
    case notLogged
    /// The account committed to another recovery than this guardian's packet is for.
    case notCommitted
    /// The requesting device did not reveal the number to which the request committed: an attacker may be in between.
    case notTheCommittedNumber
    /// What was typed is not a code: three words of the list and two digits.
    case incompleteCode
    /// The person did not read the right code. The case is closed.
    case wrongCode
    /// The presence was for something else.
    case anotherAction
    /// The time for objections is not over.
    case tooEarly(until: UInt64)
    /// What the directory shows is from before that time was over: an objection could be missing.
    case viewTooOld(until: UInt64)
    /// The objection is to another request, or none of the owner's devices signed it.
    case invalidObjection
    /// The step does not come at this stage.
    case outOfOrder(GuardianCase.Stage)
    /// The caller's signing closure threw, or the request's key cannot be sealed to.
    case signingFailed
}

extension GuardianCase {
    /// For the guardian's device: `signet-guardian-case/v2` LF, u8 stage, owner's and guardian's handle each behind a u8 length,
    /// 104 bytes of commitment, u8 0, or 1 and 257 bytes of the start and u64 when it was seen, u8 0, or 1 and 72 bytes of
    /// endorsement, u32 length and request, u8 place, number behind a u8 length, u32 length and release.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(stage.rawValue)
        writer.short(owner.bytes)
        writer.short(guardian.bytes)
        writer.write(commitment.encoded)
        writer.flag(start != nil)
        if let start, let seen {
            writer.write(start.encoded)
            writer.write(seen)
        }
        writer.flag(endorsement != nil)
        writer.write(endorsement?.encoded ?? [])
        writer.long(request.encoded)
        writer.write(place)
        writer.short(number?.encoded ?? [])
        writer.long(release)
        return writer.bytes
    }

    /// Reads what the guardian's device kept.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in try GuardianCase(from: &reader) }
    }

    private init(from reader: inout ByteReader) throws {
        guard let stage = Stage(rawValue: try reader.uint8()) else { throw RecoveryFormatError.invalidField }
        self.stage = stage
        owner = try reader.handle()
        guardian = try reader.handle()
        commitment = try RecoveryCommitment(decoding: reader.array(RecoveryCommitment.byteCount))
        if try reader.flag() {
            start = try RecoveryStart(decoding: reader.array(RecoveryStart.byteCount))
            seen = try reader.uint64()
        }
        if try reader.flag() {
            endorsement = try RecoveryEndorsement(decoding: reader.array(RecoveryEndorsement.byteCount))
        }
        request = try RecoveryRequest(decoding: reader.long())
        place = try reader.uint8()
        let number = try reader.short()
        self.number = number.isEmpty ? nil : try GuardianNumber(decoding: number)
        release = try reader.long()
        guard self.number != nil || ![.numbered, .matched, .confirmed].contains(stage),
            (stage == .released) == !release.isEmpty
        else { throw RecoveryFormatError.invalidField }
    }
}
