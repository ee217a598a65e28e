// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalBroker
import Testing

/// What members, the starter and strangers may do. In each test, exactly one thing is wrong.
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

    @Test func aMemberSendsToTheCallAndReceivesFromIt() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.subscribe(.topic(scene.call), on: bob)
        let signal = try scene.alice.signal(in: scene.call)
        try scene.send(signal: signal, to: scene.topic, on: alice)
        #expect(scene.frames(bob).map(\.body) == [signal])
        #expect(scene.closed.isEmpty)
    }

    @Test func aRemovedDeviceReceivesNothing_andJoinsAgainWhenInvited() throws {
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

    @Test func join_refusesADeviceRemovedFromAnOpenCall() throws {
        var scene = try Scene()
        let (alice, bob) = (try scene.connect(scene.alice), try scene.connect(scene.bob))
        try scene.send(.start(scene.call, inviting: []), on: alice)
        try scene.send(.remove(scene.call, [scene.bob.device]), on: alice)
        try scene.send(.join(scene.call), on: bob)
        #expect(scene.fault(bob) == .notInvited)
    }

    @Test func invite_byAnotherMemberDoesNotUndoARemoval() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.remove(scene.call, [scene.eve.device]), on: alice)
        try scene.send(.invite(scene.call, [scene.eve.device]), on: bob)
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInvited)
    }

    @Test func remove_refusesAMemberOtherThanTheStarter() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.remove(scene.call, [scene.alice.device]), on: bob)
        #expect(scene.fault(bob) == .notYourCall && !scene.closed.contains(alice))
    }

    @Test func send_refusesADeviceOutsideTheCall() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(signal: try scene.eve.signal(in: scene.call), to: scene.topic, on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    @Test func send_refusesALetterOfADeviceOutsideTheCall() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        let signal = try scene.eve.signal(in: scene.call, to: scene.bob.device)
        try scene.send(signal: signal, to: RelayRoute.inbox(scene.bob.device).destination, on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    /// An invited device answers a ring, and sends no other signal. A device that was not invited, or was removed, may
    /// not answer.
    @Test func anInvitedDeviceMayAnswerARingOnly() throws {
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

    @Test func subscribe_refusesADeviceOutsideTheCall() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.subscribe(.topic(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    @Test func subscribe_refusesTheInboxOfAnotherDevice() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.subscribe(.inbox(scene.alice.device), on: bob)
        #expect(scene.fault(bob) == .anotherInbox)
    }

    @Test func send_refusesASignalThatNamesAnotherSender() throws {
        var (scene, _, bob) = try twoInACall()
        let signal = try scene.bob.signal(in: scene.call, naming: scene.alice.device)
        try scene.send(signal: signal, to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .anotherSender)
    }

    @Test func send_refusesASignalOfAnotherDevice() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .anotherSender)
    }

    @Test func send_refusesAnInvalidSignature() throws {
        var (scene, _, bob) = try twoInACall()
        var signal = try scene.bob.signal(in: scene.call)
        signal[signal.count - 1] ^= 1
        try scene.send(signal: signal, to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .invalidSignature)
    }

    @Test func send_refusesABodyThatIsNoSignal() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(signal: Array("hello".utf8), to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .malformedSignal)
    }

    @Test func send_refusesASignalForOneDeviceToTheTopic() throws {
        var (scene, _, bob) = try twoInACall()
        let signal = try scene.bob.signal(in: scene.call, to: scene.alice.device)
        try scene.send(signal: signal, to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .wrongDestination)
    }

    @Test func send_refusesASignalOfAnotherCall() throws {
        var (scene, alice, _) = try twoInACall()
        let other = try #require(CallID([UInt8](repeating: 8, count: 16)))
        try scene.send(.start(other, inviting: []), on: alice)
        try scene.send(
            signal: try scene.alice.signal(in: scene.call), to: RelayRoute.topic(other).destination, on: alice)
        #expect(scene.fault(alice) == .wrongDestination)
    }

    @Test(arguments: ["/topic/other", "/queue/inbox.00", "/app/api/call/start/x", ""])
    func send_refusesAnUnknownDestination(_ text: String) throws {
        var (scene, alice, _) = try twoInACall()
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: Array(text.utf8), on: alice)
        #expect(scene.fault(alice) == .unknownDestination)
    }

    // MARK: Acts

    @Test func join_refusesADeviceThatWasNotInvited() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInvited)
    }

    @Test func anyDeviceJoinsACallWithoutInvitations() throws {
        var scene = try Scene()
        let (alice, eve) = (try scene.connect(scene.alice), try scene.connect(scene.eve))
        try scene.send(.start(scene.call, inviting: []), on: alice)
        try scene.send(.join(scene.call), on: eve)
        try scene.subscribe(.topic(scene.call), on: eve)
        #expect(scene.closed.isEmpty)
    }

    @Test func aMemberInvitesADevice() throws {
        var (scene, _, bob) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(.invite(scene.call, [scene.eve.device]), on: bob)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.closed.isEmpty)
    }

    @Test func invite_refusesADeviceOutsideTheCall() throws {
        var (scene, _, _) = try twoInACall()
        let eve = try scene.connect(scene.eve)
        try scene.send(.invite(scene.call, [scene.eve.device]), on: eve)
        #expect(scene.fault(eve) == .notInCall)
    }

    @Test func start_refusesACallOfAnotherDevice() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(.start(scene.call, inviting: []), on: bob)
        #expect(scene.fault(bob) == .callTaken)
    }

    @Test func start_repeatedByTheStarterDoesNotOpenTheCall() throws {
        var (scene, alice, _) = try twoInACall()
        try scene.send(.start(scene.call, inviting: []), on: alice)
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        #expect(scene.fault(eve) == .notInvited)
        #expect(!scene.closed.contains(alice))
    }

    @Test func aDeviceThatLeftReceivesNothingAndMayNotSend() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.subscribe(.topic(scene.call), on: bob)
        try scene.send(.leave(scene.call), on: bob)
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: scene.topic, on: alice)
        #expect(scene.frames(bob).isEmpty)
        try scene.send(signal: try scene.bob.signal(in: scene.call), to: scene.topic, on: bob)
        #expect(scene.fault(bob) == .notInCall)
    }

    @Test func aCallEndsWhenItsLastMemberLeaves() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.leave(scene.call), on: alice)
        #expect(scene.broker.callCount == 1)
        try scene.send(.leave(scene.call), on: bob)
        #expect(scene.broker.callCount == 0)
        #expect(scene.writes.last == .forget(scene.call))
    }

    @Test func theStarterEndsTheCallForAllMembers() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.end(scene.call), on: alice)
        #expect(scene.broker.callCount == 0)
        try scene.subscribe(.topic(scene.call), on: bob)
        #expect(scene.fault(bob) == .notInCall)
    }

    @Test func end_refusesAnotherMemberWhileTheStarterIsPresent() throws {
        var (scene, _, bob) = try twoInACall()
        try scene.send(.end(scene.call), on: bob)
        #expect(scene.fault(bob) == .notYourCall)
    }

    @Test func afterTheStarterLeftAnyMemberEndsTheCall() throws {
        var (scene, alice, bob) = try twoInACall()
        try scene.send(.leave(scene.call), on: alice)
        try scene.send(.end(scene.call), on: bob)
        #expect(scene.broker.callCount == 0 && scene.closed.isEmpty)
    }

    @Test func aCallWithoutSubscribersIsForgotten() throws {
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

    @Test func aTransactionWithOneInvalidFrameSendsNoSignal() throws {
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
