// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalBroker
import Testing

/// Who may do what. Each test has everything right but one thing.
@Suite struct CallRuleTests {
    /// Alice and Bob in a call, connected.
    private func twoInACall(
        _ change: (inout BrokerLimits) -> Void = { _ in }
    ) throws -> (Scene, alice: SessionID, bob: SessionID) {
        var scene = try Scene(change)
        let (alice, bob) = (try scene.connect(scene.alice), try scene.connect(scene.bob))
        try scene.send(.start(scene.call, inviting: [scene.bob.device]), on: alice)
        try scene.send(.join(scene.call), on: bob)
        #expect(scene.closed.isEmpty)
        return (scene, alice, bob)
    }

    @Test func aMemberSendsToTheCallAndListens() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.subscribe(.topic(scene.call), on: bob)
        let signal = try scene.alice.signal(in: scene.call)
        try scene.send(signal: signal, to: scene.topic, on: alice)
        #expect(scene.frames(bob).map(\.body) == [signal])
        #expect(scene.closed.isEmpty)
    }

    @Test func whoWasRemovedHearsNothing_andComesInAgainWhenInvited() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.subscribe(.topic(scene.call), on: bob)
        try scene.send(.remove(scene.call, [scene.bob.device]), on: alice)
        #expect(scene.departures.map(\.device) == [scene.bob.device])
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: scene.topic, on: alice)
        #expect(scene.frames(bob).isEmpty)
        try scene.send(.join(scene.call), on: bob)
        #expect(scene.fault(bob) == .notInvited)
        guard case .record(let record)? = scene.writes.last else {
            Issue.record("not written")
            return
        }
        #expect(CallRecord(decoding: record.encoded)?.encoded == record.encoded)
        let again = try scene.connect(scene.bob)
        try scene.send(.invite(scene.call, [scene.bob.device]), on: alice)
        try scene.send(.join(scene.call), on: again)
        #expect(scene.closed == [bob])
    }

    @Test func whoWasRemovedFromAnOpenCallDoesNotComeInByItsName() throws {
        var scene = try Scene()
        let (alice, bob) = (try scene.connect(scene.alice), try scene.connect(scene.bob))
        try scene.send(.start(scene.call, inviting: []), on: alice)
        try scene.send(.remove(scene.call, [scene.bob.device]), on: alice)
        try scene.send(.join(scene.call), on: bob)
        #expect(scene.fault(bob) == .notInvited)
    }

    @Test func nobodyButTheStarterUndoesARemoval() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.remove(scene.call, [scene.eve.device]), on: alice)
        try scene.send(.invite(scene.call, [scene.eve.device]), on: bob)
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInvited)
    }

    @Test func onlyTheStarterRemoves_whileItIsThere() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.remove(scene.call, [scene.alice.device]), on: bob)
        #expect(scene.fault(bob) == .notYourCall && !scene.closed.contains(alice))
    }

    @Test func whoIsNotInTheCallMayNotSendToIt() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(signal: try scene.eve.signal(in: scene.call), to: scene.topic, on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    @Test func whoIsNotInTheCallMayNotSendToAnInboxInItsName() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        let signal = try scene.eve.signal(in: scene.call, to: scene.bob.device)
        try scene.send(signal: signal, to: RelayRoute.inbox(scene.bob.device).destination, on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    /// Bob's tablet rings: it answers the caller, and says nothing else. Who was not invited, or was removed, does not even answer.
    @Test func whoIsInvitedMayAnswerARing_andNothingElse() throws {
        let nonce = try #require(SignalNonce([UInt8](repeating: 4, count: 16)))
        let answer = SignalBody.ringAnswer(RingAnswer(.decline, to: nonce))
        var (scene, alice, bob) = try twoInACall()
        let inbox = RelayRoute.inbox(scene.alice.device).destination
        let eve = try scene.connect(scene.eve)
        try scene.send(
            signal: try scene.eve.signal(in: scene.call, to: scene.alice.device, saying: answer), to: inbox, on: eve)
        #expect(scene.fault(eve) == .notInCall)
        try scene.send(.invite(scene.call, [scene.eve.device]), on: bob)
        let tablet = try scene.connect(scene.eve)
        try scene.subscribe(.inbox(scene.alice.device), on: alice)
        let signal = try scene.eve.signal(in: scene.call, to: scene.alice.device, saying: answer)
        try scene.send(signal: signal, to: inbox, on: tablet)
        #expect(scene.frames(alice).map(\.body) == [signal] && scene.fault(tablet) == nil)
        try scene.send(signal: try scene.eve.signal(2, in: scene.call, to: scene.alice.device), to: inbox, on: tablet)
        #expect(scene.fault(tablet) == .notInCall)
        try scene.send(.remove(scene.call, [scene.eve.device]), on: alice)
        let removed = try scene.connect(scene.eve)
        try scene.send(signal: signal, to: inbox, on: removed)
        #expect(scene.fault(removed) == .notInCall)
    }

    @Test func whoIsNotInTheCallMayNotListen() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.subscribe(.topic(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    @Test func anInboxIsReadByItsDeviceOnly() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.subscribe(.inbox(scene.alice.device), on: bob)
        #expect(scene.fault(bob) == .anotherInbox)
    }

    @Test func aDeviceSendsAsItselfOnly() throws {
        var (scene, _, bob) = try twoInACall()
        let signal = try scene.bob.signal(in: scene.call, naming: scene.alice.device)
        try scene.send(signal: signal, to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .anotherSender)
    }

    @Test func aSignalOfSomebodyElseIsNotHandedOn() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .anotherSender)
    }

    @Test func aSignalThatItsSenderDidNotSignIsRefused() throws {
        var (scene, _, bob) = try twoInACall()
        var signal = try scene.bob.signal(in: scene.call)
        signal[signal.count - 1] ^= 1
        try scene.send(signal: signal, to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .invalidSignature)
    }

    @Test func whatIsNoSignalIsRefused() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(signal: Array("hello".utf8), to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .malformedSignal)
    }

    @Test func aSignalForOneDeviceDoesNotGoToAll() throws {
        var (scene, _, bob) = try twoInACall()
        let signal = try scene.bob.signal(in: scene.call, to: scene.alice.device)
        try scene.send(signal: signal, to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .wrongDestination)
    }

    @Test func aSignalOfOneCallDoesNotGoToAnother() throws {
        var (scene, alice, _) = try twoInACall()
        let other = try #require(CallID([UInt8](repeating: 8, count: 16)))
        try scene.send(.start(other, inviting: []), on: alice)
        try scene.send(
            signal: try scene.alice.signal(in: scene.call), to: RelayRoute.topic(other).destination, on: alice)
        #expect(scene.fault(alice) == .wrongDestination)
    }

    @Test(arguments: ["/topic/other", "/queue/inbox.00", "/app/api/call/start/x", ""])
    func thereIsNoOtherDestination(_ text: String) throws {
        var (scene, alice, _) = try twoInACall()
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: Array(text.utf8), on: alice)
        #expect(scene.fault(alice) == .unknownDestination)
    }

    // MARK: Acts

    @Test func whoWasNotInvitedMayNotJoin() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInvited)
    }

    @Test func aCallThatNamesNobodyLetsInWhoKnowsItsName() throws {
        var scene = try Scene()
        let (alice, eve) = (try scene.connect(scene.alice), try scene.connect(scene.eve))
        try scene.send(.start(scene.call, inviting: []), on: alice)
        try scene.send(.join(scene.call), on: eve)
        try scene.subscribe(.topic(scene.call), on: eve)
        #expect(scene.closed.isEmpty)
    }

    @Test func aMemberInvites() throws {
        var (scene, _, bob) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(.invite(scene.call, [scene.eve.device]), on: bob)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.closed.isEmpty)
    }

    @Test func whoIsNotInTheCallInvitesNobody() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(.invite(scene.call, [scene.eve.device]), on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    @Test func aCallIsStartedOnce() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(.start(scene.call, inviting: []), on: bob)
        #expect(scene.fault(bob) == .callTaken)
    }

    @Test func itsStarterMayStartItAgain_whichChangesNothing() throws {
        var (scene, alice, _) = try twoInACall()
        try scene.send(.start(scene.call, inviting: []), on: alice)
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInvited)
        #expect(!scene.closed.contains(alice))
    }

    @Test func whoHasLeftHearsAndSaysNothing() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.subscribe(.topic(scene.call), on: bob)
        try scene.send(.leave(scene.call), on: bob)
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: scene.topic, on: alice)
        #expect(scene.frames(bob).isEmpty)
        try scene.send(signal: try scene.bob.signal(in: scene.call), to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .notInCall)
    }

    @Test func aCallThatEverybodyLeftIsOver() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.leave(scene.call), on: alice)
        #expect(scene.broker.callCount == 1)
        try scene.send(.leave(scene.call), on: bob)
        #expect(scene.broker.callCount == 0)
        #expect(scene.writes.last == .forget(scene.call))
    }

    @Test func itsStarterEndsACallForEverybody() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.end(scene.call), on: alice)
        #expect(scene.broker.callCount == 0)
        try scene.subscribe(.topic(scene.call), on: bob)
        #expect(scene.fault(bob) == .notInCall)
    }

    @Test func nobodyElseEndsItWhileItsStarterIsThere() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(.end(scene.call), on: bob)
        #expect(scene.fault(bob) == .notYourCall)
    }

    @Test func afterItsStarterLeftAnyMemberEndsIt() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.leave(scene.call), on: alice)
        try scene.send(.end(scene.call), on: bob)
        #expect(scene.broker.callCount == 0 && scene.closed.isEmpty)
    }

    @Test func aCallToWhichNobodyListensIsForgotten() throws {
        var (scene, alice, _) = try twoInACall()
        try scene.subscribe(.topic(scene.call), on: alice)
        scene.wait(scene.broker.limits.callTime)
        #expect(scene.broker.callCount == 1)
        scene.disconnect(alice)
        scene.wait(1000)
        #expect(scene.broker.callCount == 0)
    }

    @Test func actsInTransactionsAreRefused() throws {
        var (scene, alice, _) = try twoInACall()
        let destination = String(decoding: CallAct.end(scene.call).destination, as: UTF8.self)
        try scene.send(.begin, ["transaction": "t"], on: alice)
        try scene.send(.send, ["destination": destination, "transaction": "t"], on: alice)
        try scene.send(.commit, ["transaction": "t"], on: alice)
        #expect(scene.fault(alice) == .unknownDestination)
        #expect(scene.broker.callCount == 1)
    }

    @Test func aTransactionIsAllOrNothing() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.subscribe(.topic(scene.call), on: bob)
        let topic = String(decoding: scene.topic, as: UTF8.self)
        try scene.send(.begin, ["transaction": "t"], on: alice)
        let good = try scene.alice.signal(in: scene.call)
        try scene.send(.send, ["destination": topic, "transaction": "t"], body: good, on: alice)
        try scene.send(.send, ["destination": topic, "transaction": "t"], body: [1], on: alice)
        try scene.send(.commit, ["transaction": "t"], on: alice)
        #expect(scene.fault(alice) == .malformedSignal)
        #expect(scene.frames(bob).isEmpty)
    }
}
