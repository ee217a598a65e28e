// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import Testing

/// People who compare with each other the keys that the directory gave them.
@Suite struct ContactTests {
    @Test func bothPeopleSeeTheSameNumber_andEachAcceptsTheOthersCode() async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            await #expect(throws: ClientError.misuse(.nothingPinned)) {
                try await alice.identities(with: bobSecrets.handle)
            }
            _ = await (try await alice.addFriend(bobSecrets.handle, by: aliceSecrets)).pinning.value
            _ = await (try await bob.acceptFriend(aliceSecrets.handle, by: bobSecrets)).pinning.value
            let (hers, his) = (
                try await alice.identities(with: bobSecrets.handle), try await bob.identities(with: aliceSecrets.handle)
            )
            #expect(hers.number == his.number)
            try hers.check(his.code)
            try his.check(hers.code)
            #expect(throws: IdentityCodeError.self) { try hers.check(hers.code) }
            #expect(try await alice.comparison(with: bobSecrets.handle) == .none)
            try await alice.keepComparison(of: hers, by: .number, metOn: 20_000)
            let kept = try #require(try await alice.comparison(with: bobSecrets.handle).comparison)
            #expect(kept.metOn == 20_000 && kept.kind == .number && kept.identityKey == bobSecrets.identityKey)
            // Comparing once more, from afar, does not undo the meeting.
            try await alice.keepComparison(of: hers, by: .code, metOn: nil)
            let later = try #require(try await alice.comparison(with: bobSecrets.handle).comparison)
            #expect(later.metOn == 20_000 && later.kind == .code)
            await #expect(throws: ClientError.misuse(.yourself)) {
                try await alice.identities(with: aliceSecrets.handle)
            }
        }
    }

    /// The comparison holds for the identity key that was pinned, and not for another one.
    @Test func aComparisonIsOutdatedWhenTheIdentityKeyChanges() async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (_, bobSecrets) = try await directory.person("bob@example.org")
            _ = await (try await alice.addFriend(bobSecrets.handle, by: aliceSecrets)).pinning.value
            let identities = try await alice.identities(with: bobSecrets.handle)
            try await alice.keepComparison(of: identities, by: .code, metOn: nil)
            let pinned = try #require(try await alice.store.pinnedPeer(bobSecrets.handle))
            let other = PinnedPeer(
                uncheckedHandle: pinned.handle, identityKey: aliceSecrets.identityKey ?? [], version: pinned.version,
                stateHash: pinned.stateHash, devices: pinned.devices, history: pinned.history,
                pinnedAt: pinned.pinnedAt)
            #expect(try await alice.store.pin(other, replacing: pinned))
            guard case .outdated = try await alice.comparison(with: bobSecrets.handle) else {
                throw Unexpected("a comparison holds for another identity")
            }
            await #expect(throws: ClientError.misuse(.changeHasMoved)) {
                try await alice.keepComparison(of: identities, by: .code, metOn: nil)
            }
        }
    }

    @Test func aFirstVisitWithACardIsCheckedAndCountsAsCompared() async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let card = try await bob.contactCard(by: bobSecrets)
            let verdict = try await alice.addFriend(by: card, isAccepting: false, metOn: 20_000, by: aliceSecrets)
            #expect(verdict.isFirstContact && verdict.keys?.identityKey == bobSecrets.identityKey)
            #expect(try await alice.comparison(with: bobSecrets.handle).comparison?.kind == .card)
            #expect(try await bob.friends(of: bobSecrets).map(\.1) == [.invited])
        }
    }

    /// Without a card the first contact pins the key that a lying directory shows; with a card it is refused.
    @Test func aCardRevealsAForgedIdentityAtFirstContact() async throws {
        try await TestDirectory.run(attack: .replacedAccount) { directory in
            let (_, aliceSecrets) = try await directory.person("alice@example.org")
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let card = try await bob.contactCard(by: bobSecrets)
            let trusting = try directory.client(aliceSecrets, over: NIOTransport(to: directory.lyingProfile))
            let deceived = try await trusting.addFriend(bobSecrets.handle, by: aliceSecrets).pinning.value.get()
            #expect(deceived.keys?.identityKey != bobSecrets.identityKey, "without a comparison she is deceived")

            let careful = try directory.client(aliceSecrets, over: NIOTransport(to: directory.lyingProfile))
            await #expect(throws: ClientError.contactCard(.anotherIdentity)) {
                try await careful.addFriend(by: card, isAccepting: false, metOn: nil, by: aliceSecrets)
            }
            #expect(try await careful.store.pinnedPeers().isEmpty)
            #expect(try await careful.store.people().isEmpty)
            #expect(try await careful.comparison(with: bobSecrets.handle) == .none)
        }
    }

    /// The second log is smaller than the one that a contact has seen: the directory's own files show that it is no
    /// part of it.
    @Test func aLargerCheckpointProvesAForkOfASmallerSecondLog() async throws {
        try await TestDirectory.run(attack: .forkedWitness) { directory in
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let (_, aliceSecrets) = try await directory.person("alice@example.org")
            let alice = try directory.client(aliceSecrets, over: NIOTransport(to: directory.lyingProfile))
            _ = try await alice.lookup(bobSecrets.handle)
            #expect(try await alice.meet(#require(try await bob.card())) != .oneHistory)
            for name in ["carol", "dave", "erin"] { _ = try await directory.person("\(name)@example.org") }
            _ = try await bob.lookup(bobSecrets.handle)
            let theirs = try #require(try await bob.card())
            guard case .fork(let fork) = try await alice.meet(theirs.encoded) else {
                throw Unexpected("no fork was met")
            }
            #expect(fork.link != nil)
            #expect(throws: Never.self) {
                try EvidenceVerifier(policy: directory.profile.trust.policy).verify(.fork(fork))
            }
            #expect(try await bob.meet(#require(try await bob.card())) == .oneHistory)
            #expect(try await bob.meet([1, 2, 3]) == .otherLog)
        }
    }

    /// The card's checkpoint and the second log have one size.
    @Test func aCardProvesAForkOfTheSameSize() async throws {
        try await TestDirectory.run(attack: .forkedWitness) { directory in
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let (_, aliceSecrets) = try await directory.person("alice@example.org")
            let card = try await bob.contactCard(by: bobSecrets)
            let alice = try directory.client(aliceSecrets, over: NIOTransport(to: directory.lyingProfile))
            do throws(ClientError) {
                _ = try await alice.addFriend(by: card, isAccepting: false, metOn: nil, by: aliceSecrets)
                Issue.record("a fork was not seen")
            } catch {
                guard case .forkMet(let fork) = error else { throw error }
                #expect(try await alice.store.metForks() == [fork])
                #expect(throws: Never.self) {
                    try EvidenceVerifier(policy: directory.profile.trust.policy).verify(.fork(fork))
                }
            }
            #expect(try await alice.store.pinnedPeers().isEmpty)
        }
    }
}
