// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalClient
import Testing

extension ConformanceSuite {
    /// Inboxes: RabbitMQ's durable queues.
    @Suite struct Acknowledgments {
        /// Three signals for a device that is not connected.
        private func threeLetters(_ stage: Stage) async throws -> (TestDevice, [[UInt8]]) {
            let (sender, device) = (try await stage.device(), try await stage.device())
            let call = try await stage.call(sender)
            let wire = try await stage.connect(sender)
            let signals = try (1...3).map { try sender.signal($0, in: call, to: device.device) }
            for signal in signals { try await wire.send(signal) }
            await wire.close()
            return (device, signals.map(\.encoded))
        }

        /// Opens the inbox and reads `count` messages.
        private func read(
            _ count: Int, of device: TestDevice, _ stage: Stage, _ mode: AcknowledgmentMode
        ) async throws -> (Wire, [StompFrame]) {
            let wire = try await stage.connect(device)
            try await wire.subscribe(.inbox(device.device), mode)
            var messages: [StompFrame] = []
            for _ in 0..<count { messages.append(try await wire.message()) }
            return (wire, messages)
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func anInboxKeepsSignalsInOrderUntilTheDeviceComes(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (device, letters) = try await threeLetters(stage)
            let (wire, messages) = try await read(3, of: device, stage, .individual)
            #expect(messages.map(\.body) == letters)
            #expect(messages.allSatisfy { !$0.isRedelivered })
            #expect(Set(messages.map { $0.value(of: .ack) }).count == 3)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func anAcknowledgmentRemovesItsMessageOnly(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (device, letters) = try await threeLetters(stage)
            let (wire, messages) = try await read(3, of: device, stage, .individual)
            try await wire.answer(.ack, messages[1])
            await wire.close()
            let (again, rest) = try await read(2, of: device, stage, .individual)
            #expect(rest.map(\.body) == [letters[0], letters[2]])
            #expect(rest.allSatisfy { $0.isRedelivered })
            await again.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aCumulativeAcknowledgmentRemovesAllEarlierMessagesToo(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (device, letters) = try await threeLetters(stage)
            let (wire, messages) = try await read(3, of: device, stage, .cumulative)
            try await wire.answer(.ack, messages[1])
            await wire.close()
            let (again, rest) = try await read(1, of: device, stage, .cumulative)
            #expect(rest.map(\.body) == [letters[2]])
            await again.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aRejectedMessageIsDeliveredAgain(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (device, letters) = try await threeLetters(stage)
            let (wire, messages) = try await read(3, of: device, stage, .individual)
            try await wire.answer(.nack, messages[1])
            let again = try await wire.message()
            #expect(again.body == letters[1] && again.isRedelivered)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func inAutoModeADeliveredMessageIsRemoved(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (sender, device) = (try await stage.device(), try await stage.device())
            let call = try await stage.call(sender)
            let wire = try await stage.connect(sender)
            try await wire.send(try sender.signal(1, in: call, to: device.device))
            let (reader, messages) = try await read(1, of: device, stage, .auto)
            #expect(messages[0].value(of: .ack) == nil)
            await reader.close()
            let last = try sender.signal(2, in: call, to: device.device)
            try await wire.send(last)
            let (other, rest) = try await read(1, of: device, stage, .auto)
            #expect(rest.map(\.body) == [last.encoded])
            await wire.close()
            await other.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aSignalExpiresAfterTheLifetimeThatItsSenderGave(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (sender, device) = (try await stage.device(), try await stage.device())
            let call = try await stage.call(sender)
            let wire = try await stage.connect(sender)
            try await wire.send(try sender.signal(1, in: call, to: device.device), lifetime: 1)
            let last = try sender.signal(2, in: call, to: device.device)
            try await wire.send(last)
            let (reader, messages) = try await read(1, of: device, stage, .individual)
            #expect(messages.map(\.body) == [last.encoded])
            await wire.close()
            await reader.close()
        }
    }
}
