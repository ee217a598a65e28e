// SPDX-License-Identifier: Apache-2.0

import CallClient
import CallSignalling
import Foundation
import KeyTransparency
import SecretMemory
import SignetAPI
import SignetClient
import Testing

@testable import Signet
@testable import SignetCalls

/// Calls as an app makes them: accounts over a real server with its relays.
@Suite struct AccountCallTests {
    /// Registers an account, with keys at the lowest cost of its passphrase, so that no test waits for it.
    private static func create(_ name: String, _ relay: TestRelay, in folder: String) async throws -> Account {
        let home = HomeFolder(path: folder + "/" + name)
        try home.prepare()
        let secrets = try DeviceSecrets.generate(for: Handle(name + "@example.org"), withIdentity: true)
        let keystore = try Keystore(sealing: secrets, under: SecretBytes(copying: [1]), cost: .minimum)
        try home.directory.replace(with: relay.profile.encoded)
        try home.keystore.create(keystore.encoded)
        let opened = try OpenHome(home, isBeginning: true)
        _ = try await opened.client.createAccount(secrets)
        return try await Account(opened, secrets, isWatching: false)
    }

    /// Alice and Bob, who know each other.
    private static func withFriends(
        _ body: @Sendable (TestRelay, _ folder: String, _ alice: Account, _ bob: Account) async throws -> Void
    ) async throws {
        try await TestRelay.run { relay in
            try await withFolder { folder in
                let alice = try await create("alice", relay, in: folder)
                let bob = try await create("bob", relay, in: folder)
                _ = try await alice.add(bob.handle)
                _ = try await bob.accept(alice.handle)
                try await body(relay, folder, alice, bob)
                await alice.close()
                await bob.close()
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func aCallRings_isAccepted_andSoundArrivesWhileNoticesAreUnread() async throws {
        try await Self.withFriends { _, _, alice, bob in
            let listener = try await bob.incomingCalls()
            let people = try await alice.peopleForCall([bob.handle])
            let outgoing = try await alice.call(people)
            var rings = listener.events.makeAsyncIterator()
            guard case .ringing(let incoming)? = await rings.next() else { throw Unexpected() }
            #expect(incoming.caller == alice.handle && !incoming.hasChanged)
            #expect(await listener.ringing == [incoming])
            let answered = try await bob.accept(incoming, from: listener)
            let speech = Task {
                var sent: Set<SendOutcome> = []
                while !Task.isCancelled {
                    sent.insert(await outgoing.send([1, 2, 3]))
                    try? await Task.sleep(for: .milliseconds(20))
                }
                return sent
            }
            // No task reads the notices meanwhile.
            var heard = answered.sound.makeAsyncIterator()
            let first = try #require(await heard.next())
            #expect(first.frame.sound == [1, 2, 3] && people[first.sender] == nil, "of the caller, not of a callee")
            speech.cancel()
            #expect(await speech.value.contains(.sent(number: first.frame.number)))
            var outcome: RingOutcome?
            for await notice in outgoing.notices {
                guard case .rung(bob.handle, let found) = notice else { continue }
                outcome = found
                break
            }
            #expect(outcome?.isAccepted == true)
            await answered.leave()
            await outgoing.leave()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aPersonWhoseKeysTheUserHasNotAcceptedIsNotCalled() async throws {
        try await Self.withFriends { relay, folder, alice, bob in
            let carol = try await Self.create("carol", relay, in: folder)
            await #expect(throws: CallFailure.trust(.stranger(carol.handle))) {
                try await alice.peopleForCall([bob.handle, carol.handle])
            }
            let planted = try DeviceSecrets.generate(for: bob.handle, withIdentity: false)
            let client = await bob.home.client
            _ = try await client.addDevice(try await client.deviceCard(planted), by: bob.secrets)
            var change: KeyChange?
            do throws(CallFailure) { _ = try await alice.peopleForCall([bob.handle]) } catch {
                if case .changed(let found) = error { change = found }
                #expect(!"\(error)".contains("bob"))
            }
            let found = try #require(change)
            #expect(found.handle == bob.handle && found.change.added.count == 1)
            _ = try await alice.accept(found)
            #expect(try await alice.peopleForCall([bob.handle]).devices.count == 2)
            await carol.close()
        }
    }

    private struct Unexpected: Error {}
}

extension RingOutcome {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
