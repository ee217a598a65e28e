// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import SecretMemory
import SecretSharing
import SignetAPI

@testable import KeyTransparency
@testable import SocialRecovery

/// An account with guardians, a new device that asks them, and what all of them keep and send.
private struct FuzzedRecovery {
    let owner: Handle
    let party: Party
    let newDevice: Party
    let guardians: [(handle: Handle, party: Party)]
    let state: AccountState
    let setup: RecoverySetup
    let journal: RecoveryJournal
    let request: RecoveryRequest
    let start: RecoveryStart
    let numbers = SpokenNumbers(seed: bytes(7, 32))

    static let now: UInt64 = 1_800_000_000
    /// The delay of the commitment under which the fuzzer reads a bundle.
    static let delay: UInt32 = 1000

    init() throws {
        let owner = try fuzzedHandle("a")
        let party = try Party(1)
        let newDevice = try Party(9)
        let guardians = try [UInt8](2...4).map { (try fuzzedHandle("g\($0)"), try Party($0)) }
        let scope = needed { RecoveryScope(label: needed { LabelIndex(bytes(3, 32)) }, epoch: 1) }
        let meeting = MeetingEvidence(kind: .person, date: 1_700_000_000)
        let plan = RecoverySetup.Plan(
            scope: scope, owner: owner, ownKey: party.sealingKey,
            guardians: guardians.map { handle, party in
                let key = GuardianKey(
                    unchecked: handle, sealingKey: party.sealingKey, identityKey: party.identityKey)
                return (key, meeting)
            }, threshold: 2, delay: Self.delay, created: Self.now)
        var generator = SystemRandomNumberGenerator()
        let entries = try fuzzedEntries()
        let (setup, journal) = try RecoverySetup.begin(plan, using: &generator, signing: party.identitySignature) {
            journal, key throws(RecoveryJournalError) in
            try journal.append(entries, to: key, device: 1, at: 1, signing: party.deviceSignature)
        }
        state = try AccountState(
            signing: AccountStateBody(
                handle: owner, version: 2, previous: bytes(5, 32), identityKey: party.identityKey,
                recoveryCommitment: setup.commitment.hash, pendingRecovery: nil, accountHead: nil,
                devices: [DeviceRecord(number: 1, addedAt: 5, keys: fuzzedDevice(party))]),
            with: party.identitySignature)
        request = try RecoveryRequest(
            scope: scope, identityKey: newDevice.identityKey, sealingKey: newDevice.sealingKey,
            signingKey: newDevice.deviceKey, revealRoot: SpokenNumbers(seed: bytes(7, 32)).root, created: Self.now,
            expires: Self.now + UInt64(Self.delay) + 86_400, claimedName: bytes("a phone"),
            signing: newDevice.identitySignature)
        let askKey = needed { setup.askKey(with: party.sealing) }
        start = try RecoveryStart(
            request: request.hash, identityKey: request.identityKey, commitment: setup.commitment, started: Self.now,
            expires: request.expires,
            endorsement: RecoveryEndorsement(
                of: request.hash, identityKey: request.identityKey, commitment: setup.commitment,
                expires: request.expires, at: Self.now, signing: askKey.signature))
        (self.setup, self.journal) = (setup, journal)
        (self.owner, self.party, self.newDevice, self.guardians) = (owner, party, newDevice, guardians)
    }

    func packet(of position: Int) throws -> GuardianPacket {
        try GuardianPacket(
            opening: setup.guardians[position].packet, with: guardians[position].party.sealing,
            scope: setup.bundle.scope, as: guardians[position].handle, from: owner, identityKey: party.identityKey)
    }

    /// A guardian's case in each of its stages, and what they release at its end.
    func cases() throws -> (cases: [GuardianCase], number: GuardianNumber, release: ShareRelease) {
        let guardian = guardians[0]
        let asked = try AccountState(
            starting: start, superseding: nil, after: state, with: newDevice.identitySignature)
        var (generator, gate) = (SystemRandomNumberGenerator(), PresenceGate())
        var current = try GuardianCase(
            request, commitment: setup.commitment, packet: packet(of: 0), state: state, at: Self.now)
        var cases = [current]
        try current.logged(start, state: asked, at: Self.now)
        let number = try current.offerNumber(using: &generator, signing: guardian.party.deviceSignature)
        cases.append(current)
        let reveal = numbers.reveal(at: number.place)
        let code = SpokenCode(
            request: request.hash, guardian: guardian.handle, number: number.number, reveal: reveal)
        try current.compare(typed: code.text, revealed: reveal)
        cases.append(current)
        for action in [PresenceAction.unlock, .confirmRecovery(of: owner)] {
            guard case .prompt(let prompt) = gate.ask(action, at: 1) else { throw PresenceError.notAsked }
            let grant = try gate.settle(prompt, .present, at: 1)
            if action != .unlock { try current.confirm(grant) }
        }
        let end = Self.now + UInt64(Self.delay)
        cases.append(current)
        let release = try current.release(
            packet(of: 0), state: asked, shownAt: end, at: end, signing: guardian.party.identitySignature)
        return (cases + [current], number, release)
    }

    /// A new device's attempt, while it collects and once its account is signed.
    func attempts() throws -> [RecoveryAttempt] {
        var attempt = try RecoveryAttempt(request, start: start, bundle: setup.bundle.encoded, state: state)
        var attempts = [attempt]
        for (position, guardian) in guardians.enumerated() {
            let release = needed {
                ShareRelease(
                    try packet(of: position), for: request, signing: guardian.party.identitySignature)
            }
            try attempt.take(release, from: setup.guardians[position].key)
        }
        attempts.append(attempt)
        let asked = try AccountState(
            starting: start, superseding: nil, after: state, with: newDevice.identitySignature)
        _ = try attempt.succeed(
            with: newDevice.sealing, after: asked,
            device: DeviceRecord(number: 2, addedAt: Self.now, keys: fuzzedDevice(newDevice)),
            at: Self.now + UInt64(Self.delay), accepting: newDevice.identitySignature)
        return attempts + [attempt]
    }
}

private func fuzzedEntries() throws -> [JournalEntry] {
    let (bob, key, secret) = (try fuzzedHandle("b"), try Party(2).identityKey, bytes(5, 32))
    let met = Comparison(handle: bob, identityKey: key, kind: .code, time: 9, metOn: 9)
    return [
        .accountKey(epoch: 1, SecretBytes(copying: secret.span)),
        .siteRecovery(try VerifiedHost(bytes("shop.example"), evidence: .tlsConnection), .random()),
        .contact(bob, identityKey: key, nil), .contact(bob, identityKey: key, met),
    ]
}

func recoverySeeds() throws -> [[UInt8]] {
    let recovery = try FuzzedRecovery()
    let (owner, setup, scope) = (recovery.owner, recovery.setup, recovery.setup.bundle.scope)
    let (cases, number, release) = try recovery.cases()
    let packet = try recovery.packet(of: 0)
    let objection = try GuardianObjection(
        to: recovery.request.hash, of: owner, by: 1, at: FuzzedRecovery.now, signing: recovery.party.deviceSignature)
    let challenge = bytes(5, 32)
    let letters: [GuardianLetter] = [
        .packet(scope, sealed: setup.guardians[0].packet, challenge: challenge), .check(scope, challenge: challenge),
        .proof(scope, challenge: challenge, try packet.proveHolding(of: challenge)),
        .inForce(scope, setup.commitment), .objection(scope, objection),
    ]
    let answers: [GuardianAnswer] = [
        .number(number), .release(release), .endorsement(needed { recovery.start.endorsement }),
    ]
    let contents = RecoveryContents(
        commitment: setup.commitment, bundle: setup.bundle.encoded, journal: recovery.journal)
    let dealing = GuardianDirectory.Contents(
        commitments: setup.commitments, guardians: recovery.guardians.map { (handle: $0.handle, part: bytes(6, 32)) })
    return try cases.map(\.encoded) + recovery.attempts().map(\.encoded) + letters.map(\.plaintext)
        + answers.map(\.encoded) + [
            setup.commitment.encoded, setup.commitment.encoded.dropLast(32), recovery.start.encoded,
            recovery.request.encoded, release.encoded, number.encoded, objection.encoded, setup.bundle.encoded,
            setup.encoded, recovery.journal.encoded, contents.encoded, dealing.encoded,
            GuardianDuty(keeping: packet, sealed: setup.guardians[0].packet).encoded,
            recovery.numbers.reveal(at: 9).encoded, packet.askKey.paper, firstSetup(),
            fuzzedEntries().flatMap(\.plaintext), packet.plaintext(signing: recovery.party.identitySignature) ?? [],
        ]
}

/// A setup as the first version of the program kept it, which nothing writes any more: what is read of it, among zeros.
private func firstSetup() throws -> [UInt8] {
    let handle = try fuzzedHandle("g").bytes
    let bundle = bytes(0, 65) + [2, 0]
    let guardian = [UInt8(handle.count)] + handle + bytes(0, 66) + [1] + bytes(0, 8) + bytes(0, 2 + 1105 + 32 + 1)
    return bytes("signet-setup/v1\n") + [1, 0, 0, 0, 1, 0, 0, 3, 0xE8] + bytes(0, 64) + [0, 0, 0, UInt8(bundle.count)]
        + bundle + [2] + guardian + guardian
}

/// What the server keeps and carries for recoveries.
func recoveryBodySeeds() throws -> [[UInt8]] {
    let recovery = try FuzzedRecovery()
    let (owner, commitment, hash) = (recovery.owner, recovery.setup.commitment, recovery.request.hash)
    let guardian = recovery.guardians[0].handle
    let reveals = [
        RecoveryReveal(to: guardian, number: recovery.numbers.reveal(at: 9).encoded),
        RecoveryReveal(to: owner, number: recovery.numbers.reveal(at: 10).encoded),
    ]
    let letter = RecoveryLetter(number: 1, sender: owner, time: 5, body: bytes(1, RecoveryLetter.bodyByteCount))
    let number = RequestNumber(ofRequest: hash)
    let wanted: [RecoveryQuery.Wanted] = [.logged, .number(number), .request(hash)]
    let (request, start) = (recovery.request.encoded, recovery.start)
    return [
        RecoveryFile(commitment: commitment.hash, bytes: bytes(0, RecoveryFile.paddingStep)).encoded,
        RecoveryLetter.Draft(to: guardian, body: letter.body).encoded, RecoveryLetterList([letter]).encoded,
        RecoveryDrop([1, 2]).encoded, RecoveryFetch(request: hash, secret: bytes(1, 32)).encoded,
        RecoveryAsking(owner: owner, box: bytes(1, 32), commitment: commitment, start: nil, request: request).encoded,
        RecoveryAsking(owner: owner, box: bytes(1, 32), commitment: commitment, start: start, request: request).encoded,
        RecoveryAnswer(to: hash, body: letter.body, from: guardian) { _ in bytes(2, 64) }.encoded,
        RecoveryCollection(request: hash, secret: bytes(1, 32), after: 3, reveals: reveals).encoded, number.encoded,
        RecoveryAsked(commitment: commitment, start: nil, reveal: nil, request: request).encoded,
        RecoveryAsked(commitment: commitment, start: start, reveal: reveals[0].number, request: request).encoded,
        RecoveryReveal.encoded(reveals),
        RecoveryPromise(commitment, label: needed { LabelIndex(bytes(3, 32)) }).encoded,
        RecoveryPromise.Query(owner: owner, commitment: commitment.hash).encoded, Array(number.text.utf8),
    ] + wanted.map { wanted in RecoveryQuery(wanted, for: owner, from: guardian) { _ in bytes(2, 64) }.encoded }
}
