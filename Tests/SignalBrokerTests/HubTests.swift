// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Synchronization
import Testing

@testable import SignalBroker

/// Connections of devices that the directory no longer lists.
@Suite struct HubTests {
    private final class Sink: SignalSink {
        private let state = Mutex(false)
        var hasEnded: Bool { state.withLock { $0 } }
        func send(_ delivery: BrokerDelivery) {}
        func close() { state.withLock { $0 = true } }
        func cut() { state.withLock { $0 = true } }
    }

    /// Each round checks two of five connections, in turn, and then begins with the first again.
    @Test func aConnectionOfARevokedDeviceEnds() async throws {
        let hub = try SignalHub(
            remembering: nil, reserve: DiskReserve { .none },
            clock: { BrokerTime(uptime: 1_000_000, date: 1_700_000_000_000) })
        let actors = try (1...5).map { try Actor($0) }
        let sinks = actors.map { _ in Sink() }
        for (actor, sink) in zip(actors, sinks) { _ = hub.open(actor.device, of: actor.account, to: sink) }
        var last: SessionID?
        for revoked in [actors[4].device, actors[0].device] {
            for _ in 0..<3 { await hub.endRevoked(after: &last, atMost: 2) { $0 != revoked } }
        }
        #expect(sinks.map(\.hasEnded) == [true, false, false, false, true])
        #expect(hub.counts.sessions == 3)
    }
}
