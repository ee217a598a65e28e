// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import Testing

/// The checkpoint in a friend request that a lying directory delivers.
@Suite struct FriendRequestTests {
    /// Bob has asked alice. The transport stands between alice and her directory.
    private func withRequest(
        _ body: @Sendable @escaping (TestDirectory, _ alice: DeviceSecrets, _ bob: DeviceSecrets) async throws -> Void
    ) async throws {
        try await TestDirectory.run { directory in
            let (_, alice) = try await directory.person("alice@example.org")
            let (bobClient, bob) = try await directory.person("bob@example.org")
            _ = try await bobClient.addFriend(alice.handle, by: bob).pinning.value.get()
            try await body(directory, alice, bob)
        }
    }

    /// A directory that shows another request than it has; nil shows none.
    private func client(
        _ secrets: DeviceSecrets, at directory: TestDirectory, shown request: [UInt8]?
    ) throws -> Client<InMemoryStore> {
        let answer =
            request.map { TransportResponse(status: 200, mediaType: Route.nativeMediaType, body: $0) }
            ?? TransportResponse(
                status: 404, mediaType: "application/json", body: Array(#"{"error":"not_found"}"#.utf8))
        let transport = try ScriptedTransport(NIOTransport(to: directory.profile)) { request, _ in
            request.path == Route.signedFriendRequest.path ? .answer(answer) : .pass
        }
        return try directory.client(secrets, over: transport)
    }

    /// A request to `handle`, signed by a device.
    private func request(
        by secrets: DeviceSecrets, to handle: String, checkpoint: String?, origin: String = "example.org/log",
        signedOver signed: [UInt8]? = nil
    ) throws -> [UInt8] {
        let member = checkpoint.map { #""checkpoint":"\#($0)","# } ?? ""
        let body = Array(#"{\#(member)"handle":"\#(handle)"}"#.utf8)
        let content = RequestSignature.Content(.addFriend, origin: Array(origin.utf8), body: signed ?? body)
        let signature = try RequestSignature(
            content, deviceKey: secrets.keys.signing, time: 5000, nonce: [UInt8](repeating: 1, count: 16),
            sign: secrets.sign)
        return try SignedFriendRequest(isAgreement: false, signature: signature, body: body).encoded
    }

    private func expectRefusal(
        _ error: FriendRequestError, of bob: Handle, by alice: Client<InMemoryStore>, _ secrets: DeviceSecrets,
        at line: SourceLocation = #_sourceLocation
    ) async throws {
        await #expect(throws: ClientError.friendRequest(bob, error), sourceLocation: line) {
            try await alice.acceptFriend(bob, by: secrets)
        }
        #expect(try await alice.store.people().isEmpty, sourceLocation: line)
        #expect(try await alice.store.metFriends().isEmpty, sourceLocation: line)
        #expect(try await alice.friends(of: secrets).map(\.1) == [.invited], sourceLocation: line)
    }

    @Test func bothSidesCompareCheckpointsOnce() async throws {
        try await withRequest { directory, alice, bob in
            let hers = try directory.client(alice)
            let friendship = try await hers.acceptFriend(bob.handle, by: alice)
            #expect(friendship.request?.met == .oneHistory)
            #expect(try await friendship.pinning.value.get().isFirstContact)
            #expect(try await hers.meetFriends(hers.friends(of: alice), by: alice).isEmpty, "she has met him")
            let his = try directory.client(bob)
            let met = try await his.meetFriends(his.friends(of: bob), by: bob)
            #expect(try met[alice.handle]?.get().met == .oneHistory)
            #expect(try await his.meetFriends(his.friends(of: bob), by: bob).isEmpty)
        }
    }

    @Test func aWithheldRequestIsNotAccepted() async throws {
        try await withRequest { directory, alice, bob in
            try await expectRefusal(
                .withheld, of: bob.handle, by: client(alice, at: directory, shown: nil), alice)
        }
    }

    @Test func aRequestWithoutItsCheckpointIsNotAccepted() async throws {
        try await withRequest { directory, alice, bob in
            let bare = try request(by: bob, to: "alice@example.org", checkpoint: nil)
            try await expectRefusal(.noCheckpoint, of: bob.handle, by: client(alice, at: directory, shown: bare), alice)
        }
    }

    @Test func aRequestWithAnExchangedCheckpointIsNotAccepted() async throws {
        try await withRequest { directory, alice, bob in
            let other = Array(#"{"checkpoint":"AA==","handle":"alice@example.org"}"#.utf8)
            let changed = try request(by: bob, to: "alice@example.org", checkpoint: "AQ==", signedOver: other)
            try await expectRefusal(
                .invalidSignature, of: bob.handle, by: client(alice, at: directory, shown: changed), alice)
        }
    }

    @Test func aRequestToAnotherDirectoryIsNotAccepted() async throws {
        try await withRequest { directory, alice, bob in
            let other = try request(by: bob, to: "alice@example.org", checkpoint: "AA==", origin: "example.com/log")
            try await expectRefusal(
                .invalidSignature, of: bob.handle, by: client(alice, at: directory, shown: other), alice)
        }
    }

    @Test func aRequestToAnotherPersonIsNotAccepted() async throws {
        try await withRequest { directory, alice, bob in
            let other = try request(by: bob, to: "carol@example.org", checkpoint: "AA==")
            try await expectRefusal(.forAnother, of: bob.handle, by: client(alice, at: directory, shown: other), alice)
        }
    }

    @Test func aRequestSignedByAnotherPersonsDeviceIsNotAccepted() async throws {
        try await withRequest { directory, alice, bob in
            let forged = try request(by: alice, to: "alice@example.org", checkpoint: "AA==")
            try await expectRefusal(
                .anotherDevice, of: bob.handle, by: client(alice, at: directory, shown: forged), alice)
        }
    }

    @Test func bytesThatAreNoRequestAreNotAccepted() async throws {
        try await withRequest { directory, alice, bob in
            try await expectRefusal(
                .malformed, of: bob.handle, by: client(alice, at: directory, shown: [1, 2, 3]), alice)
        }
    }

    /// The directory shows alice a forked log: only bob's request reveals it to her.
    @Test func aFriendRequestProvesAFork() async throws {
        try await TestDirectory.run(attack: .forkedWitness) { directory in
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let (_, aliceSecrets) = try await directory.person("alice@example.org")
            let alice = try directory.client(aliceSecrets, over: NIOTransport(to: directory.lyingProfile))
            _ = try await alice.lookup(bobSecrets.handle)
            for name in ["carol", "dave", "erin"] { _ = try await directory.person("\(name)@example.org") }
            _ = try await bob.lookup(bobSecrets.handle)
            _ = try await bob.addFriend(aliceSecrets.handle, by: bobSecrets).pinning.value.get()
            do throws(ClientError) {
                _ = try await alice.acceptFriend(bobSecrets.handle, by: aliceSecrets)
                Issue.record("a fork was not seen")
            } catch {
                guard case .forkMet(let fork) = error else { throw error }
                #expect(try await alice.store.metForks() == [fork])
                #expect(throws: Never.self) {
                    try EvidenceVerifier(policy: directory.profile.trust.policy).verify(.fork(fork))
                }
            }
            #expect(try await alice.store.people().isEmpty)
        }
    }

    /// In the other direction: the person who asked learns of the fork from the other's agreement.
    @Test func anAgreementToARequestProvesAFork() async throws {
        try await TestDirectory.run(attack: .forkedWitness) { directory in
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let (trusting, aliceSecrets) = try await directory.person("alice@example.org")
            _ = try await trusting.addFriend(bobSecrets.handle, by: aliceSecrets).pinning.value.get()
            let alice = try directory.client(aliceSecrets, over: NIOTransport(to: directory.lyingProfile))
            _ = try await alice.lookup(bobSecrets.handle)
            for name in ["carol", "dave", "erin"] { _ = try await directory.person("\(name)@example.org") }
            _ = try await bob.lookup(bobSecrets.handle)
            _ = try await bob.acceptFriend(aliceSecrets.handle, by: bobSecrets).pinning.value.get()
            let met = try await alice.meetFriends(alice.friends(of: aliceSecrets), by: aliceSecrets)
            guard case .failure(.forkMet(let fork))? = met[bobSecrets.handle] else {
                throw Unexpected("no fork was met")
            }
            #expect(try await alice.store.metForks() == [fork])
        }
    }
}
