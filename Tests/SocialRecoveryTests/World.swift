// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import KeyTransparency
import SecretMemory
import SecretSharing
import SeededRandomness
import Testing

@testable import SocialRecovery

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension P256.Signing.PrivateKey {
    var publicBytes: [UInt8] { Array(publicKey.compressedRepresentation) }
    func rawSignature(_ message: [UInt8]) throws -> [UInt8] { Array(try signature(for: message).rawRepresentation) }
}

extension SealingKey {
    var publicBytes: [UInt8] { Array(publicKey.rawRepresentation) }
}

extension SecretScalar {
    var exposed: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}

/// A guardian with their keys.
struct Person {
    let handle: Handle
    let identity = P256.Signing.PrivateKey()
    let sealing: SealingKey
    let device = Curve25519.Signing.PrivateKey()

    init(_ name: String) throws {
        handle = try Handle(typed: bytes(name + "@example.org"))
        sealing = try SealingKey.generate()
    }

    var key: GuardianKey {
        GuardianKey(unchecked: handle, sealingKey: sealing.publicBytes, identityKey: identity.publicBytes)
    }

    /// As a verified lookup lists their device.
    func record() throws -> DeviceRecord {
        let keys = try DeviceKeys(
            signing: Array(device.publicKey.rawRepresentation),
            agreement: Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation),
            kem: sealing.publicBytes)
        return DeviceRecord(number: 1, addedAt: 1, keys: keys)
    }

    func deviceSignature(_ message: [UInt8]) throws -> [UInt8] { Array(try device.signature(for: message)) }
}

/// The device on which the owner recovers.
struct NewDevice {
    let identity = P256.Signing.PrivateKey()
    let sealing: SealingKey
    let signing = Curve25519.Signing.PrivateKey()
    let numbers = SpokenNumbers(seed: [UInt8](repeating: 0x77, count: 32))

    init() throws { sealing = try SealingKey.generate() }

    func request(_ scope: RecoveryScope, created: UInt64 = World.now, expires: UInt64? = nil) throws -> RecoveryRequest
    {
        try RecoveryRequest(
            scope: scope, identityKey: identity.publicBytes, sealingKey: sealing.publicBytes,
            signingKey: Array(signing.publicKey.rawRepresentation), revealRoot: numbers.root, created: created,
            expires: expires ?? created + UInt64(World.delay) + 86_400, claimedName: bytes("Ming's new phone"),
            signing: identity.rawSignature)
    }
}

/// Ming, five guardians, and an account that commits to them.
struct World {
    static let now: UInt64 = 1_800_000_000
    static let delay = RecoveryCommitment.standardDelay
    static let names = [
        "ana", "ben", "cleo", "dan", "eva", "finn", "gus", "hana", "ivo", "jan", "kim", "leo", "mia", "noa", "oli",
        "pia", "quin",
    ]

    let owner: Handle
    let identity = P256.Signing.PrivateKey()
    let device = Curve25519.Signing.PrivateKey()
    /// The X-Wing key of the owner's device.
    let ownKey: SealingKey
    let label: LabelIndex
    let guardians: [Person]
    let setup: RecoverySetup
    let journal: RecoveryJournal
    let accountKey = [UInt8](repeating: 0xA5, count: 32)
    let siteKey: SecretScalar
    let site: VerifiedHost
    let before: AccountState
    let state: AccountState

    init(threshold: Int = 3, count: Int = 5, epoch: UInt32 = 1, delay: UInt32 = World.delay, seed: UInt64 = 1) throws {
        owner = try Handle(typed: bytes("ming@example.org"))
        ownKey = try SealingKey.generate()
        label = try #require(LabelIndex([UInt8](repeating: 3, count: 32)))
        guardians = try Self.names.prefix(count).map { try Person($0) }
        site = try VerifiedHost(bytes("shop.example"), evidence: .tlsConnection)
        siteKey = SecretScalar.random()
        before = try Self.state(owner, identity, device, version: 1, commitment: nil, previous: nil)
        let scope = try #require(RecoveryScope(label: label, epoch: epoch))
        let meeting = MeetingEvidence(kind: .person, date: 1_700_000_000)
        let plan = RecoverySetup.Plan(
            scope: scope, owner: owner, ownKey: ownKey.publicBytes, guardians: guardians.map { ($0.key, meeting) },
            threshold: threshold, delay: delay, created: Self.now)
        let bytes = accountKey
        let octets = SecretBytes(copying: bytes.span)
        let made = try Self.setUp(
            plan: plan, identity, device, entries: [.accountKey(epoch: 1, octets), .siteRecovery(site, siteKey)],
            seed: seed)
        setup = made.0
        journal = made.1
        state = try Self.state(
            owner, identity, device, version: 2, commitment: setup.commitment.hash, previous: before)
    }

    static func setUp(
        plan: RecoverySetup.Plan, _ identity: P256.Signing.PrivateKey, _ device: Curve25519.Signing.PrivateKey,
        entries: [JournalEntry], seed: UInt64
    ) throws -> (RecoverySetup, RecoveryJournal) {
        var generator = SeededGenerator(seed: seed)
        let made = try RecoverySetup.begin(plan, using: &generator, signing: identity.rawSignature) {
            journal, key throws(RecoveryJournalError) in
            try journal.append(entries, to: key, device: 1, at: 1) { Array(try device.signature(for: $0)) }
        }
        return (made.setup, made.journal)
    }

    static func state(
        _ owner: Handle, _ identity: P256.Signing.PrivateKey, _ device: Curve25519.Signing.PrivateKey,
        version: UInt64, commitment: [UInt8]?, previous: AccountState?, number: UInt16 = 1
    ) throws -> AccountState {
        let keys = try DeviceKeys(
            signing: Array(device.publicKey.rawRepresentation),
            agreement: Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation),
            kem: [UInt8](repeating: 2, count: 1216))
        let body = AccountStateBody(
            handle: owner, version: version, previous: previous?.hash ?? [UInt8](repeating: 0, count: 32),
            identityKey: identity.publicBytes, recoveryCommitment: commitment, pendingRecovery: nil,
            accountHead: nil, devices: [DeviceRecord(number: number, addedAt: 1, keys: keys)])
        return try AccountState(signing: body, with: identity.rawSignature)
    }

    var scope: RecoveryScope { setup.bundle.scope }

    func packet(of position: Int) throws -> GuardianPacket {
        try GuardianPacket(
            opening: setup.guardians[position].packet, with: guardians[position].sealing, scope: scope,
            as: guardians[position].handle, from: owner, identityKey: identity.publicBytes)
    }

    /// What the log holds of a request that began at ``now``.
    func start(_ request: RecoveryRequest) throws -> RecoveryStart {
        try start(of: request.hash, by: request.identityKey, expires: request.expires)
    }

    /// What the log holds of a request with this hash, endorsed by the first guardian.
    func start(of request: [UInt8], by identityKey: [UInt8], expires: UInt64) throws -> RecoveryStart {
        try RecoveryStart(
            request: request, identityKey: identityKey, commitment: setup.commitment, started: Self.now,
            expires: expires,
            endorsement: RecoveryEndorsement(
                of: request, identityKey: identityKey, commitment: setup.commitment, expires: expires, at: Self.now,
                signing: packet(of: 0).askKey.signature))
    }

    /// The account's state once the log holds it.
    func asked(_ request: RecoveryRequest, by device: NewDevice) throws -> AccountState {
        try AccountState(
            starting: start(request), superseding: nil, after: state, with: device.identity.rawSignature)
    }

    /// The new device as the account's next state lists it.
    func record(of device: NewDevice) throws -> DeviceRecord {
        let keys = try DeviceKeys(
            signing: Array(device.signing.publicKey.rawRepresentation),
            agreement: Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation),
            kem: device.sealing.publicBytes)
        return DeviceRecord(number: 2, addedAt: Self.afterDelay, keys: keys)
    }

    /// A guardian's case right before the release.
    func confirmedCase(
        _ position: Int, _ request: RecoveryRequest, _ device: NewDevice, at now: UInt64 = Self.now
    ) throws -> GuardianCase {
        var generator = SeededGenerator(seed: UInt64(position))
        var guardianCase = try GuardianCase(
            request, start: start(request), packet: packet(of: position), state: asked(request, by: device),
            at: now)
        let number = try guardianCase.offerNumber(using: &generator, signing: guardians[position].deviceSignature)
        let reveal = device.numbers.reveal(at: number.place)
        let code = SpokenCode(
            request: request.hash, guardian: guardians[position].handle, number: number.number, reveal: reveal)
        try guardianCase.compare(typed: code.text, revealed: reveal)
        try guardianCase.confirm(grant(.confirmRecovery(of: owner)))
        return guardianCase
    }

    func release(_ position: Int, _ request: RecoveryRequest, _ device: NewDevice) throws -> ShareRelease {
        var guardianCase = try confirmedCase(position, request, device)
        return try guardianCase.release(
            packet(of: position), state: asked(request, by: device), shownAt: Self.afterDelay, at: Self.afterDelay,
            signing: guardians[position].identity.rawSignature)
    }

    /// What a guardian who lies sends: a share of their own making, properly signed.
    func lie(_ position: Int, _ request: RecoveryRequest) throws -> ShareRelease {
        let packet = try packet(of: position)
        let forged = GuardianPacket(
            scope: packet.scope, share: SecretShare(index: packet.share.index, scalar: .random()),
            recoveryKeyHash: packet.recoveryKeyHash, owner: owner, guardian: packet.guardian,
            meeting: packet.meeting, delay: packet.delay, parts: packet.parts, askKey: packet.askKey)
        return try #require(
            ShareRelease(forged, for: request, signing: guardians[position].identity.rawSignature))
    }

    func attempt(_ request: RecoveryRequest) throws -> RecoveryAttempt {
        try RecoveryAttempt(
            request, start: start(request), bundle: setup.bundle.encoded, state: state)
    }

    static var afterDelay: UInt64 { now + UInt64(delay) }
}

extension GuardianCase {
    /// A case for a request that the log holds already.
    init(
        _ request: RecoveryRequest, start: RecoveryStart, packet: GuardianPacket, state: AccountState, at now: UInt64
    ) throws {
        try self.init(request, commitment: start.commitment, packet: packet, state: state, at: now)
        try logged(start, state: state, at: now)
    }
}

/// Leave for an action, from a gate that was just unlocked.
func grant(_ action: PresenceAction) throws -> PresenceGrant {
    var gate = PresenceGate()
    guard case .prompt(let unlock) = gate.ask(.unlock, at: 1) else { throw PresenceError.notAsked }
    _ = try gate.settle(unlock, .present, at: 1)
    guard case .prompt(let prompt) = gate.ask(action, at: 1) else { throw PresenceError.notAsked }
    return try gate.settle(prompt, .present, at: 1)
}

/// Whether bytes occur in others.
func contains(_ haystack: [UInt8], _ needle: [UInt8]) -> Bool {
    guard needle.count <= haystack.count else { return false }
    return (0...(haystack.count - needle.count)).contains { start in
        haystack[start] == needle[0] && haystack[start..<start + needle.count].elementsEqual(needle)
    }
}
