// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalBroker
import Testing

/// One account at its limits: that account is refused or disconnected, and no other.
@Suite struct FloodTests {
    /// Alice has a call; Eve, at her limits, and Bob, within his limits, are in it.
    private func crowd(_ change: (inout BrokerLimits) -> Void = { _ in }) throws -> (Scene, [SessionID]) {
        var scene = try Scene(change)
        let alice = try scene.connect(scene.alice)
        try scene.send(.start(scene.call, inviting: []), on: alice)
        let (bob, eve) = (try scene.connect(scene.bob), try scene.connect(scene.eve))
        for id in [bob, eve] {
            try scene.send(.join(scene.call), on: id)
            try scene.subscribe(.topic(scene.call), on: id)
        }
        return (scene, [alice, bob, eve])
    }

    private func letter(
        _ number: UInt64, _ scene: inout Scene, from actor: Actor, on id: SessionID,
        _ headers: KeyValuePairs<String, String> = [:]
    ) throws -> [UInt8] {
        let signal = try actor.signal(number, in: scene.call, to: scene.bob.device)
        let destination = StompHeader(.destination, RelayRoute.inbox(scene.bob.device).destination)
        let others = headers.map { StompHeader(StompHeaderName(Array($0.utf8)), Array($1.utf8)) }
        scene.receive(try StompFrame(.send, [destination] + others, body: signal).encoded, on: id)
        return signal
    }

    private func bobsLetters(_ scene: inout Scene, _ bob: SessionID) throws -> [[UInt8]] {
        _ = scene.frames(bob)
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", on: bob)
        return scene.frames(bob).map(\.body)
    }

    // MARK: Calls

    @Test func subscribe_refusesASecondSubscriptionToOneCall() throws {
        var (scene, ids) = try crowd()
        try scene.subscribe(.topic(scene.call), as: "again", on: ids[2])
        #expect(scene.fault(ids[2]) == .repeatedSubscription)
    }

    @Test func aSignalToManySubscribersIsHeldOnce() throws {
        var (scene, ids) = try crowd()
        let signal = try scene.alice.signal(in: scene.call)
        try scene.send(signal: signal, to: scene.topic, on: ids[0])
        let bodies = try ids.dropFirst().map { try #require(scene.deliveries[$0]?.last?.pieces.dropFirst().first) }
        #expect(bodies == [signal, signal])
        let places = bodies.map { body in body.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(places[0] == places[1])
    }

    @Test func aConnectionThatReadsNothingIsEndedAtItsLimit() throws {
        var (scene, ids) = try crowd { $0.heldPerSession = 2000 }
        scene.stuck = [ids[2]]
        for number in 1...20 {
            let signal = try scene.alice.signal(UInt64(number), in: scene.call)
            try scene.send(signal: signal, to: scene.topic, on: ids[0])
            #expect(scene.broker.byteCounts.held <= 2200)
        }
        #expect(scene.closed == [ids[2]] && scene.fault(ids[2]) == .tooSlow)
        #expect(scene.frames(ids[1]).count == 20)
    }

    @Test func theConnectionsOfAnAccountShareALimitOfHeldBytes() throws {
        var (scene, ids) = try crowd { $0.heldPerAccount = 2000 }
        let second = try scene.connect(scene.eve)
        try scene.subscribe(.topic(scene.call), on: second)
        scene.stuck = [ids[2], second]
        for number in 1...20 {
            let signal = try scene.alice.signal(UInt64(number), in: scene.call)
            try scene.send(signal: signal, to: scene.topic, on: ids[0])
        }
        #expect(scene.closed == [ids[2], second] && scene.frames(ids[1]).count == 20)
    }

    @Test func atTheLimitOfAllTheConnectionWithTheMostHeldBytesIsEnded() throws {
        var (scene, ids) = try crowd { $0.heldAltogether = 3000 }
        scene.stuck = [ids[2]]
        for number in 1...20 {
            let signal = try scene.alice.signal(UInt64(number), in: scene.call)
            try scene.send(signal: signal, to: scene.topic, on: ids[0])
            #expect(scene.broker.byteCounts.held <= 3000)
        }
        #expect(scene.closed == [ids[2]] && scene.frames(ids[1]).count == 20)
    }

    @Test func aDroppedConnectionHoldsNoBytes() throws {
        var (scene, ids) = try crowd()
        scene.stuck = [ids[2]]
        try scene.send(signal: try scene.alice.signal(in: scene.call), to: scene.topic, on: ids[0])
        scene.disconnect(ids[2])
        #expect(scene.broker.byteCounts.held > 0)
        _ = scene.broker.drop(ids[2], at: scene.now)
        #expect(scene.broker.byteCounts.held == 0)
    }

    @Test func aSignalIsChargedForEachSubscriber() throws {
        var (scene, ids) = try crowd {
            $0.spreadPerSecond = 100
            $0.spreadBurst = 2000
        }
        var count = 0
        while !scene.closed.contains(ids[0]), count < 20 {
            count += 1
            try scene.send(signal: try scene.alice.signal(UInt64(count), in: scene.call), to: scene.topic, on: ids[0])
        }
        // Each has some 430 bytes, and goes to two subscribers.
        #expect(count == 3 && scene.fault(ids[0]) == .tooFast)
    }

    @Test func theDevicesOfAnAccountShareItsRate() throws {
        var scene = try Scene {
            $0.framesPerSecond = 10
            $0.frameBurst = 3
        }
        let (first, second) = (try Actor(7, of: 7), try Actor(8, of: 7))
        let (one, two) = (try scene.connect(first), try scene.connect(second))
        try scene.send(.start(scene.call, inviting: []), on: one)
        #expect(scene.closed.isEmpty)
        try scene.send(.join(scene.call), on: two)
        #expect(scene.fault(two) == .tooFast)
    }

    @Test func aConnectionOverTheLimitOfItsAccountEndsTheOldest() throws {
        var scene = try Scene { $0.sessionsPerAccount = 2 }
        let ids = try (7...9).map { try scene.connect(try Actor($0, of: 7)) }
        #expect(scene.fault(ids[0]) == .tooManyConnections && scene.closed == [ids[0]])
    }

    @Test func theFramesOfATransactionCountAsHeld() throws {
        var (scene, ids) = try crowd { $0.heldPerSession = 2000 }
        try scene.send(.begin, ["transaction": "t"], on: ids[2])
        let signal = try scene.eve.signal(in: scene.call)
        for _ in 0..<20 where scene.closed.isEmpty {
            try scene.send(
                .send, ["destination": String(decoding: scene.topic, as: UTF8.self), "transaction": "t"], body: signal,
                on: ids[2])
        }
        #expect(scene.fault(ids[2]) == .tooSlow && scene.broker.byteCounts.held <= 2000)
    }

    @Test func atTheLimitOfCallsTheAccountWithTheMostLosesItsQuietest() throws {
        var scene = try Scene { $0.calls = 3 }
        let (eve, bob) = (try scene.connect(scene.eve), try scene.connect(scene.bob))
        let calls = try (1...4).map { try #require(CallID([UInt8](repeating: $0, count: 16))) }
        for call in calls.prefix(3) {
            try scene.send(.start(call, inviting: []), on: eve)
            scene.wait(10)
        }
        try scene.send(.start(calls[3], inviting: []), on: bob)
        #expect(scene.closed.isEmpty && scene.broker.callCount == 3)
        #expect(scene.writes.contains(.forget(calls[0])))
        // Eve, who has the most calls, takes no place from other accounts.
        try scene.send(.start(calls[0], inviting: []), on: eve)
        #expect(scene.fault(eve) == .tooManyCalls)
    }

    /// Eve has four devices with four connections each, reads nothing and fills every limit.
    @Test func anAccountAtAllItsLimitsDoesNotKeepOthersFromACall() throws {
        var scene = try Scene {
            ($0.heldAltogether, $0.keptByteCount, $0.calls) = (200_000, 50_000, 12)
            ($0.heldPerAccount, $0.keptBytesPerAccount, $0.framesPerSecond) = (100_000, 30_000, 0)
        }
        let devices = try (40..<44).map { try Actor($0, of: 40) }
        let ids = try devices.flatMap { device in try (0..<4).map { _ in try scene.connect(device) } }
        scene.stuck = Set(ids)
        try scene.send(.start(scene.call, inviting: []), on: ids[0])
        for id in ids {
            try scene.send(.join(scene.call), on: id)
            try scene.subscribe(.topic(scene.call), on: id)
        }
        for number in 1...10 {
            let call = try #require(CallID([UInt8](repeating: UInt8(number), count: 16)))
            try scene.send(.start(call, inviting: []), on: ids[0])
        }
        for number in 1...200 as ClosedRange<UInt64> {
            _ = try letter(number, &scene, from: devices[3], on: ids[15], ["note": String(repeating: "x", count: 2000)])
            let signal = try devices[3].signal(number, in: scene.call)
            try scene.send(signal: signal, to: scene.topic, on: ids[15])
        }
        // Bob calls Alice, who is not connected yet.
        let bob = try scene.connect(scene.bob)
        let call = try #require(CallID([UInt8](repeating: 99, count: 16)))
        let second = try #require(CallID([UInt8](repeating: 98, count: 16)))
        for call in [call, second] { try scene.send(.start(call, inviting: [scene.alice.device]), on: bob) }
        try scene.subscribe(.topic(call), on: bob)
        let ring = try scene.bob.signal(1, in: call, to: scene.alice.device)
        try scene.send(signal: ring, to: RelayRoute.inbox(scene.alice.device).destination, on: bob)
        let alice = try scene.connect(scene.alice)
        try scene.subscribe(.inbox(scene.alice.device), as: "inbox", on: alice)
        #expect(scene.frames(alice).map(\.body) == [ring])
        try scene.send(.join(call), on: alice)
        try scene.subscribe(.topic(call), on: alice)
        let word = try scene.alice.signal(2, in: call)
        try scene.send(signal: word, to: RelayRoute.topic(call).destination, on: alice)
        #expect(scene.frames(bob).map(\.body) == [word] && scene.frames(alice).map(\.body) == [word])
        #expect(scene.closed.isDisjoint(with: [alice, bob]) && scene.broker.byteCounts.held <= 200_000)
    }

    // MARK: Inboxes

    @Test func anAccountWithTooManyWaitingSignalsLosesTheOldest() throws {
        var (scene, ids) = try crowd { $0.keptPerAccount = 3 }
        let fromAlice = try letter(1, &scene, from: scene.alice, on: ids[0])
        let fromEve = try (1...5).map { try letter($0, &scene, from: scene.eve, on: ids[2]) }
        #expect(scene.closed.isEmpty)
        #expect(try bobsLetters(&scene, ids[1]) == [fromAlice] + fromEve.suffix(3))
    }

    @Test func anAccountWithTooManyWaitingBytesLosesTheOldest() throws {
        var (scene, ids) = try crowd { $0.keptBytesPerAccount = 1400 }
        let fromAlice = try letter(1, &scene, from: scene.alice, on: ids[0])
        let fromEve = try (1...5).map { try letter($0, &scene, from: scene.eve, on: ids[2]) }
        #expect(try bobsLetters(&scene, ids[1]) == [fromAlice] + fromEve.suffix(3))
    }

    @Test func headersCountForTheWaitingBytes() throws {
        var (scene, ids) = try crowd { $0.keptBytesPerAccount = 1400 }
        let long = String(repeating: "x", count: 800)
        let fromEve = try (1...3).map { try letter($0, &scene, from: scene.eve, on: ids[2], ["note": long]) }
        #expect(try bobsLetters(&scene, ids[1]) == fromEve.suffix(1))
    }

    @Test func whenAllInboxesAreFullTheAccountWithTheMostLosesTheOldest() throws {
        var (scene, ids) = try crowd { $0.keptByteCount = 1900 }
        let fromEve = try (1...4).map { try letter($0, &scene, from: scene.eve, on: ids[2]) }
        let fromAlice = try letter(1, &scene, from: scene.alice, on: ids[0])
        #expect(scene.closed.isEmpty)
        #expect(try bobsLetters(&scene, ids[1]) == fromEve.suffix(3) + [fromAlice])
    }

    @Test func aLongInboxIsDeliveredAsFastAsItsReaderReads() throws {
        var (scene, ids) = try crowd { $0.heldPerSession = 1500 }
        let letters = try (1...8).map { try letter($0, &scene, from: scene.alice, on: ids[0]) }
        scene.stuck = [ids[1]]
        _ = scene.frames(ids[1])
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", on: ids[1])
        #expect((1..<8).contains(scene.frames(ids[1]).count) && scene.closed.isEmpty)
        scene.stuck = []
        var count = 0
        while scene.broker.keptCount > 0, count < 20 {
            count += 1
            scene.written(scene.broker.byteCounts.held, on: ids[1])
        }
        #expect(scene.broker.keptCount == 0 && scene.closed.isEmpty)
        #expect(scene.deliveries[ids[1]]?.compactMap { $0.pieces.dropFirst().first }.suffix(8) == letters[...])
    }
}
