// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalBroker
import Testing

/// Each limit, reached exactly and then exceeded by one.
@Suite struct LimitTests {
    private func started(_ change: (inout BrokerLimits) -> Void) throws -> (Scene, SessionID) {
        var scene = try Scene(change)
        let alice = try scene.connect(scene.alice)
        try scene.send(.start(scene.call, inviting: []), on: alice)
        return (scene, alice)
    }

    @Test func aFrameOverTheLimitIsRefused() throws {
        var (scene, alice) = try started {
            $0.frames = StompLimits(headByteCount: 512, headerCount: 8, bodyByteCount: 300)
        }
        let signal = try scene.alice.signal(in: scene.call)
        #expect(signal.count < 300)
        try scene.send(signal: signal, to: scene.topic, on: alice)
        #expect(scene.closed.isEmpty)
        try scene.send(signal: [UInt8](repeating: 1, count: 301), to: scene.topic, on: alice)
        #expect(scene.fault(alice) == .malformedFrame)
    }

    /// Sends a signal with this many made-up headers, the last of which has a value of `longest` bytes.
    private func send(_ count: Int, longest: Int = 1, _ scene: inout Scene, on alice: SessionID) throws {
        var headers = [StompHeader(.destination, scene.topic)]
        for number in 1...count {
            let value = [UInt8](repeating: 97, count: number == count ? longest : 1)
            headers.append(StompHeader(StompHeaderName(Array("x\(number)".utf8)), value))
        }
        let signal = try scene.alice.signal(in: scene.call)
        scene.receive(try StompFrame(.send, headers, body: signal).encoded, on: alice)
    }

    private func listening() throws -> (Scene, alice: SessionID, bob: SessionID) {
        var (scene, alice) = try started { _ in }
        try scene.send(.invite(scene.call, [scene.bob.device]), on: alice)
        let bob = try scene.connect(scene.bob)
        try scene.send(.join(scene.call), on: bob)
        try scene.subscribe(.topic(scene.call), .individual, on: bob)
        return (scene, alice, bob)
    }

    @Test func aSignalWhoseHeadersExceedTheClientsLimitWithTheBrokersIsRefused() throws {
        var (scene, alice, bob) = try listening()
        try send(58, &scene, on: alice)
        #expect(scene.closed.isEmpty)
        #expect(scene.frames(bob).map(\.command) == [.message])
        try send(59, &scene, on: alice)
        #expect(scene.fault(alice) == .invalidHeader)
        #expect(scene.deliveries[bob]?.count == 2)
    }

    @Test func aSignalWhoseHeadExceedsTheClientsLimitWithTheBrokersIsRefused() throws {
        var (scene, alice, bob) = try listening()
        try send(1, longest: 7800, &scene, on: alice)
        #expect(scene.closed.isEmpty)
        #expect(scene.frames(bob).map(\.command) == [.message])
        try send(1, longest: 8000, &scene, on: alice)
        #expect(scene.fault(alice) == .invalidHeader)
        #expect(scene.deliveries[bob]?.count == 2)
    }

    @Test func framesOverTheRateAreRefused_untilAPauseRestoresIt() throws {
        var (scene, alice) = try started {
            $0.framesPerSecond = 10
            $0.frameBurst = 5
        }
        let signal = try scene.alice.signal(in: scene.call)
        for _ in 0..<3 { try scene.send(signal: signal, to: scene.topic, on: alice) }
        #expect(scene.closed.isEmpty)
        scene.wait(100)
        try scene.send(signal: signal, to: scene.topic, on: alice)
        #expect(scene.closed.isEmpty)
        try scene.send(signal: signal, to: scene.topic, on: alice)
        #expect(scene.fault(alice) == .tooFast)
    }

    @Test func aNewConnectionDoesNotRestoreTheRate() throws {
        var (scene, alice) = try started {
            $0.framesPerSecond = 10
            $0.frameBurst = 3
        }
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: scene.topic, on: alice)
        scene.disconnect(alice)
        let again = scene.open(scene.alice)
        try scene.send(.connect, ["accept-version": "1.2", "host": "h"], on: again)
        #expect(scene.fault(again) == .tooFast)
    }

    @Test func aConnectionOverTheLimitOfItsDeviceEndsTheOldest() throws {
        var (scene, alice) = try started { $0.sessionsPerDevice = 2 }
        let second = try scene.connect(scene.alice)
        #expect(scene.closed.isEmpty)
        _ = scene.open(scene.alice)
        #expect(scene.fault(alice) == .tooManyConnections)
        #expect(!scene.closed.contains(second))
    }

    @Test func aSubscriptionOverTheLimitIsRefused() throws {
        var (scene, alice) = try started { $0.subscriptions = 2 }
        let other = try #require(CallID([UInt8](repeating: 1, count: 16)))
        try scene.send(.start(other, inviting: []), on: alice)
        for (name, call) in [("a", scene.call), ("b", other)] { try scene.subscribe(.topic(call), as: name, on: alice) }
        #expect(scene.closed.isEmpty)
        try scene.subscribe(.inbox(scene.alice.device), as: "c", on: alice)
        #expect(scene.fault(alice) == .tooManySubscriptions)
    }

    @Test func aTransactionOverTheLimitIsRefused() throws {
        var (scene, alice) = try started { $0.transactions = 2 }
        for name in ["a", "b"] { try scene.send(.begin, ["transaction": name], on: alice) }
        #expect(scene.closed.isEmpty)
        try scene.send(.begin, ["transaction": "c"], on: alice)
        #expect(scene.fault(alice) == .transactionTooLarge)
    }

    @Test func aTransactionWithTooManyFramesIsRefused() throws {
        var (scene, alice) = try started { $0.transactionFrames = 2 }
        let topic = String(decoding: scene.topic, as: UTF8.self)
        try scene.send(.begin, ["transaction": "t"], on: alice)
        for _ in 0..<2 { try scene.send(.send, ["destination": topic, "transaction": "t"], on: alice) }
        #expect(scene.closed.isEmpty)
        try scene.send(.send, ["destination": topic, "transaction": "t"], on: alice)
        #expect(scene.fault(alice) == .transactionTooLarge)
    }

    @Test func aSubscriptionWithTooManyUnacknowledgedAndQueuedMessagesIsEnded() throws {
        var (scene, alice) = try started {
            $0.unacknowledged = 2
            $0.queueLength = 3
        }
        let eve = try scene.connect(scene.eve)
        try scene.send(.join(scene.call), on: eve)
        try scene.subscribe(.topic(scene.call), .individual, on: eve)
        for number in 1...5 {
            try scene.send(signal: try scene.alice.signal(UInt64(number), in: scene.call), to: scene.topic, on: alice)
        }
        #expect(scene.frames(eve).count == 2)
        #expect(scene.closed.isEmpty)
        try scene.send(signal: try scene.alice.signal(6, in: scene.call), to: scene.topic, on: alice)
        #expect(scene.fault(eve) == .tooSlow)
        #expect(!scene.closed.contains(alice))
    }

    @Test func start_refusesMoreCallsThanAnAccountMayHave() throws {
        var (scene, alice) = try started { $0.callsPerAccount = 2 }
        for number in 1...2 {
            let call = try #require(CallID([UInt8](repeating: UInt8(number), count: 16)))
            #expect(scene.closed.isEmpty)
            try scene.send(.start(call, inviting: []), on: alice)
        }
        #expect(scene.fault(alice) == .tooManyCalls)
    }

    @Test func start_refusesACallOverTheLimitOfAll() throws {
        var (scene, _) = try started { $0.calls = 1 }
        // Alice has one call and Bob would have one: neither has more.
        let bob = try scene.connect(scene.bob)
        try scene.send(.start(try #require(CallID([UInt8](repeating: 1, count: 16))), inviting: []), on: bob)
        #expect(scene.fault(bob) == .tooManyCalls)
    }

    @Test func join_refusesADeviceOverTheLimitOfTheCall() throws {
        var scene = try Scene()
        let alice = try scene.connect(scene.alice)
        try scene.send(.start(scene.call, inviting: []), on: alice)
        for number in 0..<UInt16(Roster.maximumPresentCount) {
            var key = [UInt8](repeating: 7, count: 32)
            (key[0], key[1]) = (UInt8(number >> 8), UInt8(number & 0xFF))
            let (id, _) = scene.broker.open(
                try #require(CallDevice(key)), of: 1000 + Int64(number), at: scene.now)
            try scene.send(.connect, ["accept-version": "1.2", "host": "h"], on: id)
            _ = scene.frames(id)
            try scene.send(.join(scene.call), on: id)
            let isLast = number + 1 == UInt16(Roster.maximumPresentCount)
            #expect(scene.fault(id) == (isLast ? .callFull : nil))
        }
    }
}
