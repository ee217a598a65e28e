// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalClient
import SignetServer
import Testing

/// The real `signetd`, killed in the middle of a call.
@Suite(.serialized) struct KillTests {
    @Test(.timeLimit(.minutes(5))) func confirmedSignalsSurviveAKill_andTheCallContinues() async throws {
        try await withFolder { folder in
            let data = try await TestRelay.setUp(in: folder)
            var daemon = try await RelayDaemon(data)
            defer { daemon.abandon() }
            let profile = TestRelay.profile(try StoredDirectory.readProfile(data), port: daemon.port)
            let alice = try await TestDevice.registered("alice@example.org", at: profile)
            let bob = try await TestDevice.registered("bob@example.org", at: profile)
            let call = TestDevice.call()
            let (first, second) = (try alice.client(profile), try bob.client(profile))
            try await first.carryOut(.start(call, inviting: [bob.device]))
            try await second.carryOut(.join(call))
            let heard = try await second.subscribe(to: .topic(call))
            var sent: [[UInt8]] = []
            for round in 0..<3 {
                for number in 1...20 {
                    let signal = try alice.signal(UInt64(round * 100 + number), in: call, to: bob.device)
                    try await first.send(signal)
                    sent.append(signal.encoded)
                }
                await daemon.kill()
                daemon = try await RelayDaemon(data, port: daemon.port)
            }
            // Bob opens his inbox only now: all of its signals were on the disks of servers that were killed.
            let inbox = try await second.subscribe(to: .inbox(bob.device), mode: .individual, within: .seconds(60))
            var received: [[UInt8]] = []
            for try await delivery in inbox {
                received.append(delivery.body)
                await second.acknowledge(delivery)
                if received.count == sent.count { break }
            }
            #expect(received == sent)
            // Both are still in the call, and Bob's client has subscribed to it again.
            let last = try alice.signal(1000, in: call)
            try await first.send(last, within: .seconds(60))
            var deliveries = heard.makeAsyncIterator()
            #expect(try await deliveries.next()?.body == last.encoded)
            await first.close()
            await second.close()
        }
    }
}
