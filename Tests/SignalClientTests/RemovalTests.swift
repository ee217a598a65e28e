// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SignalClient
import SignetClient
import Testing

@testable import CallClient

/// The signals that a device receives after the relay was told to remove it from a call.
@Suite struct RemovalTests {
    /// The relay refuses the removed device's signals before the host sends the removal, and its next connection finds
    /// the call's topic closed.
    @Test(.timeLimit(.minutes(2))) func theHostsRemovalSignalArrivesAfterTheRelayRefusedTheCall() async throws {
        try await TestRelay.run { relay in
            let alice = try await TestDevice.registered("alice@example.org", at: relay.profile)
            let bob = try await TestDevice.registered("bob@example.org", at: relay.profile)
            let call = TestDevice.call()
            let (host, client) = (try alice.client(relay.profile), try bob.client(relay.profile))
            try await host.carryOut(.start(call, inviting: [bob.device]))
            let (word, heard) = AsyncStream.makeStream(of: Never.self)
            defer { heard.finish() }
            let lastWord = Task { for await _ in word {} }
            let signals = try await RelayedSignals(
                through: client, .join(call), as: try #require(CallIdentity(bob.secrets))
            ) { await lastWord.value }
            try await host.carryOut(.remove(call, [bob.device]))
            signals.send(try bob.signal(1, in: call))
            // Once for the signal, once for the topic.
            var refusals = 0
            for await event in client.events where event == .disconnected(.refused(.notInCall)) {
                refusals += 1
                if refusals == 2 { break }
            }
            let removal = try alice.signal(1, in: call, to: bob.device)
            try await host.send(removal)
            var incoming = signals.incoming.makeAsyncIterator()
            #expect(await incoming.next() == removal.encoded)
            heard.finish()
            #expect(await incoming.next() == nil, "the relay brings nothing more")
            await signals.close()
            await host.close()
        }
    }
}
