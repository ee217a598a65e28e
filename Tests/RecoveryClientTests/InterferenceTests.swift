// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import KeyTransparency
import RecoveryStore
import SignetAPI
import SignetClient
import Testing

@testable import RecoveryClient
@testable import SocialRecovery

/// An attacker without a part tries to block a recovery, or to learn of it.
@Suite(.everyEngine) struct InterferenceTests {
    let family: Family

    init() async throws {
        family = try await Family()
    }

    private var ming: Villager { family.ming }
    private var village: Village { family.village }

    /// The attack: a stranger with an account reads who asks, with which request, and how many guardians looked.
    @Test func onlyAGuardianSeesTheRequest() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        let number = try await device.newDevice.start(calling: Array("new".utf8)).number
        try await family.confirm(family.guardians[0], on: device)
        let stranger = try Villager("stranger", in: village)
        _ = try await stranger.client.createAccount(stranger.secrets)
        let post = RecoveryPost(try stranger.client, stranger.secrets)
        let key = Curve25519.Signing.PrivateKey()
        for wanted in [RecoveryQuery.Wanted.logged, .number(number)] {
            let query = RecoveryQuery(wanted, for: ming.handle, from: stranger.handle) {
                (try? key.signature(for: $0)).map(Array.init) ?? []
            }
            #expect(try await post.find(.asked, query.encoded) == nil)
        }
        #expect(try await family.guardians[1].guardian.advance().count == 1)
    }

    /// The attack: one guardian, with the ask key, answers under thirty-two other names first.
    @Test func aFullSetOfForgedNamesDoesNotTakeAGuardiansPlace() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        let asked = try await device.newDevice.start(calling: []).number
        let ana = family.guardians[0]
        _ = try await ana.guardian.look(at: asked, for: ming.handle)
        let number = try #require(try ana.guardian.cases().first?.number)
        let devices = try await device.client.lookup(ana.handle).verdict.lookup.state.devices
        var record = try RecoveryRecord(decoding: #require(try device.files.read(device.files.recovery)))
        record.name([ana.handle])
        var listed = try RecoveryRecord(decoding: #require(try device.files.read(device.files.recovery)))
        for place in UInt8(0)..<33 where place != number.place {
            let name = try Handle(typed: Array("name\(place)@example.org".utf8))
            let theirs = try #require(
                GuardianNumber(
                    [UInt8](repeating: 1, count: 32), at: place, for: record.request.hash, by: name,
                    signing: { try ana.secrets.sign($0) }))
            if record.expects(name, []) { record.take(theirs, from: name, devices) }
            if listed.expects(name, [ana.handle]) { listed.take(theirs, from: name, devices) }
        }
        #expect(record.codes.isEmpty && listed.codes.isEmpty)
        for var record in [record, listed] {
            let isExpected = record.expects(ana.handle, [ana.handle])
            #expect(isExpected)
            record.take(number, from: ana.handle, devices)
            #expect(record.codes[ana.handle] != nil)
            let again = try RecoveryRecord(decoding: record.encoded)
            #expect(again.codes == record.codes && again.number == record.number && again.named == record.named)
        }
    }

    /// The file of an older program names no guardians, and its number is derived from the hash.
    @Test func aRecoveryThatAnOlderProgramBeganContinues() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        let number = try await device.newDevice.start(calling: []).number
        let bytes = try #require(try device.files.read(device.files.recovery))
        let line = Array("signet-recovering/v2\n".utf8)
        let older = line + bytes[line.count..<bytes.count - 5]
        try device.files.write(older, to: device.files.recovery)
        #expect(try await device.newDevice.status().number == number)
        try await family.confirm(family.guardians[0], on: device)
        #expect(try await device.newDevice.status().start != nil)
        #expect(throws: (any Error).self) { try RecoveryRecord(decoding: older + [0]) }
    }

    /// Without names, the first guardians who answer get numbers; a person may name a guardian at any time.
    @Test func aNamedGuardianGetsANumberBesidesTheFirstOnes() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        let asked = try await device.newDevice.start(calling: []).number
        let (ana, ben, cleo) = (family.guardians[0], family.guardians[1], family.guardians[2])
        for guardian in [ana, ben] { _ = try await guardian.guardian.look(at: asked, for: ming.handle) }
        #expect(try await device.newDevice.status().codes.count == 2)
        _ = try await cleo.guardian.look(at: asked, for: ming.handle)
        let named = try await device.newDevice.status(naming: [ana.handle])
        #expect(named.codes.count == 2 && named.others == [cleo.handle])
        let both = try await device.newDevice.status(naming: [cleo.handle])
        #expect(both.codes[cleo.handle] != nil && both.others.isEmpty)
    }

    /// A letter for which the server has no room is not lost silently: the owner is told whose, and sends it again
    /// later.
    @Test func aLetterThatIsNotKeptIsReportedToTheOwner() async throws {
        try await family.setUp()
        village.isFull.isSet = true
        await #expect(throws: RecoveryClientError.boxFull(family.guardians[0].handle)) {
            try await ming.owner.beginCheck()
        }
        village.isFull.isSet = false
        try await ming.owner.beginCheck()
    }

    /// An answer for which the server has no room is not lost silently: the guardian is told, and helps later.
    @Test func anAnswerThatIsNotKeptIsReportedToTheGuardian() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        let number = try await device.newDevice.start(calling: []).number
        let ana = family.guardians[0]
        village.refusesAnswers.isSet = true
        await #expect(throws: RecoveryClientError.answerRefused(ming.handle)) {
            try await ana.guardian.look(at: number, for: ming.handle)
        }
        #expect(try await device.newDevice.status().codes.isEmpty)
        village.refusesAnswers.isSet = false
        try await family.confirm(ana, on: device)
        #expect(try await device.newDevice.status().start != nil)
    }

    @Test func anEpochIsNeverUsedTwice() async throws {
        try await family.ask()
        _ = try await family.guardians[0].guardian.advance()
        #expect(try ming.owner.next()?.bundle.scope.epoch == 1)
        #expect(try ming.owner.withdraw() == family.guardians.map(\.handle))
        #expect(throws: RecoveryClientError.noneAsked) { try ming.owner.withdraw() }
        try await family.ask()
        #expect(try ming.owner.next()?.bundle.scope.epoch == 2)
        for guardian in family.guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        #expect(try ming.owner.current()?.keptCount == 5)
        #expect(throws: RecoveryClientError.noneAsked) { try ming.owner.withdraw() }
        // The guardians in force stay when the set that was to replace them is withdrawn.
        try await family.ask(isReplacing: true)
        try ming.owner.withdraw()
        #expect(try ming.owner.current()?.bundle.scope.epoch == 2)
        try await family.ask(isReplacing: true)
        #expect(try ming.owner.next()?.bundle.scope.epoch == 4)
    }
}
