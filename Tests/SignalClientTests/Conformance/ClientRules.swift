// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import PinnedHTTP
import STOMP
import SignalClient
import SignetAPI
import SignetClient
import Testing

extension ConformanceSuite {
    /// The client that stays connected, behind a line that is cut.
    @Suite struct Clients {
        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aCutConnectionLosesNoSignalInAnInbox(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let (sender, device) = (try await stage.device(), try await stage.device())
            let call = try await stage.call(sender, device)
            let proxy = try await CutProxy(to: try ServerAddress(stage.profile.url).port)
            let cuttable = Stage(engine: engine, profile: TestRelay.profile(stage.profile, port: proxy.port))
            let backoff = RelayClient.Backoff(first: .milliseconds(10), longest: .milliseconds(100))
            let first = RelayClient(to: try cuttable.endpoint(sender), backoff: backoff)
            let second = RelayClient(to: try cuttable.endpoint(device), backoff: backoff)
            // They are restored in this order: a client that gets messages of the inbox also gets those of the call.
            let heard = try await second.subscribe(to: .topic(call))
            let inbox = try await second.subscribe(to: .inbox(device.device), mode: .individual)
            let signals = try (1...30).map { try sender.signal($0, in: call, to: device.device) }
            for (place, signal) in signals.enumerated() {
                if place % 10 == 5 { proxy.cut() }
                try await first.send(signal, within: .seconds(30))
            }
            // Delivered at least once: a repetition is known by its bytes.
            var seen: [[UInt8]] = []
            for try await delivery in inbox {
                if !seen.contains(delivery.body) { seen.append(delivery.body) }
                await second.acknowledge(delivery)
                if seen.count == signals.count { break }
            }
            #expect(Set(seen) == Set(signals.map(\.encoded)))
            let last = try sender.signal(31, in: call)
            try await first.send(last, within: .seconds(30))
            var deliveries = heard.makeAsyncIterator()
            #expect(try await deliveries.next()?.body == last.encoded)
            await first.close()
            await second.close()
            await proxy.stop()
        }
    }
}
