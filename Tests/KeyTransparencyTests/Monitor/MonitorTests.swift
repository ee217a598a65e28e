// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// What an owner's own devices say to what was logged under their name.
@Suite struct MonitorTests {
    var scene: WatchScene

    init() throws { scene = try WatchScene() }

    private func decide(
        _ scene: WatchScene, last: PaperPerson? = nil, showing: [PaperPerson] = [], acts: [PaperPerson]
    ) throws -> MonitorDecision {
        let shown = [scene.aliceBefore, scene.alice] + showing
        let history = try scene.verify(scene.answer(last: last, showing: shown))
        return MonitorDecision(history, since: .beginning, acts: try acts.map(scene.act))
    }

    /// The leaf of a device of somebody else under alice's name.
    private func strangerLeaf(_ scene: WatchScene) throws -> DeviceLeaf {
        try DeviceLeaf(
            label: scene.directory.label(scene.alice.handle).hash, device: PaperPerson.device(9, seed: 99).keys)
    }

    private func record(_ scene: WatchScene, _ person: PaperPerson) throws -> [UInt8] {
        try person.record(scene.directory.label(scene.alice.handle).hash).entry
    }

    @Test func theOwnersOwnStepsRaiseNoAlarm() throws {
        let decision = try decide(scene, acts: [scene.aliceBefore, scene.alice])
        #expect(decision.alarms.isEmpty)
        #expect(try decision.watch.history == scene.frontier(5))
        #expect(decision.watch.version == 2 && decision.watch.devices.count == 3)
    }

    @Test func aHandoverRepeatsTheKnownVersion_andLaterOnesNeedTheOwnersAct() throws {
        let (before, now) = (try scene.act(scene.aliceBefore), try scene.act(scene.alice))
        let history = try scene.verify(scene.answer(last: nil, showing: [scene.aliceBefore, scene.alice]))
        func alarms(knowing act: OwnAct, acts: [OwnAct]) throws -> [MonitorAlarm] {
            let watch = OwnWatch(
                history: try scene.frontier(2), version: act.version, stateHash: act.stateHash, devices: act.devices,
                milestone: nil)
            return MonitorDecision(history, since: watch.movedToNextLog(), acts: acts).alarms
        }
        #expect(try alarms(knowing: before, acts: [now]).isEmpty)
        let added = scene.alice.devices[2].keys.signing
        #expect(try alarms(knowing: before, acts: []) == [.unknownVersion(2), .unknownDevice(added)])
        #expect(try alarms(knowing: now, acts: [before]).contains(.wrongStep(expected: 3, found: 1)), "an older one")
    }

    @Test func aVersionOfAnotherDeviceRaisesTheAlarmWithItsDevices() throws {
        let added = scene.alice.devices[2].keys.signing
        let decision = try decide(scene, acts: [scene.aliceBefore])
        #expect(decision.alarms == [.unknownVersion(2), .unknownDevice(added)])
    }

    @Test func aHiddenDeviceBeforeAStateThatIsNotShownRaisesTheAlarm() throws {
        var scene = scene
        let (leaf, third) = (try strangerLeaf(scene), try scene.alice.next())
        let fourth = try third.next()
        try scene.force([leaf.entry, record(scene, third), record(scene, fourth)])
        let history = try scene.verify(scene.answer(last: fourth))
        let acts = try [scene.aliceBefore, scene.alice, third, fourth].map(scene.act)
        #expect(
            MonitorDecision(history, since: .beginning, acts: acts).alarms == [.unknownDevice(leaf.publicKey)])
    }

    @Test func aVersionThatIsNotShownIsKnownByItsCommitment() throws {
        let history = try scene.verify(scene.answer(showing: []))
        let acts = try [scene.aliceBefore, scene.alice].map(scene.act)
        #expect(MonitorDecision(history, since: .beginning, acts: acts).alarms.isEmpty)
        let other = MonitorDecision(history, since: .beginning, acts: [acts[1]])
        #expect(other.alarms.first == .withheldVersion(1))
    }

    @Test func aHiddenDeviceBehindTheSameStateRaisesTheAlarm() throws {
        var scene = scene
        let leaf = try strangerLeaf(scene)
        try scene.force([leaf.entry, record(scene, scene.alice)])
        let decision = try decide(scene, acts: [scene.aliceBefore, scene.alice])
        #expect(decision.alarms == [.wrongStep(expected: 3, found: 2), .unknownDevice(leaf.publicKey)])
    }

    @Test func aHiddenDeviceInTheOwnersOwnStepRaisesTheAlarm() throws {
        var scene = scene
        let (leaf, next) = (try strangerLeaf(scene), try scene.alice.next())
        try scene.force([leaf.entry, record(scene, next)])
        let decision = try decide(scene, last: next, acts: [scene.aliceBefore, scene.alice, next])
        #expect(decision.alarms == [.unknownDevice(leaf.publicKey)])
    }

    @Test func aReplacedIdentityRaisesTheAlarm() throws {
        var scene = scene
        var thief = try scene.alice.next(identity: P256.Signing.PrivateKey())
        thief.kind = .reset
        try scene.force([record(scene, thief)])
        let decision = try decide(scene, last: thief, acts: [scene.aliceBefore, scene.alice])
        #expect(decision.alarms == [.reset(version: 3)])
        var quiet = thief
        quiet.kind = .set
        scene = try WatchScene()
        try scene.force([record(scene, quiet)])
        // A replaced identity that does not say so breaks the chain too.
        let other = try decide(scene, last: quiet, acts: [scene.aliceBefore, scene.alice])
        #expect(other.alarms.contains(.unknownVersion(3)))
    }

    @Test func aRecoveryThatWasNotStartedRaisesTheAlarm() throws {
        let first = try pending(7, after: scene.alice)
        let stopped = try pending(nil, after: first)
        let second = try pending(8, after: stopped)
        for (people, alarms) in [
            ([first], [.recovery(version: 3)]), ([first, stopped], [.formerRecovery(version: 3)]),
            ([first, stopped, second], [.formerRecovery(version: 3), .recovery(version: 5)]),
        ] as [([PaperPerson], [MonitorAlarm])] {
            var scene = self.scene
            try scene.force(people.map { try record(scene, $0) })
            let last = try #require(people.last)
            let acts = [scene.aliceBefore, scene.alice, stopped]
            #expect(try decide(scene, last: last, showing: people.dropLast(), acts: acts).alarms == alarms)
        }
    }

    /// The next state, with a recovery under way or none.
    private func pending(_ recovery: UInt8?, after person: PaperPerson) throws -> PaperPerson {
        let now = try AccountState(decoding: person.encodedState)
        let state = try AccountState(
            signing: AccountStateBody(
                handle: now.handle, version: now.version + 1, previous: now.hash, identityKey: now.identityKey,
                recoveryCommitment: nil, pendingRecovery: recovery.map { Array(repeating: $0, count: 32) },
                accountHead: nil, devices: now.devices)
        ) { try Array(person.identity.signature(for: $0).rawRepresentation) }
        var next = person
        next.encodedState = state.encoded
        next.version = state.version
        return next
    }

    @Test func theEndOfTheAccountRaisesTheAlarm() throws {
        var scene = scene
        try scene.publish(scene.alice.closed(), onDay: 3)
        let decision = try decide(scene, last: scene.alice.closed(), acts: [scene.aliceBefore, scene.alice])
        #expect(decision.alarms == [.closed(version: 3)])
    }

    @Test func aSkippedVersionAndABrokenChainRaiseTheAlarm() throws {
        var scene = scene
        let skipping = try scene.alice.next().next()
        try scene.force([record(scene, skipping)])
        let decision = try decide(scene, last: skipping, acts: [scene.aliceBefore, scene.alice, skipping])
        #expect(decision.alarms == [.wrongStep(expected: 3, found: 4), .doesNotFollow(version: 4)])
    }

    @Test func aWatchGoesOnWhereItEnded() throws {
        var scene = scene
        let first = try decide(scene, acts: [scene.aliceBefore, scene.alice])
        let next = try scene.alice.next()
        try scene.publish(next, onDay: 3)
        let history = try scene.verify(scene.answer(since: 5, last: next), since: 5)
        #expect(MonitorDecision(history, since: first.watch, acts: [try scene.act(next)]).alarms.isEmpty)
        #expect(MonitorDecision(history, since: first.watch, acts: []).alarms == [.unknownVersion(3)])
    }

    @Test func acceptedFindingsCountAsTheOwnersSteps() throws {
        var decision = try decide(scene, acts: [])
        #expect(!decision.alarms.isEmpty)
        decision.accept()
        #expect(decision.alarms.isEmpty && decision.watch.version == 2)
    }
}
