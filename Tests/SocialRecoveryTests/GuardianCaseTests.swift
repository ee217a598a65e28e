// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import KeyTransparency
import SecretSharing
import SeededRandomness
import Testing

@testable import SocialRecovery

@Suite struct GuardianCaseTests {
    let world: World
    let device: NewDevice
    let request: RecoveryRequest
    let packet: GuardianPacket

    init() throws {
        world = try World()
        device = try NewDevice()
        request = try device.request(world.scope)
        packet = try world.packet(of: 0)
    }

    private func open(_ state: AccountState? = nil, at now: UInt64 = World.now) throws -> GuardianCase {
        try GuardianCase(
            request, start: world.start(request), packet: packet, state: state ?? world.asked(request, by: device),
            at: now)
    }

    private func release(
        _ guardianCase: inout GuardianCase, _ state: AccountState? = nil, shown: UInt64? = nil,
        at now: UInt64 = World.afterDelay
    ) throws -> ShareRelease {
        try guardianCase.release(
            packet, state: state ?? world.asked(request, by: device), shownAt: shown ?? now, at: now,
            signing: world.guardians[0].identity.rawSignature)
    }

    /// What the device reveals to this guardian.
    private var reveal: SpokenReveal { device.numbers.reveal(at: packet.place) }

    private func code(_ guardianCase: GuardianCase) throws -> [UInt8] {
        let number = try #require(guardianCase.number)
        return SpokenCode(
            request: request.hash, guardian: world.guardians[0].handle, number: number.number, reveal: reveal
        ).text
    }

    private func offer(_ guardianCase: inout GuardianCase) throws -> GuardianNumber {
        var generator = SeededGenerator(seed: 1)
        return try guardianCase.offerNumber(using: &generator, signing: world.guardians[0].deviceSignature)
    }

    @Test func aShareIsReleasedAfterCodeConfirmationAndDelay() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        let released = try release(&guardianCase)
        #expect(guardianCase.stage == .released)
        #expect(released.open(with: device.sealing)?.share.scalar.exposed == packet.share.scalar.exposed)
    }

    @Test func noShareLeavesBeforeTheDelayIsOver() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        for now in [0, World.now, World.afterDelay - 1] {
            #expect(throws: GuardianCaseError.tooEarly(until: World.afterDelay)) {
                _ = try release(&guardianCase, at: now)
            }
        }
        #expect(guardianCase.stage == .confirmed)
    }

    /// The attack: the server shows a guardian what it showed before somebody objected.
    @Test func noShareLeavesByAViewFromBeforeTheDelayWasOver() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        for shown in [World.now, World.afterDelay - 1] {
            #expect(throws: GuardianCaseError.viewTooOld(until: World.afterDelay)) {
                _ = try release(&guardianCase, shown: shown, at: World.afterDelay + 1000)
            }
        }
        _ = try release(&guardianCase, shown: World.afterDelay, at: World.afterDelay + 1000)
    }

    /// A start that claims to be old makes no old view do: the delay since the guardian saw it must be over in the view as well.
    @Test func noShareLeavesByAViewThatOnlyAnOldStartWouldAllow() throws {
        let due = World.afterDelay + 5000
        var guardianCase = try world.confirmedCase(0, request, device, at: World.now + 5000)
        #expect(throws: GuardianCaseError.viewTooOld(until: due)) {
            _ = try release(&guardianCase, shown: World.afterDelay, at: due + 1000)
        }
        _ = try release(&guardianCase, shown: due, at: due + 1000)
    }

    @Test func theDelayRunsFromWhenTheGuardiansDeviceSawTheRequest() throws {
        // A server that lets a request begin in the past gains nothing.
        let seen = World.afterDelay + 500
        #expect(try open(at: seen).notBefore == seen + UInt64(World.delay))
        #expect(try open(at: World.now - 500).notBefore == World.afterDelay)
    }

    /// A request begins off the log, and whoever is no guardian who was read the right code cannot let it in.
    @Test func onlyAConfirmedCaseEndorsesARequest() throws {
        var guardianCase = try GuardianCase(
            request, commitment: world.setup.commitment, packet: packet, state: world.state, at: World.now)
        #expect(guardianCase.notBefore == nil)
        _ = try offer(&guardianCase)
        try guardianCase.compare(typed: code(guardianCase), revealed: reveal)
        #expect(throws: GuardianCaseError.outOfOrder(.matched)) {
            _ = try guardianCase.endorse(packet, state: world.state, at: World.now)
        }
        try guardianCase.confirm(grant(.confirmRecovery(of: world.owner)))
        let endorsement = try guardianCase.endorse(packet, state: world.state, at: World.now)
        #expect(throws: Never.self) {
            try RecoveryStart(
                request: request.hash, identityKey: request.identityKey, commitment: world.setup.commitment,
                started: World.now, expires: request.expires, endorsement: endorsement)
        }
        #expect(try guardianCase.endorse(packet, state: world.state, at: World.now + 1) == endorsement)
        #expect(throws: GuardianCaseError.notLogged) { _ = try release(&guardianCase) }
        #expect(try GuardianCase(decoding: guardianCase.encoded) == guardianCase)
        #expect(
            try GuardianAnswer(decoding: GuardianAnswer.endorsement(endorsement).encoded) == .endorsement(endorsement))
        try guardianCase.logged(world.start(request), state: world.asked(request, by: device), at: World.now)
        #expect(guardianCase.notBefore == World.afterDelay)
        #expect(try release(&guardianCase).guardian == packet.guardian)
    }

    @Test func noShareLeavesAfterAnObjection() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        let stopped = try AccountState(
            stopping: RecoveryStop(device: 1, time: World.now), after: world.asked(request, by: device)
        ) { Array(try world.device.signature(for: $0)) }
        #expect(throws: GuardianCaseError.notLogged) { _ = try release(&guardianCase, stopped) }
    }

    /// The attack: the server drops the objection, and shows guardians the log without it.
    @Test func anObjectionOutsideTheLogCounts() throws {
        let asked = try world.asked(request, by: device)
        func objection(
            _ hash: [UInt8], by key: Curve25519.Signing.PrivateKey, number: UInt16 = 1
        ) throws -> GuardianObjection {
            try GuardianObjection(to: hash, of: world.owner, by: number, at: World.now) {
                Array(try key.signature(for: $0))
            }
        }
        var guardianCase = try world.confirmedCase(0, request, device)
        for wrong in [
            try objection(request.hash, by: device.signing), try objection(request.hash, by: world.device, number: 2),
            try objection([UInt8](repeating: 1, count: 32), by: world.device),
        ] {
            #expect(throws: GuardianCaseError.invalidObjection) {
                try guardianCase.objected(wrong, state: asked, at: World.now)
            }
        }
        #expect(guardianCase.stage == .confirmed)
        let right = try objection(request.hash, by: world.device)
        #expect(try GuardianObjection(decoding: right.encoded) == right)
        try guardianCase.objected(right, state: asked, at: World.now)
        #expect(throws: GuardianCaseError.outOfOrder(.stopped)) { _ = try release(&guardianCase) }
        #expect(try GuardianCase(decoding: guardianCase.encoded) == guardianCase)
    }

    /// The attack: the server does not show the owner what was asked. They object to anything: for a day, and no longer.
    @Test func anObjectionToAnyRequestIsValidForADay() throws {
        let any = try GuardianObjection(to: GuardianObjection.anything, of: world.owner, by: 1, at: World.now) {
            Array(try world.device.signature(for: $0))
        }
        let later = try device.request(world.scope, created: World.now + 1)
        let earlier = try device.request(world.scope, created: World.now - 1)
        for (now, counts) in [
            (World.now, true), (World.now + 86_399, true), (World.now + 86_400, false), (World.now - 3600, true),
            (World.now - 3601, false),
        ] {
            #expect(any.covers(later, of: world.owner, at: now) == counts, "\(now)")
        }
        #expect(any.covers(earlier, of: world.owner, at: World.now + 5 * 86_400), "made before it: for good")
        #expect(!any.covers(request, of: world.guardians[0].handle, at: World.now))
        let late = GuardianObjection(to: GuardianObjection.anything, of: world.owner, by: 1, at: .max) { _ in [] }
        #expect(!late.covers(request, of: world.owner, at: World.now))
        var guardianCase = try world.confirmedCase(0, request, device)
        try guardianCase.objected(any, state: try world.asked(request, by: device), at: World.now)
        #expect(throws: GuardianCaseError.outOfOrder(.stopped)) { _ = try release(&guardianCase) }
    }

    @Test func noShareLeavesForARequestThatTheLogDoesNotHold() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        #expect(throws: GuardianCaseError.notLogged) { _ = try release(&guardianCase, world.state) }
        let other = try NewDevice()
        let asked = try world.asked(other.request(world.scope), by: other)
        #expect(throws: GuardianCaseError.notLogged) { _ = try release(&guardianCase, asked) }
    }

    @Test func aStartOfAnotherRequestOrKeyOpensNoCase() throws {
        for (hash, asker) in [([UInt8](repeating: 1, count: 32), device), (request.hash, try NewDevice())] {
            let start = try world.start(of: hash, by: asker.identity.publicBytes, expires: request.expires)
            // The log does hold that start.
            let state = try AccountState(
                starting: start, superseding: nil, after: world.state, with: asker.identity.rawSignature)
            #expect(throws: GuardianCaseError.notLogged) {
                try GuardianCase(request, start: start, packet: packet, state: state, at: World.now)
            }
        }
    }

    @Test func anotherCommitmentThanThePacketsOpensNoCase() throws {
        // The same account and epoch, and other guardians: the owner set up anew, or somebody shortened the delay.
        let other = try World(seed: 2)
        #expect(throws: GuardianCaseError.notCommitted) {
            try GuardianCase(
                request, start: other.start(request), packet: packet, state: other.asked(request, by: device),
                at: World.now)
        }
        #expect(throws: GuardianCaseError.notCommitted) { try open(world.before) }
    }

    @Test func noShareLeavesForAnExpiredRequest() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        #expect(throws: GuardianCaseError.expired) { _ = try release(&guardianCase, at: request.expires) }
        #expect(throws: GuardianCaseError.expired) { try open(at: request.expires) }
    }

    @Test func aRequestForAnotherAccountOrEpochOpensNoCase() throws {
        let other = try #require(LabelIndex([UInt8](repeating: 4, count: 32)))
        let elsewhere = try device.request(try #require(RecoveryScope(label: other, epoch: 1)))
        #expect(throws: GuardianCaseError.anotherAccount) {
            try GuardianCase(
                elsewhere, start: world.start(request), packet: packet, state: world.asked(request, by: device),
                at: World.now)
        }
        let stranger = try World.state(
            world.guardians[0].handle, world.identity, world.device, version: 2,
            commitment: world.setup.commitment.hash, previous: world.before)
        #expect(throws: GuardianCaseError.anotherAccount) { try open(stranger) }
        let later = try device.request(try #require(RecoveryScope(label: world.label, epoch: 2)))
        #expect(throws: GuardianCaseError.anotherEpoch(held: 1)) {
            try GuardianCase(
                later, start: world.start(later), packet: packet, state: world.asked(later, by: device), at: World.now)
        }
    }

    @Test func aWrongCodeClosesTheCase() throws {
        var guardianCase = try open()
        _ = try offer(&guardianCase)
        let right = try code(guardianCase)
        #expect(throws: GuardianCaseError.wrongCode) {
            try guardianCase.compare(typed: bytes("academic acid acne 00"), revealed: reveal)
        }
        #expect(guardianCase.stage == .declined)
        #expect(throws: GuardianCaseError.outOfOrder(.declined)) {
            try guardianCase.compare(typed: right, revealed: reveal)
        }
    }

    @Test func anIncompleteCodeIsNotCountedAsAGuess() throws {
        var guardianCase = try open()
        _ = try offer(&guardianCase)
        let right = try code(guardianCase)
        for slip in [
            "", "42", "academic acid acne", "academic acid acne 4", "academic acid acne 4x", "academic acid tree 42",
        ] {
            #expect(throws: GuardianCaseError.incompleteCode) {
                try guardianCase.compare(typed: bytes(slip), revealed: reveal)
            }
        }
        #expect(guardianCase.stage == .numbered)
        try guardianCase.compare(typed: right, revealed: reveal)
    }

    @Test func theNumberOfAnotherPlaceIsRefused() throws {
        var guardianCase = try open()
        let number = try offer(&guardianCase)
        let reveal = device.numbers.reveal(at: packet.place &+ 1)
        let code = SpokenCode(
            request: request.hash, guardian: world.guardians[0].handle, number: number.number, reveal: reveal)
        #expect(throws: GuardianCaseError.notTheCommittedNumber) {
            try guardianCase.compare(typed: code.text, revealed: reveal)
        }
        #expect(guardianCase.stage == .numbered)
    }

    @Test func aNumberThatTheRequestDidNotCommitToIsRefused() throws {
        let other = SpokenNumbers(seed: [UInt8](repeating: 1, count: 32))
        var guardianCase = try open()
        _ = try offer(&guardianCase)
        #expect(throws: GuardianCaseError.notTheCommittedNumber) {
            try guardianCase.compare(typed: code(guardianCase), revealed: other.reveal(at: packet.place))
        }
        #expect(guardianCase.stage == .numbered)
    }

    @Test func theGuardiansNumberIsDrawnOnce() throws {
        var guardianCase = try open()
        let first = try offer(&guardianCase)
        var generator = SeededGenerator(seed: 2)
        #expect(
            try guardianCase.offerNumber(using: &generator, signing: world.guardians[0].deviceSignature) == first)
    }

    @Test func confirm_refusesPresenceForAnotherAction() throws {
        var guardianCase = try open()
        _ = try offer(&guardianCase)
        try guardianCase.compare(typed: code(guardianCase), revealed: reveal)
        for action in [PresenceAction.updateAccount, .confirmRecovery(of: world.guardians[1].handle)] {
            #expect(throws: GuardianCaseError.anotherAction) { try guardianCase.confirm(grant(action)) }
        }
        try guardianCase.confirm(grant(.confirmRecovery(of: world.owner)))
    }

    @Test func noStepOfACaseCanBeSkipped() throws {
        var guardianCase = try open()
        #expect(throws: GuardianCaseError.outOfOrder(.asked)) {
            try guardianCase.compare(typed: [], revealed: reveal)
        }
        #expect(throws: GuardianCaseError.outOfOrder(.asked)) {
            try guardianCase.confirm(grant(.confirmRecovery(of: world.owner)))
        }
        #expect(throws: GuardianCaseError.outOfOrder(.asked)) { _ = try release(&guardianCase) }
        _ = try offer(&guardianCase)
        #expect(throws: GuardianCaseError.outOfOrder(.numbered)) { _ = try release(&guardianCase) }
        try guardianCase.compare(typed: code(guardianCase), revealed: reveal)
        #expect(throws: GuardianCaseError.outOfOrder(.matched)) { _ = try release(&guardianCase) }
    }

    @Test func release_refusesADeclinedOrReportedCase() throws {
        for say in [{ (one: inout GuardianCase) in one.decline() }, { (one: inout GuardianCase) in one.report() }] {
            var guardianCase = try world.confirmedCase(0, request, device)
            say(&guardianCase)
            #expect(throws: GuardianCaseError.outOfOrder(guardianCase.stage)) { _ = try release(&guardianCase) }
        }
    }

    @Test func aSecondReleaseHasTheSameBytes() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        let first = try release(&guardianCase)
        #expect(try release(&guardianCase, at: request.expires + 1) == first)
        guardianCase.decline()
        #expect(guardianCase.stage == .released)
    }

    /// The power fails after every step.
    @Test func aCaseGoesOnAfterAPowerFailureBetweenAnyTwoSteps() throws {
        func restart(_ guardianCase: GuardianCase) throws -> GuardianCase {
            let again = try GuardianCase(decoding: guardianCase.encoded)
            #expect(again == guardianCase)
            return again
        }
        var guardianCase = try restart(open())
        _ = try offer(&guardianCase)
        guardianCase = try restart(guardianCase)
        try guardianCase.compare(typed: code(guardianCase), revealed: reveal)
        guardianCase = try restart(guardianCase)
        try guardianCase.confirm(grant(.confirmRecovery(of: world.owner)))
        guardianCase = try restart(guardianCase)
        let released = try release(&guardianCase)
        guardianCase = try restart(guardianCase)
        #expect(try release(&guardianCase) == released)
        for say in [{ (one: inout GuardianCase) in one.decline() }, { (one: inout GuardianCase) in one.report() }] {
            var closed = try open()
            say(&closed)
            #expect(try restart(closed).stage == closed.stage)
        }
    }

    @Test func aStoredCaseCannotClaimAStageThatItDidNotReach() throws {
        var encoded = try open().encoded
        for stage: UInt8 in [0, 2, 3, 4, 5, 9] {
            encoded[24] = stage
            #expect(throws: RecoveryFormatError.invalidField) { try GuardianCase(decoding: encoded) }
        }
    }

    @Test func nothingSecretIsInAStoredCase() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        _ = try release(&guardianCase)
        #expect(!contains(guardianCase.encoded, packet.share.scalar.exposed))
    }
}
