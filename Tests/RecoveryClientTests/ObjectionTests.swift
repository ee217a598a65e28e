// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient

/// "This was not me", by a device of the account: in the log, by letter, and as a file.
extension RecoveryClientTests {
    @Test func theOwnersDeviceStopsRecoveriesForADay() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-thief")
        _ = try await device.newDevice.start(calling: [])
        try await family.confirm(guardians[0], on: device)
        _ = try await ming.owner.stopRecovery()
        #expect(await refusal { _ = try await ming.owner.stopRecovery() } == .nothingToStop)
        #expect(await refusal { _ = try await device.newDevice.status() } == .stopped)
        let end = village.clock.now + 86_400
        #expect(await refusal { _ = try await device.newDevice.start(calling: []) } == .frozen(by: 1, until: end))
        let again = try Villager("ming", in: village, device: "-again")
        #expect(await refusal { _ = try await again.newDevice.start(calling: []) } == .frozen(by: 1, until: end))
        // The part for the first request is never sent, however much time passes.
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        #expect(try await guardians[0].guardian.advance().isEmpty)
        _ = try await again.newDevice.start(calling: [])
        guard case .matched = try await guardians[4].outcome(of: ming.handle) else {
            Issue.record("not matched")
            return
        }
    }

    /// All guardians together do not overrule a device of the account, whether its owner or a thief holds it.
    @Test func guardiansCannotOverruleADeviceOfTheAccount() async throws {
        try await family.setUp()
        for attempt in ["-first", "-second"] {
            let device = try Villager("ming", in: village, device: attempt)
            _ = try await device.newDevice.start(calling: [])
            for guardian in guardians { try await family.confirm(guardian, on: device) }
            try await village.pass(UInt64(RecoveryCommitment.standardDelay) - 1)
            _ = try await ming.owner.stopRecovery()
            try await village.pass(86_401)
            for guardian in guardians { _ = try await guardian.guardian.advance() }
            #expect(await refusal { _ = try await device.newDevice.finish() } == .stopped)
        }
    }

    /// The attack: the server refuses the objection. It is made before the server is asked, and a guardian accepts it.
    @Test func anObjectionIsMadeBeforeTheServerCanRefuseIt() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-thief")
        _ = try await device.newDevice.start(calling: [])
        try await family.confirm(guardians[0], on: device)
        let objection = try await ming.owner.objection()
        #expect(try await device.newDevice.status().stage == .collecting, "no objection was sent")
        try await guardians[0].guardian.take(objection)
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        _ = try await guardians[0].guardian.advance()
        #expect(try guardians[0].guardian.cases().map(\.stage) == [.stopped])
    }

    /// The attack: the server hides from the owner that guardians are asked. A guardian tells them by telephone.
    @Test func anObjectionToAnyRequestStopsOneThatTheServerHides() async throws {
        try await family.setUp()
        // The log has no request yet, as if the server hid it.
        let objection = try await ming.owner.objection()
        #expect(objection.request == GuardianObjection.anything)
        let device = try Villager("ming", in: village, device: "-thief")
        _ = try await device.newDevice.start(calling: [])
        for guardian in guardians.prefix(3) { try await family.confirm(guardian, on: device) }
        try await guardians[0].guardian.take(objection)
        #expect(try guardians[0].guardian.cases().map(\.stage) == [.stopped], "a request that the guardian knows")
        try await guardians[3].guardian.take(objection)
        #expect(
            try await guardians[3].guardian.advance().first?.guardianCase.stage == .stopped, "a request within a day")
        try await village.pass(GuardianObjection.lifetime)
        try await guardians[4].guardian.take(objection)
        #expect(try await guardians[4].guardian.advance().first?.guardianCase.stage != .stopped, "not a later request")
    }

    /// The attack: the server does not answer a guardian who gets an objection as a file, and answers them later.
    @Test(arguments: [true, false]) func anObjectionCountsAlthoughTheServerDidNotAnswer(isToAnything: Bool) async throws
    {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-thief")
        _ = try await device.newDevice.start(calling: [])
        for guardian in guardians.prefix(3) { try await family.confirm(guardian, on: device) }
        let general = try GuardianObjection(
            to: GuardianObjection.anything, of: ming.handle, by: 1, at: village.clock.now + 1
        ) { try ming.secrets.sign($0) }
        let objection = isToAnything ? general : try await ming.owner.objection()
        for guardian in guardians.prefix(3) {
            guardian.transport.fail(after: 0)
            await #expect(throws: RecoveryClientError.self) { try await guardian.guardian.take(objection) }
            guardian.transport.fail(after: nil)
        }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        for guardian in guardians.prefix(3) { _ = try await guardian.guardian.advance() }
        #expect(
            try guardians.prefix(3).flatMap { try $0.guardian.cases().map(\.stage) } == [.stopped, .stopped, .stopped])
    }

    @Test func anObjectionReportsWhatHappenedToTheRequest() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-thief")
        _ = try await device.newDevice.start(calling: [])
        for guardian in guardians.prefix(2) { try await family.confirm(guardian, on: device) }
        let objection = try await ming.owner.objection()
        #expect(try await guardians[0].guardian.take(objection) == .stopped)
        #expect(try await guardians[3].guardian.take(objection) == .kept)
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        _ = try await guardians[1].guardian.advance()
        #expect(try await guardians[1].guardian.take(objection) == .tooLate)
        // An objection that no device of the account signed is not kept.
        let forged = GuardianObjection(to: GuardianObjection.anything, of: ming.handle, by: 1, at: village.clock.now) {
            _ in
            [UInt8](repeating: 1, count: 64)
        }
        await #expect(throws: RecoveryClientError.guardianCase(.invalidObjection)) {
            try await guardians[4].guardian.take(forged)
        }
    }

    /// The attack: the server and its quorum are a day behind while the owner looks, and are right again afterwards. By the log's
    /// epochs the takeover waited for two days; by the owner's clock no recovery was pending a day ago.
    @Test func theOwnersClockRevealsThatThereWasNoTimeToObject() async throws {
        try await family.setUp()
        ming.lead.seconds = 86_000
        #expect(try await ming.client.checkOwnAccount().alarms.isEmpty)
        ming.lead.seconds = 0
        let device = try Villager("ming", in: village, device: "-thief")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        _ = try await device.newDevice.finish()
        let alarms = try await ming.client.checkOwnAccount().alarms
        let isRushed = alarms.contains { if case .rushed = $0 { true } else { false } }
        #expect(isRushed, "\(alarms)")
    }
}
