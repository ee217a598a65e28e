// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalBroker
import Testing

/// Bytes are counted while the broker holds them, and no longer.
@Suite struct HoldingTests {
    /// Alice has a call; Eve and Bob are in it.
    private func crowd(_ change: (inout BrokerLimits) -> Void = { _ in }) throws -> (Scene, [SessionID]) {
        var scene = try Scene(change)
        let alice = try scene.connect(scene.alice)
        try scene.send(.start(scene.call, inviting: []), on: alice)
        let (bob, eve) = (try scene.connect(scene.bob), try scene.connect(scene.eve))
        for id in [bob, eve] { try scene.send(.join(scene.call), on: id) }
        return (scene, [alice, bob, eve])
    }

    private func letter(
        _ number: UInt64, _ scene: inout Scene, from actor: Actor, on id: SessionID
    ) throws -> [UInt8] {
        let signal = try actor.signal(number, in: scene.call, to: scene.bob.device)
        try scene.send(signal: signal, to: RelayRoute.inbox(scene.bob.device).destination, on: id)
        return signal
    }

    private func answer(
        _ command: StompCommand, _ message: StompFrame, _ scene: inout Scene, on id: SessionID
    ) throws {
        try scene.send(command, ["id": String(decoding: try #require(message.value(of: .ack)), as: UTF8.self)], on: id)
    }

    // MARK: Transactions

    @Test func anEndedTransactionHoldsNoBytes() throws {
        var (scene, ids) = try crowd()
        let topic = String(decoding: scene.topic, as: UTF8.self)
        for end in [StompCommand.abort, .commit] {
            try scene.send(.begin, ["transaction": "t"], on: ids[0])
            try scene.send(
                .send, ["destination": topic, "transaction": "t"], body: try scene.alice.signal(in: scene.call),
                on: ids[0])
            #expect(scene.broker.byteCounts.held > 200)
            try scene.send(end, ["transaction": "t"], on: ids[0])
            #expect(scene.broker.byteCounts.held == 0)
        }
    }

    @Test func theHeadersOfATransactionsFramesCountAsHeld() throws {
        var (scene, ids) = try crowd { $0.heldPerSession = 3000 }
        let headers: KeyValuePairs = [
            "destination": String(decoding: scene.topic, as: UTF8.self), "transaction": "t",
            "note": String(repeating: "x", count: 2000),
        ]
        try scene.send(.begin, ["transaction": "t"], on: ids[0])
        for _ in 0..<2 { try scene.send(.send, headers, on: ids[0]) }
        #expect(scene.fault(ids[0]) == .tooSlow)
    }

    // MARK: Calls

    /// A message that is not acknowledged is held even after the network has taken it.
    @Test(arguments: [StompCommand.ack, .nack, .unsubscribe])
    func anAcknowledgedRejectedOrUnsubscribedMessageIsNoLongerHeld(_ command: StompCommand) throws {
        var (scene, ids) = try crowd { $0.deliveries = 1 }
        try scene.subscribe(.topic(scene.call), .individual, on: ids[1])
        for number in 1...3 as ClosedRange<UInt64> {
            try scene.send(signal: try scene.alice.signal(number, in: scene.call), to: scene.topic, on: ids[0])
        }
        let messages = scene.frames(ids[1])
        #expect(messages.count == 3 && scene.broker.byteCounts.held > 1000)
        if command == .unsubscribe {
            try scene.send(.unsubscribe, ["id": "s"], on: ids[1])
        } else {
            for message in messages { try answer(command, message, &scene, on: ids[1]) }
        }
        #expect(scene.broker.byteCounts.held == 0 && scene.closed.isEmpty)
    }

    @Test func anAcknowledgmentIsAcceptedWithoutRoom() throws {
        var (scene, ids) = try crowd { $0.heldPerSession = 1500 }
        try scene.subscribe(.topic(scene.call), .individual, on: ids[1])
        for number in 1...2 as ClosedRange<UInt64> {
            try scene.send(signal: try scene.alice.signal(number, in: scene.call), to: scene.topic, on: ids[0])
        }
        let name = String(decoding: try #require(scene.frames(ids[1]).first?.value(of: .ack)), as: UTF8.self)
        let held = scene.broker.byteCounts.held
        try scene.send(.ack, ["id": name, "note": String(repeating: "x", count: 1000)], on: ids[1])
        #expect(scene.broker.byteCounts.held < held && scene.closed.isEmpty)
    }

    // MARK: Inboxes

    @Test func aDeliveredLetterTakesRoomFromTheConnectionWithTheMost() throws {
        var (scene, ids) = try crowd { $0.heldAltogether = 4000 }
        try scene.subscribe(.topic(scene.call), on: ids[2])
        scene.stuck = [ids[1], ids[2]]
        for number in 1...10 as ClosedRange<UInt64> {
            try scene.send(signal: try scene.alice.signal(number, in: scene.call), to: scene.topic, on: ids[0])
        }
        for number in 1...4 as ClosedRange<UInt64> { _ = try letter(number, &scene, from: scene.alice, on: ids[0]) }
        #expect(scene.closed.isEmpty && scene.broker.byteCounts.held > 2000)
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", on: ids[1])
        #expect(scene.broker.byteCounts.held <= 4000 && scene.closed == [ids[2]])
        #expect(scene.frames(ids[1]).count == 4)
    }

    /// A delivered letter that is not acknowledged is not withdrawn for another letter of the same sender.
    @Test func aSenderWithTooManyUnacknowledgedLettersIsRefused_andOthersAreNot() throws {
        var (scene, ids) = try crowd { $0.keptPerAccount = 2 }
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", .individual, on: ids[1])
        for number in 1...3 as ClosedRange<UInt64> { _ = try letter(number, &scene, from: scene.eve, on: ids[2]) }
        #expect(scene.fault(ids[2]) == .tooMuchKept)
        let fromAlice = try letter(1, &scene, from: scene.alice, on: ids[0])
        #expect(scene.frames(ids[1]).last?.body == fromAlice && scene.closed == [ids[2]])
    }

    /// Eve sends to a device that reads everything and acknowledges nothing, until there is no room for letters of
    /// others.
    @Test func unacknowledgedLettersLeaveRoomForOtherSenders() throws {
        var (scene, ids) = try crowd { $0.keptByteCount = 1400 }
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", .cumulative, on: ids[1])
        let fromEve = try (1...3).map { try letter($0, &scene, from: scene.eve, on: ids[2]) }
        let messages = scene.frames(ids[1])
        #expect(messages.map(\.body) == fromEve)
        let fromAlice = try letter(1, &scene, from: scene.alice, on: ids[0])
        #expect(scene.closed.isEmpty && scene.broker.keptCount == 3 && scene.broker.byteCounts.kept <= 1400)
        let last = try #require(scene.frames(ids[1]).last)
        #expect(last.body == fromAlice)
        // A withdrawn letter can still be acknowledged once, and is not delivered again.
        try answer(.ack, messages[0], &scene, on: ids[1])
        #expect(scene.closed.isEmpty && scene.broker.keptCount == 3)
        let again = try scene.connect(scene.bob)
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", .cumulative, on: again)
        #expect(scene.frames(again).map(\.body) == fromEve.suffix(2) + [fromAlice])
        try answer(.ack, messages[0], &scene, on: ids[1])
        #expect(scene.fault(ids[1]) == .unknownMessage)
    }

    @Test func aCumulativeAcknowledgmentOfAWithdrawnLetterCoversThoseBefore() throws {
        var (scene, ids) = try crowd { $0.keptByteCount = 1400 }
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", .cumulative, on: ids[1])
        let fromAlice = try letter(1, &scene, from: scene.alice, on: ids[0])
        for number in 1...3 as ClosedRange<UInt64> { _ = try letter(number, &scene, from: scene.eve, on: ids[2]) }
        let messages = scene.frames(ids[1])
        #expect(messages.count == 4 && messages[0].body == fromAlice && scene.broker.keptCount == 3)
        // Eve's first letter was withdrawn; it came after Alice's.
        try answer(.ack, messages[1], &scene, on: ids[1])
        #expect(scene.closed.isEmpty && scene.broker.keptCount == 2)
    }

    @Test func forget_emptiesTheInboxOfAnAbsentDeviceOnly() throws {
        var (scene, ids) = try crowd()
        for number in 1...2 as ClosedRange<UInt64> { _ = try letter(number, &scene, from: scene.eve, on: ids[2]) }
        let kept = scene.writes.compactMap { if case .keep(let kept) = $0 { kept.number } else { nil } }
        #expect(scene.broker.absentRecipients == [scene.bob.device])
        let actions = scene.broker.forget(recipient: scene.bob.device)
        #expect(actions == kept.map { .drop($0) })
        #expect(scene.broker.keptCount == 0 && scene.broker.absentRecipients.isEmpty)
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", .individual, on: ids[1])
        var letters = [try letter(3, &scene, from: scene.eve, on: ids[2])]
        #expect(scene.broker.absentRecipients.isEmpty)
        #expect(scene.broker.forget(recipient: scene.bob.device).isEmpty)
        letters.append(try letter(4, &scene, from: scene.eve, on: ids[2]))
        #expect(scene.frames(ids[1]).map(\.body) == letters && scene.broker.keptCount == 2)
    }

    @Test func lettersReadFromTheDiskCountForTheirSender() throws {
        var (first, ids) = try crowd()
        for number in 1...3 as ClosedRange<UInt64> { _ = try letter(number, &first, from: first.eve, on: ids[2]) }
        let kept = first.writes.compactMap { if case .keep(let kept) = $0 { kept } else { nil } }
        let calls = first.writes.compactMap { if case .record(let call) = $0 { call } else { nil } }
        var scene = try Scene({ $0.keptPerAccount = 3 }, kept: kept, calls: calls.suffix(1))
        #expect(scene.broker.byteCounts.kept > 1000)
        let (bob, eve) = (try scene.connect(scene.bob), try scene.connect(scene.eve))
        let last = try letter(4, &scene, from: scene.eve, on: eve)
        #expect(scene.broker.keptCount == 3)
        try scene.subscribe(.inbox(scene.bob.device), as: "inbox", on: bob)
        let letters = scene.frames(bob)
        #expect(letters.count == 3 && letters.last?.body == last)
    }
}
