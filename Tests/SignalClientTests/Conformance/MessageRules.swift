// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalClient
import Testing

/// The rules of STOMP 1.2, tested with the same client against every engine that is present.
@Suite(.serialized) struct ConformanceSuite {}

extension ConformanceSuite {
    @Suite struct Messages {
        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aMessageKeepsBodyAndHeadersAndNamesItsSubscription(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call), as: "a-name")
            let odd = StompHeader("x-odd:\n\\", Array("a:b\\c\nd".utf8))
            let signal = try device.signal(1, in: call)
            #expect(signal.encoded.contains(0))
            try await wire.send(signal, [odd])
            let message = try await wire.message()
            #expect(message.body == signal.encoded)
            #expect(message.value(of: odd.name) == odd.value)
            #expect(message.value(of: .subscription) == Array("a-name".utf8))
            #expect(message.value(of: .destination) == RelayRoute.topic(call).destination)
            #expect(message.value(of: .ack) == nil)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func everySubscriptionToATopicGetsEveryMessageInOrder(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (first, second) = (try await stage.device(), try await stage.device())
            let call = try await stage.call(first, second)
            let speaker = try await stage.connect(first)
            let listeners = [try await stage.connect(second), try await stage.connect(second)]
            for (listener, name) in zip(listeners, ["a", "b"]) { try await listener.subscribe(.topic(call), as: name) }
            try await speaker.subscribe(.topic(call))
            let signals = try (1...20).map { try first.signal($0, in: call) }
            for signal in signals { try await speaker.send(signal) }
            var heard: [[UInt8]: [[UInt8]]] = [:]
            var names: Set<[UInt8]?> = []
            for number in 0..<40 {
                let message = try await listeners[number % 2].message()
                heard[message.value(of: .subscription) ?? [], default: []].append(message.body)
                names.insert(message.value(of: .messageID))
            }
            let all = signals.map(\.encoded)
            #expect(heard == [Array("a".utf8): all, Array("b".utf8): all])
            for signal in all { #expect(try await speaker.message().body == signal) }
            #expect(names.count == (engine == .signet ? 20 : 40))
            for wire in listeners + [speaker] { await wire.close() }
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func noMessageArrivesAfterUnsubscribe(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call), as: "a")
            try await wire.confirmed(.unsubscribe, [StompHeader(.id, Array("a".utf8))])
            try await wire.send(try device.signal(1, in: call))
            try await wire.subscribe(.topic(call), as: "b")
            let last = try device.signal(2, in: call)
            try await wire.send(last)
            #expect(try await wire.message().body == last.encoded)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func theLongestSignalArrives(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call))
            let signal = try device.longSignal(in: call)
            #expect(signal.encoded.count > 60_000)
            try await wire.send(signal)
            #expect(try await wire.message().body == signal.encoded)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func framesAreReadInAnyPartsAndInOneMessage(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call))
            let signal = try device.signal(1, in: call)
            let frame = try StompFrame(
                .send, [StompHeader(.destination, RelayRoute.topic(call).destination)], body: signal.encoded)
            for byte in frame.encoded { wire.connection.send(bytes: [byte]) }
            wire.connection.send(bytes: Array("\n\r\n\n".utf8) + frame.encoded + frame.encoded + [UInt8(ascii: "\n")])
            for _ in 0..<3 { #expect(try await wire.message().body == signal.encoded) }
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func linesMayEndWithCarriageReturnAndLineFeed(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            let destination = String(decoding: RelayRoute.topic(call).destination, as: UTF8.self)
            wire.connection.send(bytes: Array("SUBSCRIBE\r\nid:s\r\ndestination:\(destination)\r\n\r\n\0".utf8))
            let signal = try device.signal(1, in: call)
            try await wire.send(signal)
            #expect(try await wire.message().body == signal.encoded)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func theFirstOfRepeatedHeadersCounts(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call))
            let signal = try device.signal(1, in: call)
            let other = StompHeader(.destination, RelayRoute.topic(TestDevice.call()).destination)
            try await wire.send(signal, [other])
            #expect(try await wire.message().body == signal.encoded)
            await wire.close()
        }
    }
}

extension TestDevice {
    /// A signal of nearly the greatest length.
    func longSignal(in call: CallID) throws -> Signal {
        let epoch = Epoch(term: 1 << 16, generation: 1, step: 0)
        let roster = try Roster(
            callID: call, term: 1 << 16, number: 1, previous: [UInt8](repeating: 0, count: 32), host: device,
            members: [RosterMember(index: 0, device: device)])
        let wrap = KeyWrap(recipient: device, epoch: epoch, form: .hpkeP256, bytes: [UInt8](repeating: 0, count: 512))
        let rotation = KeyRotation(
            epoch: epoch, reason: .timer, commitment: [UInt8](repeating: 1, count: 32), notBefore: 0, roster: roster,
            wraps: [KeyWrap](repeating: wrap, count: 114))
        return try signal(.rotation(rotation), 1, in: call)
    }
}
