// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyDirectory
import KeyTransparency
import PinnedHTTP
import STOMP
import SignalBroker
import SignalClient
import SignetAPI
import SignetClient
import Testing

/// Devices of a real directory speak through its broker over TLS.
@Suite struct RelayTests {
    @Test(.timeLimit(.minutes(2))) func membersOfACallHearEachOther() async throws {
        try await TestRelay.run { relay in
            let alice = try await TestDevice.registered("alice@example.org", at: relay.profile)
            let bob = try await TestDevice.registered("bob@example.org", at: relay.profile)
            let call = TestDevice.call()
            let (first, second) = (try alice.client(relay.profile), try bob.client(relay.profile))
            try await first.carryOut(.start(call, inviting: [bob.device]))
            try await second.carryOut(.join(call))
            let heard = try await second.subscribe(to: .topic(call))
            let inbox = try await second.subscribe(to: .inbox(bob.device), mode: .individual)
            let signal = try alice.signal(1, in: call)
            let wrapped = try alice.signal(2, in: call, to: bob.device)
            try await first.send(signal)
            try await first.send(wrapped)
            var deliveries = heard.makeAsyncIterator()
            #expect(try await deliveries.next()?.body == signal.encoded)
            var letters = inbox.makeAsyncIterator()
            let letter = try #require(try await letters.next())
            #expect(letter.body == wrapped.encoded)
            #expect(relay.hub.counts.kept == 1)
            await second.acknowledge(letter)
            await second.close()
            #expect(relay.hub.counts.kept == 0)
            await first.close()
        }
    }

    @Test(.timeLimit(.minutes(2))) func aDeviceThatIsNotInvitedIsRefused() async throws {
        try await TestRelay.run { relay in
            let alice = try await TestDevice.registered("alice@example.org", at: relay.profile)
            let eve = try await TestDevice.registered("eve@example.org", at: relay.profile)
            let call = TestDevice.call()
            let (first, second) = (try alice.client(relay.profile), try eve.client(relay.profile))
            try await first.carryOut(.start(call, inviting: [alice.device]))
            await #expect(throws: RelayClientError.refused(.notInvited)) { try await second.carryOut(.join(call)) }
            await #expect(throws: RelayClientError.refused(.notInCall)) {
                _ = try await second.subscribe(to: .topic(call))
            }
            await #expect(throws: RelayClientError.refused(.anotherInbox)) {
                _ = try await second.subscribe(to: .inbox(alice.device))
            }
            await first.close()
            await second.close()
        }
    }

    /// The server asks the directory about inboxes that no device reads.
    @Test(.timeLimit(.minutes(2))) func signalsToKeysThatNoDeviceHasAreNotKept() async throws {
        try await TestRelay.run { relay in
            let alice = try await TestDevice.registered("alice@example.org", at: relay.profile)
            let bob = try await TestDevice.registered("bob@example.org", at: relay.profile)
            let (call, first) = (TestDevice.call(), try alice.client(relay.profile))
            try await first.carryOut(.start(call, inviting: [bob.device]))
            let letter = try alice.signal(1, in: call, to: bob.device)
            try await first.send(letter)
            for number in 2...20 as ClosedRange<UInt64> {
                let nobody = try #require(CallDevice([UInt8](repeating: UInt8(number), count: 32)))
                try await first.send(try alice.signal(number, in: call, to: nobody))
            }
            let end = ContinuousClock.now + .seconds(30)
            while relay.hub.counts.kept > 1, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
            #expect(relay.hub.counts.kept == 1)
            let second = try bob.client(relay.profile)
            var letters = try await second.subscribe(to: .inbox(bob.device)).makeAsyncIterator()
            #expect(try await letters.next()?.body == letter.encoded)
            await first.close()
            await second.close()
        }
    }

    /// A device proves its membership when it connects, and may lose it later.
    @Test(.timeLimit(.minutes(2))) func aDeviceOfAnErasedAccountLosesItsConnection() async throws {
        try await TestRelay.run { relay in
            let alice = try await TestDevice.registered("alice@example.org", at: relay.profile)
            let bob = try await TestDevice.registered("bob@example.org", at: relay.profile)
            let (first, second) = (try alice.client(relay.profile), try bob.client(relay.profile))
            _ = try await first.subscribe(to: .inbox(alice.device))
            _ = try await second.subscribe(to: .inbox(bob.device))
            #expect(relay.hub.counts.sessions == 2)
            try await relay.directory.erase(Handle(typed: Array("bob@example.org".utf8)))
            let end = ContinuousClock.now + .seconds(30)
            while relay.hub.counts.sessions > 1, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(relay.hub.counts.sessions == 1)
            try await first.carryOut(.start(TestDevice.call(), inviting: []))
            await first.close()
            await second.close()
        }
    }

    @Test(.timeLimit(.minutes(2))) func aConnectionWhoseServerStoppedReadingCanBeClosed() async throws {
        try await TestRelay.run { relay in
            let alice = try await TestDevice.registered("alice@example.org", at: relay.profile)
            let proxy = try await CutProxy(to: try ServerAddress(relay.profile.url).port)
            let endpoint = try alice.endpoint(TestRelay.profile(relay.profile, port: proxy.port))
            let link = try await endpoint.link()
            _ = try await StompConnection.open(
                over: link, headers: endpoint.engine.connectHeaders(host: "localhost"), heartBeat: .none)
            try await proxy.stall()
            // More than all the buffers on the way take.
            let (begun, report) = AsyncStream.makeStream(of: Void.self)
            let sending = (0..<32).map { _ in
                Task {
                    report.yield()
                    try await link.send([UInt8](repeating: UInt8(ascii: "\n"), count: 1 << 20))
                }
            }
            var waiting = begun.makeAsyncIterator()
            for _ in sending { await waiting.next() }
            await link.close()
            for task in sending { _ = await task.result }
            await proxy.stop()
        }
    }

    @Test(.timeLimit(.minutes(2))) func aDeviceThatIsNotInTheDirectoryGetsNoConnection() async throws {
        try await TestRelay.run { relay in
            let stranger = try TestDevice("mallory@example.org")
            await #expect(throws: RelayClientError.denied(.notYourAccount, status: 403)) {
                _ = try await stranger.endpoint(relay.profile).connect(heartBeat: .none)
            }
        }
    }
}
