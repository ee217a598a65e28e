import CallSignalling
import STOMP
import SignalBroker
import SignalClient
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

    @Test(.timeLimit(.minutes(2))) func whoIsNotInvitedIsRefused() async throws {
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

    @Test(.timeLimit(.minutes(2))) func whoIsNoDeviceOfTheDirectoryGetsNoConnection() async throws {
        try await TestRelay.run { relay in
            let stranger = try TestDevice("mallory@example.org")
            await #expect(throws: RelayClientError.connection(.transport(.notUpgraded(status: 403)))) {
                _ = try await stranger.endpoint(relay.profile).connect(heartBeat: .none)
            }
        }
    }
}
