import Crypto
import DeviceIdentity
import KeyTransparency
import SecretSharing
import Testing

@testable import SocialRecovery

@Suite struct GuardianCaseTests {
    let world: World
    let device = NewDevice()
    let request: RecoveryRequest
    let packet: GuardianPacket

    init() throws {
        world = try World()
        request = try device.request(world.scope)
        packet = try world.packet(of: 0)
    }

    private func open(_ timeline: RecoveryTimeline? = nil, at now: UInt64 = World.now) throws -> GuardianCase {
        try GuardianCase(request, packet: packet, timeline: timeline ?? world.timeline(request), at: now)
    }

    private func release(
        _ guardianCase: inout GuardianCase, _ timeline: RecoveryTimeline? = nil, at now: UInt64 = World.afterDelay
    ) throws -> ShareRelease {
        try guardianCase.release(
            packet, timeline: timeline ?? world.timeline(request), at: now,
            signing: world.guardians[0].identity.rawSignature)
    }

    private func code(_ guardianCase: GuardianCase) -> [UInt8] {
        SpokenCode(request: request.hash, guardian: guardianCase.number, device: device.reveal).text
    }

    @Test func aShareIsReleasedAfterCodeConfirmationAndDelay() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        let released = try release(&guardianCase)
        #expect(guardianCase.stage == .released)
        #expect(released.open(with: device.agreement)?.share.scalar.exposed == packet.share.scalar.exposed)
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

    @Test func noShareLeavesAfterAnObjection() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        var timeline = try world.timeline(request)
        try timeline.take(.cancel(world.label, request: request.hash), at: World.afterDelay - 10, delay: 0)
        #expect(throws: GuardianCaseError.objected(until: World.afterDelay - 10 + 86_400)) {
            _ = try release(&guardianCase, timeline)
        }
        // After the freeze, too: the request is over for good.
        #expect(throws: GuardianCaseError.self) {
            _ = try release(&guardianCase, timeline, at: World.afterDelay + 86_400)
        }
    }

    @Test func noShareLeavesForARequestThatTheLogDoesNotHold() throws {
        var guardianCase = try world.confirmedCase(0, request, device)
        #expect(throws: GuardianCaseError.notLogged) {
            _ = try release(&guardianCase, RecoveryTimeline(label: world.label))
        }
        let other = try NewDevice().request(world.scope)
        #expect(throws: GuardianCaseError.notLogged) { _ = try release(&guardianCase, world.timeline(other)) }
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
            try GuardianCase(elsewhere, packet: packet, timeline: world.timeline(request), at: World.now)
        }
        #expect(throws: GuardianCaseError.anotherAccount) { try open(RecoveryTimeline(label: other)) }
        let later = try device.request(try #require(RecoveryScope(label: world.label, epoch: 2)))
        #expect(throws: GuardianCaseError.anotherEpoch(held: 1)) {
            try GuardianCase(later, packet: packet, timeline: world.timeline(later), at: World.now)
        }
    }

    @Test func aWrongCodeClosesTheCase() throws {
        var guardianCase = try open()
        var generator = SeededGenerator(seed: 1)
        _ = guardianCase.offerNumber(using: &generator)
        let right = code(guardianCase)
        #expect(throws: GuardianCaseError.wrongCode) {
            try guardianCase.compare(typed: bytes("academic acid acne 00"), revealed: device.reveal)
        }
        #expect(guardianCase.stage == .declined)
        #expect(throws: GuardianCaseError.outOfOrder(.declined)) {
            try guardianCase.compare(typed: right, revealed: device.reveal)
        }
    }

    @Test func aNumberThatTheRequestDidNotCommitToIsRefused() throws {
        var guardianCase = try open()
        var generator = SeededGenerator(seed: 1)
        _ = guardianCase.offerNumber(using: &generator)
        #expect(throws: GuardianCaseError.notTheCommittedNumber) {
            try guardianCase.compare(typed: code(guardianCase), revealed: [UInt8](repeating: 1, count: 32))
        }
        #expect(guardianCase.stage == .numbered)
    }

    @Test func theGuardiansNumberIsDrawnOnce() throws {
        var guardianCase = try open()
        var generator = SeededGenerator(seed: 1)
        let first = guardianCase.offerNumber(using: &generator)
        #expect(guardianCase.offerNumber(using: &generator) == first)
    }

    @Test func presenceForSomethingElseDoesNotConfirm() throws {
        var guardianCase = try open()
        var generator = SeededGenerator(seed: 1)
        _ = guardianCase.offerNumber(using: &generator)
        try guardianCase.compare(typed: code(guardianCase), revealed: device.reveal)
        for action in [PresenceAction.updateAccount, .confirmRecovery(of: world.guardians[1].handle)] {
            #expect(throws: GuardianCaseError.anotherAction) { try guardianCase.confirm(grant(action)) }
        }
        try guardianCase.confirm(grant(.confirmRecovery(of: world.owner)))
    }

    @Test func noStepCanBeSkipped() throws {
        var guardianCase = try open()
        #expect(throws: GuardianCaseError.outOfOrder(.asked)) {
            try guardianCase.compare(typed: [], revealed: device.reveal)
        }
        #expect(throws: GuardianCaseError.outOfOrder(.asked)) {
            try guardianCase.confirm(grant(.confirmRecovery(of: world.owner)))
        }
        #expect(throws: GuardianCaseError.outOfOrder(.asked)) { _ = try release(&guardianCase) }
        var generator = SeededGenerator(seed: 1)
        _ = guardianCase.offerNumber(using: &generator)
        #expect(throws: GuardianCaseError.outOfOrder(.numbered)) { _ = try release(&guardianCase) }
        try guardianCase.compare(typed: code(guardianCase), revealed: device.reveal)
        #expect(throws: GuardianCaseError.outOfOrder(.matched)) { _ = try release(&guardianCase) }
    }

    @Test func aNoIsANo() throws {
        for say in [{ (one: inout GuardianCase) in one.decline() }, { (one: inout GuardianCase) in one.report() }] {
            var guardianCase = try world.confirmedCase(0, request, device)
            say(&guardianCase)
            #expect(throws: GuardianCaseError.outOfOrder(guardianCase.stage)) { _ = try release(&guardianCase) }
        }
    }

    @Test func askedTwiceTheSameBytesAreReleased() throws {
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
        var generator = SeededGenerator(seed: 1)
        var guardianCase = try restart(open())
        _ = guardianCase.offerNumber(using: &generator)
        guardianCase = try restart(guardianCase)
        try guardianCase.compare(typed: code(guardianCase), revealed: device.reveal)
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
        for stage: UInt8 in [0, 2, 3, 4, 5, 8] {
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
