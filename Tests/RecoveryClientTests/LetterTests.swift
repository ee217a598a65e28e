// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient

/// Letters between owners and guardians of whom one changed, was erased, or should not have been asked.
@Suite(.everyEngine) struct LetterTests {
    let family: Family
    private var village: Village { family.village }
    private var ming: Villager { family.ming }
    private var guardians: [Villager] { family.guardians }

    init() async throws { family = try await Family() }

    /// Adds a device to ming's account, which no guardian has accepted yet.
    private func linkDevice() async throws {
        let device = try Villager("ming", in: village, device: "-second")
        let card = try await device.client.deviceCard(device.secrets)
        _ = try await ming.client.addDevice(card, by: ming.secrets)
    }

    @Test func lettersOfAChangedOwnerWaitUntilTheGuardianAcceptsTheChange() async throws {
        try await family.setUp()
        try await linkDevice()
        _ = try await ming.owner.refresh()
        for guardian in guardians {
            var waiting: [Handle] = []
            for _ in 0..<2 {
                _ = try await guardian.guardian.advance { notice in
                    if case .changed(let owner) = notice { waiting.append(owner) }
                }
            }
            #expect(waiting == [ming.handle, ming.handle], "reported each time, because the letter stays")
            #expect(try guardian.guardian.duties().map(\.epochs) == [[1]])
            try await guardian.accept(ming.handle)
            _ = try await guardian.guardian.advance { notice in Issue.record("\(notice)") }
            #expect(try guardian.guardian.duties().map(\.epochs) == [[2, 1]])
        }
        try await ming.owner.advance()
        #expect(try ming.owner.current()?.bundle.scope.epoch == 2)
    }

    /// The attack: the thief of an identity changes the account, so that guardians ignore the true owner's objection.
    @Test func anObjectionCountsAlthoughTheOwnerChanged() async throws {
        try await family.setUp()
        let thief = try Villager("ming", in: village, device: "-thief")
        _ = try await thief.newDevice.start(calling: [])
        for guardian in guardians.prefix(3) { try await family.confirm(guardian, on: thief) }
        let setup = try #require(try ming.owner.current())
        let objection = try await ming.owner.objection()
        try await linkDevice()
        for guardian in guardians.prefix(3) {
            let verdict = try await ming.client.lookup(guardian.handle).verdict
            try await ming.owner.post.send(.objection(setup.bundle.scope, objection), to: verdict)
        }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        for guardian in guardians.prefix(3) {
            _ = try await guardian.guardian.advance()
            #expect(try guardian.guardian.cases().map(\.stage) == [.stopped])
        }
    }

    @Test func aLetterOfAnErasedAccountDoesNotBlockOtherLetters() async throws {
        let oma = try Villager("oma", in: village)
        _ = try await oma.client.createAccount(oma.secrets)
        let verdict = try await oma.client.lookup(guardians[0].handle).verdict
        let scope = try #require(RecoveryScope(label: LabelIndex(verdict.lookup.label), epoch: 1))
        try await oma.owner.post.send(.check(scope, challenge: [UInt8](repeating: 1, count: 32)), to: verdict)
        try await village.directory.erase(oma.handle)
        try await family.ask()
        var failed: [Handle] = []
        for _ in 0..<2 {
            _ = try await guardians[0].guardian.advance { notice in
                if case .failed(let owner, _) = notice { failed.append(owner) }
            }
        }
        #expect(failed == [oma.handle], "reported once, and dropped")
        #expect(try guardians[0].guardian.duties().map(\.owner) == [ming.handle])
    }

    @Test func guardiansDoNotChangeWhileARecoveryIsPending() async throws {
        try await family.setUp()
        _ = try await ming.owner.refresh()
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.confirm(guardians[0], on: device)
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        #expect(await refusal { try await ming.owner.advance() } == .recoveryIsOpen, "enough have answered")
        #expect(try await device.newDevice.status().stage == .collecting, "it continues")
        _ = try await ming.owner.stopRecovery()
        try await ming.owner.advance()
        #expect(try ming.owner.current()?.bundle.scope.epoch == 2)
    }

    @Test func noGuardianIsAskedWhileARecoveryIsPending() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.confirm(guardians[0], on: device)
        #expect(await refusal { _ = try await ming.owner.refresh() } == .recoveryIsOpen)
        #expect(try ming.owner.next() == nil)
    }

    @Test func aListedDeviceCannotStartARecovery() async throws {
        try await family.setUp()
        #expect(await refusal { _ = try await ming.newDevice.start(calling: []) } == .listedDevice)
        #expect(try ming.newDevice.record() == nil)
    }

    /// The attack: a thief changes the guardians, or the owner's folder is an older copy: it differs from the log.
    @Test func guardiansThatWereChangedElsewhereAreNotReportedInForce() async throws {
        try await family.setUp()
        let files = ming.files
        let before = try [files.setup, files.kept, files.nextContents, files.nextKept].map { ($0, try files.read($0)) }
        _ = try await ming.owner.refresh()
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        for (file, bytes) in before { try files.write(bytes ?? [], to: file) }
        #expect(await refusal { _ = try await ming.owner.inForce() } == .guardiansElsewhere)
        #expect(await refusal { try await ming.owner.advance() } == .guardiansElsewhere)
        #expect(await refusal { _ = try await ming.owner.paper() } == .guardiansElsewhere)
        #expect(await refusal { try await ming.owner.beginCheck() } == .guardiansElsewhere)
        // The remedy: choosing guardians again, under an epoch that guardians do not know yet.
        try await family.ask(isReplacing: true)
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        #expect(try await ming.owner.inForce()?.bundle.scope.epoch == 3)
    }

    @Test func aFinishedRecoveryIsNotStartedAgain() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        _ = try await device.newDevice.finish()
        #expect(await refusal { _ = try await device.newDevice.start(calling: []) } == .listedDevice)
    }

    @Test func anEmptiedFileIsReportedAsDamaged() async throws {
        try await family.setUp()
        let (ana, files) = (guardians[0], guardians[0].files)
        try files.write([], to: files.duties)
        #expect(throws: RecoveryClientError.damaged("guardian-duties")) { try ana.guardian.duties() }
        #expect(await refusal { _ = try await ana.guardian.advance() } == .damaged("guardian-duties"))
        try files.write([], to: files.cases)
        #expect(
            await refusal { _ = try await ana.guardian.advance() } == .damaged("guardian-cases"),
            "reported, and not for one person")
        try ming.files.write([], to: ming.files.setup)
        #expect(throws: RecoveryClientError.damaged("guardians")) { try ming.owner.current() }
        // These two are emptied on purpose when no set is being asked.
        for file in [ming.files.nextSetup, ming.files.check] { try ming.files.write([], to: file) }
        #expect(try ming.owner.next() == nil)
    }
}
