// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalBroker
import Testing

/// The signals that wait for a device, and how they are kept on the disk.
@Suite struct InboxTests {
    private func aliceInACall(
        _ change: (inout BrokerLimits) -> Void = { _ in }
    ) throws -> (Scene, SessionID) {
        var scene = try Scene(change)
        let alice = try scene.connect(scene.alice)
        try scene.send(.start(scene.call, inviting: []), on: alice)
        return (scene, alice)
    }

    private func letter(_ number: UInt64, _ scene: inout Scene, _ alice: SessionID) throws -> [UInt8] {
        let signal = try scene.alice.signal(number, in: scene.call, to: scene.bob.device)
        try scene.send(signal: signal, to: RelayRoute.inbox(scene.bob.device).destination, on: alice)
        return signal
    }

    private func kept(_ scene: Scene) -> [KeptSignal] {
        scene.writes.compactMap { if case .keep(let kept) = $0 { kept } else { nil } }
    }

    @Test func aSignalIsKeptUntilItIsAcknowledged() throws {
        var (scene, alice) = try aliceInACall()
        let signal = try letter(1, &scene, alice)
        let bob = try scene.connect(scene.bob)
        try scene.subscribe(.inbox(scene.bob.device), .individual, on: bob)
        let message = try #require(scene.frames(bob).first)
        #expect(message.body == signal)
        #expect(scene.broker.keptCount == 1)
        try scene.send(.ack, ["id": String(decoding: try #require(message.value(of: .ack)), as: UTF8.self)], on: bob)
        #expect(scene.broker.keptCount == 0)
        #expect(scene.writes.last == .drop(try #require(kept(scene).first).number))
    }

    @Test func aNewBrokerContinuesFromTheKeptSignalsAndCalls() throws {
        var (first, alice) = try aliceInACall()
        let signals = try (1...3).map { try letter($0, &first, alice) }
        let calls = first.writes.compactMap { if case .record(let call) = $0 { call } else { nil } }
        var scene = try Scene(kept: kept(first), calls: calls)
        let (bob, again) = (try scene.connect(scene.bob), try scene.connect(scene.alice))
        try scene.subscribe(.inbox(scene.bob.device), on: bob)
        #expect(scene.frames(bob).map(\.body) == signals)
        // The numbers continue, and the call still exists.
        _ = try letter(4, &scene, again)
        let numbers = (kept(first) + kept(scene)).map(\.number)
        #expect(numbers == numbers.sorted() && Set(numbers).count == 4)
    }

    @Test func aNewReaderGetsTheUnacknowledgedSignalsOfTheOldOne() throws {
        var (scene, alice) = try aliceInACall()
        let (old, new) = (try scene.connect(scene.bob), try scene.connect(scene.bob))
        try scene.subscribe(.inbox(scene.bob.device), .individual, on: old)
        let signal = try letter(1, &scene, alice)
        #expect(scene.frames(old).count == 1)
        try scene.subscribe(.inbox(scene.bob.device), .individual, on: new)
        #expect(scene.frames(new).map(\.body) == [signal])
        _ = try letter(2, &scene, alice)
        #expect(scene.frames(old).isEmpty)
        #expect(scene.frames(new).count == 1)
        // The old one does not know, and may end its former subscription once.
        try scene.send(.unsubscribe, ["id": "s"], on: old)
        #expect(scene.frames(old).isEmpty)
        _ = try letter(3, &scene, alice)
        #expect(scene.frames(new).count == 1)
        try scene.send(.unsubscribe, ["id": "s"], on: old)
        #expect(scene.frames(old).map(\.command) == [.error])
    }

    @Test func aSignalExpiresAfterItsTime() throws {
        var (scene, alice) = try aliceInACall()
        _ = try letter(1, &scene, alice)
        scene.wait(scene.broker.limits.inboxTime - 1)
        #expect(scene.broker.keptCount == 1)
        scene.wait(1000)
        #expect(scene.broker.keptCount == 0)
        #expect(scene.writes.last == .drop(try #require(kept(scene).first).number))
    }

    @Test func aSenderMayShortenTheTime_butNotLengthenIt() throws {
        var (scene, alice) = try aliceInACall()
        let destination = String(decoding: RelayRoute.inbox(scene.bob.device).destination, as: UTF8.self)
        for (number, time) in ["5000", "99999999999999"].enumerated() {
            let signal = try scene.alice.signal(UInt64(number), in: scene.call, to: scene.bob.device)
            try scene.send(.send, ["destination": destination, "expiration": time], body: signal, on: alice)
        }
        let times = kept(scene).map { $0.expiresAt - scene.date }
        #expect(times == [5000, scene.broker.limits.inboxTime])
    }

    @Test func send_refusesAnExpirationThatIsNoNumber() throws {
        var (scene, alice) = try aliceInACall()
        let destination = String(decoding: RelayRoute.inbox(scene.bob.device).destination, as: UTF8.self)
        let signal = try scene.alice.signal(in: scene.call, to: scene.bob.device)
        try scene.send(.send, ["destination": destination, "expiration": "soon"], body: signal, on: alice)
        #expect(scene.fault(alice) == .invalidHeader)
    }

    @Test func aSignalRejectedTooOftenIsDropped() throws {
        var (scene, alice) = try aliceInACall { $0.deliveries = 3 }
        _ = try letter(1, &scene, alice)
        let bob = try scene.connect(scene.bob)
        try scene.subscribe(.inbox(scene.bob.device), .individual, on: bob)
        for _ in 0..<3 {
            let message = try #require(scene.frames(bob).first)
            try scene.send(
                .nack, ["id": String(decoding: try #require(message.value(of: .ack)), as: UTF8.self)], on: bob)
        }
        #expect(scene.frames(bob).isEmpty)
        #expect(scene.broker.keptCount == 0)
    }

    @Test func aFullInboxDropsTheOldestOfTheSenderWithTheMost() throws {
        var (scene, alice) = try aliceInACall { $0.inboxLength = 3 }
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        let destination = RelayRoute.inbox(scene.bob.device).destination
        let fromAlice = try letter(1, &scene, alice)
        let fromEve = try (1...4).map { try scene.eve.signal($0, in: scene.call, to: scene.bob.device) }
        for signal in fromEve { try scene.send(signal: signal, to: destination, on: eve) }
        let bob = try scene.connect(scene.bob)
        try scene.subscribe(.inbox(scene.bob.device), on: bob)
        #expect(scene.frames(bob).map(\.body) == [fromAlice, fromEve[2], fromEve[3]])
    }

    @Test func ack_refusesAnUnknownMessage() throws {
        var (scene, alice) = try aliceInACall()
        try scene.send(.ack, ["id": "1"], on: alice)
        #expect(scene.fault(alice) == .unknownMessage)
    }

    /// On a full disk: waiting signals are delivered, calls continue and end, and no new signal is written.
    @Test func onAFullDiskNewLettersAndJoinsAreRefused() throws {
        var (scene, alice) = try aliceInACall()
        let waiting = try letter(1, &scene, alice)
        scene.broker.mayKeep = false
        let written = scene.writes.count
        _ = try letter(2, &scene, alice)
        #expect(scene.fault(alice) == .unavailable)
        let bob = try scene.connect(scene.bob)
        try scene.subscribe(.inbox(scene.bob.device), on: bob)
        #expect(scene.frames(bob).map(\.body) == [waiting])
        try scene.send(.join(scene.call), on: bob)
        #expect(scene.fault(bob) == .unavailable)
        let again = try scene.connect(scene.alice)
        try scene.send(.leave(scene.call), on: again)
        #expect(scene.fault(again) == nil)
        #expect(scene.writes.dropFirst(written).allSatisfy { if case .keep = $0 { false } else { true } })
        scene.broker.mayKeep = true
        try scene.send(.start(scene.call, inviting: []), on: again)
        #expect(scene.broker.callCount == 1)
    }
}
