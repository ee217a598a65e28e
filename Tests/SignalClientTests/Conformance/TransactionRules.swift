// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalClient
import Testing

extension ConformanceSuite {
    @Suite struct Transactions {
        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func messagesOfATransactionArriveAtItsCommit(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call))
            let signals = try (1...3).map { try device.signal($0, in: call) }
            try await wire.transact(.begin, "t")
            try await wire.send(signals[0], in: "t")
            try await wire.send(signals[1], in: "t")
            try await wire.send(signals[2])
            #expect(try await wire.message().body == signals[2].encoded)
            try await wire.transact(.commit, "t")
            #expect(try await wire.message().body == signals[0].encoded)
            #expect(try await wire.message().body == signals[1].encoded)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func messagesOfAnAbortedTransactionNeverArrive(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call))
            try await wire.transact(.begin, "t")
            try await wire.send(try device.signal(1, in: call), in: "t")
            try await wire.transact(.abort, "t")
            let last = try device.signal(2, in: call)
            try await wire.send(last)
            #expect(try await wire.message().body == last.encoded)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aTransactionOfALostConnectionIsDropped(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let (wire, other) = (try await stage.connect(device), try await stage.connect(device))
            try await wire.subscribe(.topic(call))
            try await other.transact(.begin, "t")
            try await other.send(try device.signal(1, in: call), in: "t")
            // Confirmed after what was sent in the transaction.
            try await other.transact(.begin, "u")
            await other.close()
            let last = try device.signal(2, in: call)
            try await wire.send(last)
            #expect(try await wire.message().body == last.encoded)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func anAcknowledgmentInATransactionTakesEffectAtItsCommit(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let letters = try (1...2).map { try device.signal($0, in: call, to: device.device) }
            var wire = try await stage.connect(device)
            for letter in letters { try await wire.send(letter) }
            try await wire.subscribe(.inbox(device.device), .individual)
            try await wire.transact(.begin, "kept")
            try await wire.answer(.ack, try await wire.message(), in: "kept")
            try await wire.transact(.commit, "kept")
            try await wire.transact(.begin, "dropped")
            try await wire.answer(.ack, try await wire.message(), in: "dropped")
            try await wire.transact(.abort, "dropped")
            await wire.close()
            wire = try await stage.connect(device)
            try await wire.subscribe(.inbox(device.device), .individual)
            #expect(try await wire.message().body == letters[1].encoded)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func committingATransactionThatWasNotBegunIsRefused(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let wire = try await stage.connect(try await stage.device())
            try wire.send(.commit, [StompHeader(.transaction, Array("t".utf8))])
            #expect(await wire.isRefused(by: engine))
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present.filter(\.refusesSecondBegin))
        func beginningATransactionTwiceIsRefused(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let wire = try await stage.connect(try await stage.device())
            try wire.send(.begin, [StompHeader(.transaction, Array("t".utf8))])
            try wire.send(.begin, [StompHeader(.transaction, Array("t".utf8))])
            #expect(await wire.isRefused(by: engine))
        }
    }
}
