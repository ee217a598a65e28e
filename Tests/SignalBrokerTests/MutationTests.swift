// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SeededRandomness
import SignalBroker
import Testing

/// Damaged and meaningless streams: the broker answers with an ERROR and continues to serve other connections.
@Suite struct MutationTests {
    /// A conversation in which every kind of client frame occurs.
    private func conversation(_ scene: Scene) throws -> [UInt8] {
        let (topic, inbox) = (scene.topic, RelayRoute.inbox(scene.alice.device).destination)
        func frame(
            _ command: StompCommand, _ headers: [(StompHeaderName, [UInt8])], _ body: [UInt8] = []
        ) throws -> [UInt8] {
            try StompFrame(command, headers.map { StompHeader($0, $1) }, body: body).encoded
        }
        let start = CallAct.start(scene.call, inviting: [])
        let (name, t) = (Array("s".utf8), Array("t".utf8))
        return try frame(
            .connect, [(.acceptVersion, Array("1.2".utf8)), (.host, name), (.heartBeat, Array("0,0".utf8))])
            + frame(.send, [(.destination, start.destination), (.receipt, name)], start.body)
            + frame(.subscribe, [(.destination, topic), (.id, name), (.ack, Array("client".utf8))])
            + frame(.subscribe, [(.destination, inbox), (.id, t), (.ack, Array("client-individual".utf8))])
            + frame(.send, [(.destination, topic)], scene.alice.signal(in: scene.call))
            + frame(.ack, [(.id, Array("1".utf8))]) + frame(.begin, [(.transaction, t)])
            + frame(
                .send, [(.destination, inbox), (.transaction, t)],
                scene.alice.signal(in: scene.call, to: scene.alice.device))
            + frame(.commit, [(.transaction, t)]) + frame(.nack, [(.id, Array("2".utf8))])
            + frame(.unsubscribe, [(.id, t)]) + frame(.disconnect, [(.receipt, t)])
    }

    @Test func theUnchangedConversationIsAccepted() throws {
        var scene = try Scene()
        let alice = scene.open(scene.alice)
        scene.receive(try conversation(scene), on: alice)
        #expect(scene.frames(alice).map(\.command) == [.connected, .receipt, .message, .message, .message, .receipt])
        #expect(scene.closed == [alice])
    }

    @Test func aMutatedStreamDoesNotHarmAnotherConnection() async throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            await Task.yield()  // Tests of real servers share the threads.
            var scene = try Scene()
            let bob = try scene.connect(scene.bob)
            var stream = try conversation(scene)
            for _ in 0..<(1 + random.next() % 4) { mutate(&stream, &random) }
            let alice = scene.open(scene.alice)
            while !stream.isEmpty {
                let piece = min(stream.count, 1 + Int(random.next() % 200))
                scene.receive(Array(stream.prefix(piece)), on: alice)
                stream.removeFirst(piece)
            }
            scene.disconnect(alice)
            // The other device can still have a call, and only the calls and letters of the first one are left.
            #expect(scene.broker.sessionCount == 1)
            let call = try #require(CallID([UInt8](repeating: 8, count: 16)))
            try scene.send(.start(call, inviting: []), on: bob)
            try scene.subscribe(.topic(call), on: bob)
            let signal = try scene.bob.signal(in: call)
            try scene.send(signal: signal, to: RelayRoute.topic(call).destination, on: bob)
            #expect(scene.frames(bob).map(\.body) == [signal])
        }
    }

    @Test func aMutatedCallRecordIsRefusedOrReadsBack() throws {
        var scene = try Scene()
        let alice = try scene.connect(scene.alice)
        try scene.send(.start(scene.call, inviting: [scene.bob.device, scene.eve.device]), on: alice)
        guard case .record(let call)? = scene.writes.last else {
            Issue.record("no record")
            return
        }
        #expect(CallRecord(decoding: call.encoded)?.encoded == call.encoded)
        var random = SeededGenerator(seed: 11)
        for _ in 0..<5000 {
            var bytes = call.encoded
            mutate(&bytes, &random)
            if let read = CallRecord(decoding: bytes) { #expect(read.encoded == bytes) }
        }
    }

    @Test func aMutatedActIsRefusedOrReadsBack() throws {
        let scene = try Scene()
        var random = SeededGenerator(seed: 13)
        let acts: [CallAct] = [
            .start(scene.call, inviting: []), .start(scene.call, inviting: [scene.bob.device]),
            .invite(scene.call, [scene.bob.device]), .remove(scene.call, [scene.bob.device]), .join(scene.call),
            .leave(scene.call), .end(scene.call),
        ]
        for act in acts {
            #expect(CallAct(destination: act.destination, body: act.body) == act)
            for _ in 0..<1000 {
                var (destination, body) = (act.destination, act.body)
                mutate(&destination, &random)
                if random.next() % 2 == 0 { mutate(&body, &random) }
                if let read = CallAct(destination: destination, body: body) {
                    #expect(read.destination == destination && read.body == body)
                }
            }
        }
    }

    @Test func aMutatedRouteIsRefusedOrReadsBack() throws {
        let scene = try Scene()
        var random = SeededGenerator(seed: 17)
        for route in [RelayRoute.topic(scene.call), .inbox(scene.alice.device)] {
            #expect(RelayRoute(destination: route.destination) == route)
            for _ in 0..<2000 {
                var destination = route.destination
                mutate(&destination, &random)
                if let read = RelayRoute(destination: destination) { #expect(read.destination == destination) }
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = bytes.isEmpty ? 0 : Int(random.next() % UInt64(bytes.count))
        switch random.next() % 5 {
        case 0 where !bytes.isEmpty: bytes[place] ^= 1 << (random.next() % 8)
        case 1 where !bytes.isEmpty: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        case 3: bytes.removeLast(min(bytes.count, Int(random.next() % 64)))
        default:
            let length = min(Int(random.next() % 128), bytes.count - place)
            bytes.insert(contentsOf: bytes[place..<place + length], at: Int(random.next() % UInt64(bytes.count + 1)))
        }
    }
}
