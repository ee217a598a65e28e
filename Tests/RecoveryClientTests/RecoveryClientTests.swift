// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import KeyDirectory
import KeyTransparency
import RecoveryStore
import SecretMemory
import SecretSharing
import SignetAPI
import SignetClient
import Testing

@testable import RecoveryClient
@testable import SocialRecovery

/// Setup and recovery with the standard delay of two days, on a clock that the test moves.
@Suite(.everyEngine) struct RecoveryClientTests {
    let family: Family

    init() async throws { family = try await Family() }

    var village: Village { family.village }
    var ming: Villager { family.ming }
    var guardians: [Villager] { family.guardians }

    @Test func guardiansAreInForceOnceFourOfFiveHaveStoredTheirPart() async throws {
        try await family.ask()
        for (count, guardian) in guardians.enumerated() {
            _ = try await guardian.guardian.advance()
            try await ming.owner.advance()
            #expect(try (ming.owner.current() != nil) == (count >= 3))
        }
        let state = try await ming.client.lookup(ming.handle).verdict.lookup.state
        #expect(try state.recoveryCommitment == ming.owner.current()?.commitment.hash)
    }

    @Test func aStrangerIsNotAskedAsGuardian_andAStrangersPacketIsNotKept() async throws {
        let stranger = try Villager("stranger", in: village)
        _ = try await stranger.client.createAccount(stranger.secrets)
        let chosen = family.chosen + [(stranger.handle, MeetingEvidence(kind: .none, date: 0))]
        #expect(
            await refusal {
                _ = try await ming.owner.ask(chosen, threshold: 3, delay: 5, isReplacing: false)
            } == .notAccepted(stranger.handle))
        try await ming.knows(stranger)
        _ = try await ming.owner.ask(chosen, threshold: 3, delay: 5, isReplacing: false)
        _ = try await stranger.guardian.advance()
        #expect(try stranger.guardian.duties().isEmpty)
    }

    @Test func aCheckListsGuardiansWhoDoNotAnswer() async throws {
        try await family.setUp()
        try await ming.owner.beginCheck()
        for guardian in guardians.dropLast() { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        let standing = try #require(try ming.owner.check()?.standing)
        #expect(standing.kept.count == 4 && standing.silent == [guardians[4].handle])
        #expect(standing.isRecoverable && standing.spare == 1)
    }

    @Test func replacedGuardiansKeepTheOldPartUntilTheNewSetIsInForce() async throws {
        try await family.setUp()
        try await family.ask(isReplacing: true)
        _ = try await guardians[0].guardian.advance()
        #expect(try guardians[0].guardian.duties().first?.epochs == [2, 1])
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        #expect(try ming.owner.current()?.bundle.scope.epoch == 2)
        _ = try await guardians[0].guardian.advance()
        #expect(try guardians[0].guardian.duties().first?.epochs == [2, 1])
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        _ = try await guardians[0].guardian.advance()
        #expect(try guardians[0].guardian.duties().first?.epochs == [2])
    }

    @Test func guardiansChangeOnlyOnceInADelay() async throws {
        try await family.setUp()
        _ = try await ming.owner.refresh()
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        let end = village.clock.now + UInt64(RecoveryCommitment.standardDelay)
        #expect(await refusal { _ = try await ming.owner.refresh() } == .changedTooSoon(until: end))
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        _ = try await ming.owner.refresh()
    }

    @Test func aRefreshGivesTheSamePeopleNewParts_andTheOldOnesAreRemoved() async throws {
        try await family.setUp()
        let before = try #require(try ming.owner.current())
        let asked = try await ming.owner.refresh()
        #expect(asked.guardians.map(\.key) == before.guardians.map(\.key))
        #expect(asked.guardians.map(\.meeting) == family.chosen.map(\.meeting))
        #expect(asked.threshold == before.threshold && asked.bundle.delay == before.bundle.delay)
        #expect(asked.commitments.publicKey != before.commitments.publicKey)
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        _ = try await guardians[0].guardian.advance()
        #expect(try guardians[0].guardian.duties().first?.epochs == [2])
    }

    /// Finding 7: the device knows which entries the former parts open, so that their keys can be replaced. A threshold
    /// of former parts with the former file opens no newer entry.
    @Test func formerPartsOpenEarlierEntriesAndNoNewerOnes() async throws {
        func key(_ epoch: UInt32) -> JournalEntry {
            let bytes = [UInt8](repeating: UInt8(epoch), count: 32)
            return .accountKey(epoch: epoch, SecretBytes(copying: bytes.span))
        }
        func epochs(_ entries: [JournalEntry]) -> [UInt32] {
            entries.compactMap { if case .accountKey(let epoch, _) = $0 { epoch } else { nil } }
        }
        try await family.setUp()
        _ = try await ming.owner.guardNews([key(1)])
        #expect(try ming.owner.openedByFormerParts([key(1)]).isEmpty, "there are no former parts")
        let before = try #require(try ming.owner.current())
        let state = try await ming.client.lookup(ming.handle).verdict.lookup.state
        let packets = try guardians.prefix(3).map { guardian in
            try guardian.guardian.packet(
                of: #require(try guardian.guardian.duties().first), epoch: 1, state)
        }
        let file = try #require(
            try await village.mailbox.file(under: before.commitment.hash, of: ming.handle))
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        _ = try await ming.owner.refresh(bringingBack: [key(1)])
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        #expect(epochs(try ming.owner.openedByFormerParts([key(1), key(2)])) == [1])
        _ = try await ming.owner.guardNews([key(1), key(2)])
        // Three complete old parts, and the old file.
        let contents = try RecoveryContents(decoding: file)
        let seed = try #require(SecretBytes.combined(from: packets.map(\.parts.journal)).flatMap(JournalSeed.init))
        #expect(epochs(try contents.journal.open(with: seed.privateKey, first: contents.journal.count).entries) == [1])
        let after = try #require(try ming.owner.current())
        let newer = try #require(try await village.mailbox.file(under: after.commitment.hash, of: ming.handle))
        #expect(throws: RecoveryJournalError.self) {
            try RecoveryContents(decoding: newer).journal.open(with: seed.privateKey, first: 1)
        }
    }

    @Test func refresh_isRefusedWithoutGuardians() async {
        #expect(await refusal { _ = try await ming.owner.refresh() } == .noGuardians)
    }

    @Test(arguments: [(UInt64(29), true), (31, false)])
    func aDeviceAddedInTheLastMonthIsPointedOut(days: UInt64, isPointedOut: Bool) async throws {
        try await family.setUp()
        let added = village.clock.now
        let second = try Villager("ming", in: village, device: "-second")
        _ = try await ming.client.addDevice(try await second.client.deviceCard(second.secrets), by: ming.secrets)
        for guardian in guardians { try await guardian.accept(ming.handle) }
        try await village.pass(days * 86_400)
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: Array("new".utf8))
        try await family.confirm(guardians[1], on: device)
        let request = try #require(try await guardians[0].guardian.advance().first)
        #expect(request.newestDevice == added)
        #expect(request.followsActivity == isPointedOut)
    }

    /// Every account is made with a device, which nobody added to it.
    @Test func theDeviceOfANewAccountIsNotPointedOutAsAdded() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: Array("new".utf8))
        try await family.confirm(guardians[1], on: device)
        let request = try #require(try await guardians[0].guardian.advance().first)
        #expect(!request.followsActivity)
    }

    @Test func noPartIsSentBeforeTheDelay_andAFriendSeesARecoveredIdentity() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: Array("new".utf8))
        for guardian in guardians.prefix(3) { try await family.confirm(guardian, on: device) }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay) - 1)
        for guardian in guardians.prefix(3) { _ = try await guardian.guardian.advance() }
        #expect(try await device.newDevice.status().standing.unjudged.isEmpty)
        #expect(
            await refusal { _ = try await device.newDevice.finish() }
                == .tooEarly(until: village.clock.now + 1))
        try await village.pass(1)
        for guardian in guardians.prefix(3) { _ = try await guardian.guardian.advance() }
        let things = try await device.newDevice.finish()
        #expect(things.people.count == 5 && things.changed.isEmpty)
        guard case .changed(let change) = try await guardians[4].outcome(of: ming.handle) else {
            Issue.record("not changed")
            return
        }
        #expect(change.identity == .recovered(at: village.clock.now))
        try await guardians[4].accept(ming.handle)
        guard case .matched = try await guardians[4].outcome(of: ming.handle) else {
            Issue.record("not accepted")
            return
        }
    }

    /// The log shows when guardians changed, so that a friend can tell that the former ones had their delay.
    @Test func changedGuardiansRecover_andAFriendSeesARecoveredIdentity() async throws {
        try await family.setUp()
        _ = try await ming.owner.refresh()
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        _ = try await device.newDevice.finish()
        guard case .changed(let change) = try await guardians[4].outcome(of: ming.handle) else {
            Issue.record("not changed")
            return
        }
        #expect(change.identity == .recovered(at: village.clock.now))
    }

    /// Finding 4 at the device: one number of each guardian, signed by their device; the first one is kept.
    @Test func aGuardianIsShownTheirOwnNumberOnlyAfterAnswering() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        let asked = try await device.newDevice.start(calling: []).number
        let (ana, ben) = (guardians[0], guardians[1])
        _ = try await ana.guardian.look(at: asked, for: ming.handle)
        _ = try await device.newDevice.status()
        #expect(try await ana.guardian.advance().first?.isRevealed == true)
        let seen = try await ben.guardian.look(at: asked, for: ming.handle)
        #expect(!seen.isRevealed, "ana's number is not for ben")
        #expect(try await device.newDevice.status().codes.count == 2)
        #expect(try await ben.guardian.advance().first?.isRevealed == true)
        let codes = try await device.newDevice.status().codes
        #expect(codes[ana.handle] != codes[ben.handle])
        // Ana's code is wrong when ben types it.
        let wrong = try #require(codes[ana.handle])
        #expect(
            await refusal {
                _ = try await ben.guardian.confirm(ming.handle, code: Array(wrong.utf8), ben.grant(for: ming.handle))
            } == .guardianCase(.wrongCode))
    }

    @Test func anUnsignedOrRepeatedNumberIsIgnored() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        let asked = try await device.newDevice.start(calling: []).number
        let bytes = try #require(try device.files.read(device.files.recovery))
        var record = try RecoveryRecord(decoding: bytes)
        let (ana, ben) = (guardians[0], guardians[1])
        _ = try await ana.guardian.look(at: asked, for: ming.handle)
        let number = try #require(try ana.guardian.cases().first?.number)
        let devices = try await device.client.lookup(ana.handle).verdict.lookup.state.devices
        record.take(number, from: ben.handle, devices)
        #expect(record.codes.isEmpty, "signed under another name")
        record.take(number, from: ana.handle, try await device.client.lookup(ben.handle).verdict.lookup.state.devices)
        #expect(record.codes.isEmpty, "not by a device of hers")
        for _ in 0..<2 { record.take(number, from: ana.handle, devices) }
        let claimed = try #require(
            GuardianNumber([UInt8](repeating: 1, count: 32), at: number.place, for: record.request.hash, by: ben.handle)
            {
                try ben.secrets.sign($0)
            })
        record.take(claimed, from: ben.handle, try await device.client.lookup(ben.handle).verdict.lookup.state.devices)
        let places = record.reveals.map(\.number.first)
        #expect(record.numbers.count == 1 && places == [number.place], "no other's place")
        #expect(try RecoveryRecord(decoding: record.encoded).reveals == record.reveals)
    }

    /// The attack: while the right request is pending, its guardians are called and asked to look at another one.
    @Test func lookingAtAnotherRequestKeepsAConfirmation() async throws {
        try await family.setUp()
        let stranger = try Villager("ming", in: village, device: "-stranger")
        let other = try await stranger.newDevice.start(calling: []).number
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        for guardian in guardians.prefix(3) {
            try await family.confirm(guardian, on: device)
            _ = try await guardian.guardian.look(at: other, for: ming.handle)
        }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        for guardian in guardians.prefix(3) { _ = try await guardian.guardian.advance() }
        #expect(try await device.newDevice.finish().people.count == 5)
    }

    @Test func aSecondDeviceWaitsUntilTheFirstRequestExpired() async throws {
        try await family.setUp()
        let first = try Villager("ming", in: village, device: "-first")
        _ = try await first.newDevice.start(calling: [])
        try await family.confirm(guardians[0], on: first)
        let expires = try #require(try await first.newDevice.status().start?.expires)
        let second = try Villager("ming", in: village, device: "-second")
        #expect(
            await refusal { _ = try await second.newDevice.start(calling: []) } == .anotherAsks(until: expires))
        try await village.pass(expires - village.clock.now)
        _ = try await second.newDevice.start(calling: [])
        try await family.confirm(guardians[1], on: second)
        #expect(await refusal { _ = try await first.newDevice.status() } == .stopped)
    }

    /// A stranger gets neither the recovery key's public half nor the journal, to keep for another day.
    @Test func theFileIsForTheAccountsDevicesAndForTheLoggedRequest() async throws {
        try await family.setUp()
        let hash = try #require(try ming.owner.current()).commitment.hash
        let device = try Villager("ming", in: village, device: "-new")
        let progress = try await device.newDevice.start(calling: [])
        #expect(progress.start == nil)
        let post = RecoveryPost(try guardians[0].client, guardians[0].secrets)
        #expect(try await post.find(.file, hash) == nil)
        #expect(try await RecoveryPost(ming.client, ming.secrets).find(.file, hash) != nil)
        let record = try #require(
            try device.files.value(in: device.files.recovery) { try RecoveryRecord(decoding: $0) })
        let own = RecoveryFetch(request: record.request.hash, secret: record.secret)
        #expect(try await post.find(.askedFile, own.encoded) == nil, "the recovery has not begun")
        try await family.confirm(guardians[0], on: device)
        #expect(try await post.find(.askedFile, own.encoded) != nil)
        let other = RecoveryFetch(request: record.request.hash, secret: [UInt8](repeating: 0, count: 32))
        #expect(try await post.find(.askedFile, other.encoded) == nil)
        _ = try await ming.owner.stopRecovery()
        #expect(try await post.find(.askedFile, own.encoded) == nil)
        #expect(try await post.promise(of: ming.handle, hash)?.commitment.hash == hash, "that much is public")
        #expect(try await post.promise(of: ming.handle, [UInt8](repeating: 0, count: 32)) == nil)
    }

    /// With the owner's paper a recovery begins at once, without the confirmation of a first guardian.
    @Test func theOwnersPaperStartsARecoveryWithoutAGuardian() async throws {
        try await family.setUp()
        let paper = try await #require(AskKey(paper: ming.owner.paper()))
        let device = try Villager("ming", in: village, device: "-new")
        let other = try await Family()
        try await other.setUp()
        let others = try await #require(AskKey(paper: other.ming.owner.paper()))
        #expect(await refusal { _ = try await device.newDevice.start(calling: [], with: others) } == .anotherPaper)
        #expect(try await device.newDevice.start(calling: [], with: paper).start != nil)
        #expect(try await guardians[0].guardian.advance().count == 1)
        #expect(AskKey(paper: Array("signet-paper/v1 AAAA".utf8)) == nil)
    }

    /// The attack: a thief with ming's device names guardians of their own. The former ones still help during the
    /// delay.
    @Test func formerGuardiansHelpUntilTheirDelayHasPassed() async throws {
        try await family.setUp()
        _ = try await ming.owner.ask(
            Array(family.chosen.suffix(3)), threshold: 2, delay: 0, isReplacing: true)
        for guardian in guardians.suffix(3) { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
        #expect(try ming.owner.current()?.bundle.scope.epoch == 2)
        // No letter tells them: their own devices see that they were replaced.
        for (position, guardian) in guardians.enumerated() {
            var until: UInt64?
            _ = try await guardian.guardian.advance { notice in
                if case .replaced(_, since: _, until: let end) = notice { until = end }
            }
            let end = village.clock.now + UInt64(RecoveryCommitment.standardDelay)
            #expect(until == (position < 2 ? end : nil))
        }
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [], withFormer: true)
        try await family.help(device)
        #expect(try await device.newDevice.finish().people.count == 5)
        let late = try Villager("ming", in: village, device: "-late")
        #expect(
            await refusal { _ = try await late.newDevice.start(calling: [], withFormer: true) } == .noFormerGuardians)
    }

    /// The attack: the server drops the objection, and shows guardians a log without it. A letter or a file brings it.
    @Test(arguments: [true, false]) func guardiansGetAnObjectionThatTheServerDropped(byLetter: Bool) async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-thief")
        _ = try await device.newDevice.start(calling: [])
        for guardian in guardians.prefix(3) { try await family.confirm(guardian, on: device) }
        let state = try await ming.client.lookup(ming.handle).verdict.lookup.state
        let start = try #require(try await device.newDevice.status().start)
        let objection = try GuardianObjection(
            to: start.request, of: ming.handle, by: state.devices[0].number, at: village.clock.now
        ) { try ming.secrets.sign($0) }
        // The log never contains it; guardians get it.
        let scope = try #require(try ming.owner.current()).bundle.scope
        for guardian in guardians.prefix(3) {
            if byLetter {
                let post = RecoveryPost(try ming.client, ming.secrets)
                try await post.send(.objection(scope, objection), to: post.person(guardian.handle))
            } else {
                try await guardian.guardian.take(objection)
            }
        }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        for guardian in guardians.prefix(3) {
            #expect(try await guardian.guardian.advance().first?.guardianCase.stage == .stopped)
        }
        #expect(try await device.newDevice.status().standing.unjudged.isEmpty)
        // Nor does a guardian who had not looked start it again.
        try await guardians[3].guardian.take(objection)
        #expect(try await guardians[3].guardian.advance().first?.guardianCase.stage == .stopped)
    }

    /// The attack: in the last hours the server shows guardians an old view.
    @Test func noPartIsSentUnderAFrozenView() async throws {
        try await family.setUp()
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        for guardian in guardians.prefix(3) { try await family.confirm(guardian, on: device) }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay) - 3600)
        village.clock.advance(3600)
        for guardian in guardians.prefix(3) {
            #expect(try await guardian.guardian.advance().first?.guardianCase.stage == .confirmed)
        }
        try await village.pass(0)
        for guardian in guardians.prefix(3) {
            #expect(try await guardian.guardian.advance().first?.guardianCase.stage == .released)
        }
    }

    @Test func aClosedAccountDoesNotBlockDutiesForOthers() async throws {
        let oma = try Villager("oma", in: village)
        _ = try await oma.client.createAccount(oma.secrets)
        for guardian in guardians.prefix(3) {
            try await oma.knows(guardian)
            try await guardian.knows(oma)
        }
        _ = try await oma.owner.ask(Array(family.chosen.prefix(3)), threshold: 2, delay: 5, isReplacing: false)
        for guardian in guardians.prefix(3) { _ = try await guardian.guardian.advance() }
        try await family.setUp()
        try await village.directory.erase(oma.handle)
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.confirm(guardians[1], on: device)
        var failures: [Handle: RecoveryClientError] = [:]
        let requests = try await guardians[0].guardian.advance { notice in
            if case .failed(let owner, let error) = notice { failures[owner] = error }
        }
        #expect(requests.map(\.guardianCase.owner) == [ming.handle])
        #expect(Array(failures.keys) == [oma.handle])
    }

    /// The attack, as it was run against a live server: a stranger's request blocks recoveries for ever.
    @Test func aStrangersRequestDoesNotBlockARecovery() async throws {
        try await family.setUp()
        let stranger = try Villager("ming", in: village, device: "-stranger")
        let progress = try await stranger.newDevice.start(calling: [])
        #expect(progress.start == nil, "no guardian let it into the log")
        #expect(await refusal { _ = try await stranger.newDevice.finish() } == .nobodyConfirmed)
        #expect(try await ming.client.lookup(ming.handle).verdict.lookup.state.pendingRecovery == nil)
        let device = try Villager("ming", in: village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        #expect(try await device.newDevice.finish().people.count == 5)
    }

    @Test func anAccountWithoutGuardiansCannotBeRecovered() async throws {
        let device = try Villager("ming", in: village, device: "-new")
        #expect(await refusal { _ = try await device.newDevice.start(calling: []) } == .notRecoverable)
    }
}

/// The power fails at every message of every step, before or after the server receives it. Each step is repeated, at
/// once or after a while.
@Suite struct PowerLossTests {
    /// When a message is lost, and how many seconds later the step is repeated.
    struct Loss: Sendable {
        let isLostAfter: Bool
        let pause: UInt64
    }

    /// Repeats a step; the n-th time, all messages are lost from the n-th on.
    private func everywhere(_ person: Villager, _ loss: Loss, _ step: () async throws -> Void) async throws {
        for count in 0..<200 {
            person.transport.fail(after: count, isLostAfter: loss.isLostAfter)
            defer { person.transport.fail(after: nil) }
            do {
                try await step()
                return
            } catch RecoveryClientError.client(.transport) {
                if loss.pause > 0 { try await person.village.pass(loss.pause) }
            }
        }
        Issue.record("the step never ends")
    }

    @Test(arguments: [
        Loss(isLostAfter: false, pause: 0), Loss(isLostAfter: true, pause: 0),
        // The signature for a step is then older than the server accepts.
        Loss(isLostAfter: false, pause: 600),
    ]) func setupRefreshAndRecoveryContinueAfterAPowerLossAtAnyMessage(loss: Loss) async throws {
        let family = try await Family()
        let (village, ming) = (family.village, family.ming)
        for isReplacing in [false, true] {
            try await everywhere(ming, loss) {
                if isReplacing { _ = try await ming.owner.refresh() } else { try await family.ask() }
            }
            for guardian in family.guardians {
                try await everywhere(guardian, loss) { _ = try await guardian.guardian.advance() }
            }
            try await everywhere(ming, loss) { try await ming.owner.advance() }
            #expect(try ming.owner.current()?.bundle.scope.epoch == (isReplacing ? 2 : 1))
            #expect(try ming.owner.next() == nil)
            let host = try VerifiedHost(Array("shop\(isReplacing).example".utf8), evidence: .tlsConnection)
            try await everywhere(ming, loss) {
                _ = try await ming.owner.guardNews([.siteRecovery(host, .random())])
            }
        }
        // Until the delay has passed, the former set is asked.
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        let device = try Villager("ming", in: village, device: "-new")
        try await everywhere(device, loss) { _ = try await device.newDevice.start(calling: []) }
        for guardian in family.guardians.prefix(3) {
            let number = try await device.newDevice.status().number
            try await everywhere(guardian, loss) {
                _ = try await guardian.guardian.look(at: number, for: ming.handle)
            }
            try await everywhere(device, loss) { _ = try await device.newDevice.status() }
            try await family.match(guardian, on: device)
            try await everywhere(guardian, loss) { _ = try await guardian.guardian.advance() }
            try await everywhere(device, loss) { _ = try await device.newDevice.status() }
            try await everywhere(guardian, loss) { _ = try await guardian.guardian.advance() }
        }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        for guardian in family.guardians.prefix(3) {
            try await everywhere(guardian, loss) { _ = try await guardian.guardian.advance() }
        }
        try await everywhere(device, loss) { _ = try await device.newDevice.finish() }
        let state = try await device.client.lookup(ming.handle).verdict.lookup.state
        #expect(state.devices.map(\.keys.signing) == [device.secrets.keys.signing])
        let sites = try await device.newDevice.finish().entries.compactMap { entry in
            if case .siteRecovery(let host, _) = entry { String(decoding: host.text, as: UTF8.self) } else { nil }
        }
        #expect(Set(sites) == ["shoptrue.example"], "of the set in force only")
        for guardian in family.guardians { try await guardian.accept(ming.handle) }
        let chosen = family.chosen
        try await everywhere(device, loss) {
            _ = try await device.owner.ask(chosen, threshold: 3, delay: 60, isReplacing: false)
        }
        for guardian in family.guardians { _ = try await guardian.guardian.advance() }
        try await everywhere(device, loss) { try await device.owner.advance() }
        #expect(try await device.newDevice.status().stage == .done)
    }
}
