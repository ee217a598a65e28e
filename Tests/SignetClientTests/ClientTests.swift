// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import Testing
import TransparencyLog

@Suite struct ClientTests {
    private static func handle(_ name: String) throws -> Handle { try Handle(typed: Array(name.utf8)) }

    private static func device(of secrets: DeviceSecrets) throws -> DeviceSecrets {
        try DeviceSecrets.generate(for: secrets.handle, withIdentity: false)
    }

    // MARK: The own account

    @Test func aNewAccountIsProvenByTheLogAndPinned() async throws {
        try await TestDirectory.run { directory in
            let secrets = try DeviceSecrets.generate(
                for: Self.handle("alice@example.org"), withIdentity: true)
            let client = try directory.client(secrets)
            let verdict = try await client.createAccount(secrets)
            #expect(verdict.keys?.devices.map(\.keys) == [secrets.keys.listed])
            #expect(verdict.isOwn)
            let own = try await client.store.ownRecord()
            #expect(own.pending == nil && own.highestDeviceNumber == 1)
            #expect(own.watch == .beginning && own.acts.map(\.version) == [1])
            #expect(try await client.store.pinnedPeer(secrets.handle)?.version == 1)
        }
    }

    @Test func aLostAnswerToRegistrationIsSettledByTheLog() async throws {
        try await TestDirectory.run { directory in
            let secrets = try DeviceSecrets.generate(
                for: Self.handle("alice@example.org"), withIdentity: true)
            let store = InMemoryStore()
            let lossy = ScriptedTransport(try NIOTransport(to: directory.profile)) { request, _ in
                request.path == Route.register.path ? .loseAnswer(.closedEarly) : .pass
            }
            let first = try directory.client(secrets, over: lossy, remembering: store)
            await #expect(throws: ClientError.transport(.closedEarly)) {
                try await first.createAccount(secrets)
            }
            #expect(lossy.paths.count { $0 == Route.register.path } == 1, "a write was sent twice")
            let verdict = try await directory.client(secrets, remembering: store).createAccount(secrets)
            #expect(verdict.version == 1)
            #expect(try await store.ownRecord().pending == nil)
        }
    }

    @Test func aLostRegistrationIsSentAgain() async throws {
        try await TestDirectory.run { directory in
            let secrets = try DeviceSecrets.generate(
                for: Self.handle("alice@example.org"), withIdentity: true)
            let store = InMemoryStore()
            let lossy = ScriptedTransport(try NIOTransport(to: directory.profile)) { request, _ in
                request.path == Route.register.path ? .lose(.unreachable) : .pass
            }
            let first = try directory.client(secrets, over: lossy, remembering: store)
            await #expect(throws: ClientError.transport(.unreachable)) {
                try await first.createAccount(secrets)
            }
            let verdict = try await directory.client(secrets, remembering: store).createAccount(secrets)
            #expect(verdict.keys?.devices.count == 1)
        }
    }

    @Test(arguments: [(429, true), (502, true), (503, true), (504, true), (500, false), (403, false)])
    func aProxyThatDoesNotReachTheDirectoryIsNoLiar(status: Int, mayPass: Bool) async throws {
        try await TestDirectory.run { directory in
            let (_, secrets) = try await directory.person("alice@example.org")
            let page = Array("<html><body>503 Service Unavailable</body></html>".utf8)
            for body in [page, []] {
                let proxy = ScriptedTransport(try NIOTransport(to: directory.profile)) { _, _ in
                    .answer(TransportResponse(status: status, mediaType: "text/html", retryAfter: 7, body: body))
                }
                let expected: ClientError =
                    mayPass ? .notReached(status: status, retryAfter: 7) : .unexpectedStatus(status)
                #expect(expected.family == (mayPass ? .environment : .peer))
                let client = try directory.client(secrets, over: proxy)
                await #expect(throws: expected) { _ = try await client.lookup(secrets.handle) }
            }
        }
    }

    @Test func aTakenHandleIsRefusedAndNoKeyIsPinned() async throws {
        try await TestDirectory.run { directory in
            _ = try await directory.person("alice@example.org")
            let mallory = try DeviceSecrets.generate(
                for: Self.handle("alice@example.org"), withIdentity: true)
            let client = try directory.client(mallory)
            await #expect(throws: ClientError.refused(.handleTaken, retryAfter: nil)) {
                try await client.createAccount(mallory)
            }
            #expect(try await client.store.pinnedPeers().isEmpty)
            #expect(try await client.store.ownRecord().pending == nil)
        }
    }

    @Test func devicesAreAddedAndRevokedAndNumbersAreNeverGivenTwice() async throws {
        try await TestDirectory.run { directory in
            let (client, secrets) = try await directory.person("alice@example.org")
            let second = try Self.device(of: secrets)
            let joining = try directory.client(second)
            let added = try await client.addDevice(joining.linkCard(second), by: secrets)
            #expect(added.keys?.devices.map(\.number) == [1, 2])
            try await joining.acceptCompared(joining.accountToConfirm())
            #expect(try await joining.lookup(secrets.handle).verdict.keys?.devices.count == 2)
            let revoked = try await client.revokeDevice(2, by: secrets)
            #expect(revoked.keys?.devices.map(\.number) == [1])
            let third = try Self.device(of: secrets)
            let again = try await client.addDevice(directory.client(third).deviceCard(third), by: secrets)
            #expect(again.keys?.devices.map(\.number) == [1, 3])
        }
    }

    @Test func impossibleChangesOfDevicesAreRefusedLocally() async throws {
        try await TestDirectory.run { directory in
            let (client, secrets) = try await directory.person("alice@example.org")
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let own = try await client.deviceCard(secrets)
            let other = try await bob.deviceCard(bobSecrets)
            await #expect(throws: ClientError.misuse(.deviceAlreadyAdded(1))) {
                try await client.addDevice(own, by: secrets)
            }
            await #expect(throws: ClientError.misuse(.anotherAccount(bobSecrets.handle))) {
                try await client.addDevice(other, by: secrets)
            }
            await #expect(throws: ClientError.misuse(.noSuchDevice(9))) {
                try await client.revokeDevice(9, by: secrets)
            }
            await #expect(throws: ClientError.misuse(.ownDevice)) {
                try await client.revokeDevice(1, by: secrets)
            }
            let second = try Self.device(of: secrets)
            let joining = try directory.client(second)
            await #expect(throws: ClientError.misuse(.identityKeyElsewhere)) {
                try await joining.addDevice(own, by: second)
            }
        }
    }

    @Test func aDeviceThatThisOneDidNotAddRaisesTheAlarm() async throws {
        try await TestDirectory.run { directory in
            let (client, secrets) = try await directory.person("alice@example.org")
            // Another client with the same identity key, as after a theft.
            let store = InMemoryStore()
            let thief = try directory.client(secrets, remembering: store)
            _ = try await thief.lookup(secrets.handle)
            let planted = try Self.device(of: secrets)
            _ = try await thief.addDevice(directory.client(planted).deviceCard(planted), by: secrets)

            let verdict = try await client.lookup(secrets.handle).verdict
            #expect(verdict.isOwn)
            #expect(verdict.keys == nil)
            guard case .changed(let change) = verdict.outcome else { throw Unexpected(verdict.outcome) }
            #expect(change.added.map(\.keys.signing) == [planted.keys.signing])
            await #expect(throws: ClientError.ownAccountChanged(change)) {
                try await client.revokeDevice(2, by: secrets)
            }
        }
    }

    // MARK: Other people

    @Test func aFriendIsPinnedInTheBackground() async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            let asked = try await alice.addFriend(bobSecrets.handle, by: aliceSecrets)
            guard case .firstPinned(let keys) = try await asked.pinning.value.get().outcome else {
                throw Unexpected(asked)
            }
            #expect(keys.devices.map(\.keys) == [bobSecrets.keys.listed])
            #expect(try await bob.friends(of: bobSecrets).map(\.1) == [.invited])
            let accepted = try await bob.acceptFriend(aliceSecrets.handle, by: bobSecrets)
            #expect(try await accepted.pinning.value.get().keys != nil)
            #expect(try await alice.friends(of: aliceSecrets).map(\.1) == [.accepted])
            #expect(try await alice.store.pinnedPeer(bobSecrets.handle) != nil)
        }
    }

    @Test func aStrangerIsVerifiedButNeitherPinnedNorUsable() async throws {
        try await TestDirectory.run { directory in
            let (_, bob) = try await directory.person("bob@example.org")
            let client = try directory.client(nil)
            let verdict = try await client.lookup(bob.handle).verdict
            #expect(verdict.outcome == .stranger)
            #expect(verdict.keys == nil)
            #expect(try await client.store.pinnedPeers().isEmpty)
        }
    }

    @Test func aChangeBlocksUntilExactlyThatChangeIsAccepted() async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            _ = await (try await alice.addFriend(bobSecrets.handle, by: aliceSecrets)).pinning.value
            await #expect(throws: ClientError.misuse(.nothingToAccept)) {
                try await alice.trust(bobSecrets.handle, accepting: [])
            }
            let second = try Self.device(of: bobSecrets)
            _ = try await bob.addDevice(directory.client(second).deviceCard(second), by: bobSecrets)
            let seen = try await alice.lookup(bobSecrets.handle).verdict
            #expect(seen.keys == nil)
            let third = try Self.device(of: bobSecrets)
            _ = try await bob.addDevice(directory.client(third).deviceCard(third), by: bobSecrets)
            await #expect(throws: ClientError.misuse(.changeHasMoved)) {
                try await alice.trust(bobSecrets.handle, accepting: seen.stateHash)
            }
            let now = try await alice.lookup(bobSecrets.handle).verdict
            #expect(
                try await alice.trust(bobSecrets.handle, accepting: now.stateHash).keys?.devices.count == 3)
            guard case .matched = try await alice.lookup(bobSecrets.handle).verdict.outcome else {
                throw Unexpected(now)
            }
        }
    }

    @Test func aHandleThatIsNotRegisteredIsProvedAbsent() async throws {
        try await TestDirectory.run { directory in
            let client = try directory.client(nil)
            let nobody = try Self.handle("nobody@example.org")
            for count in 0..<3 as Range<UInt64> {
                guard case .absent(let absence, _) = try await client.lookup(nobody) else { throw Unexpected(count) }
                #expect(absence.handle == nobody)
                #expect(absence.epoch.record.labelCount == count)
                _ = try await directory.person("person\(count)@example.org")
            }
            let answer = try await client.lookup(nobody)
            #expect(answer.epoch.record.number > 1)
            #expect(throws: ClientError.self) { try answer.verdict }
        }
    }

    @Test func aDenialWithoutProofIsReportedAsWithheld() async throws {
        try await TestDirectory.run { directory in
            let denying = ScriptedTransport(try NIOTransport(to: directory.profile)) { _, _ in
                .answer(
                    TransportResponse(
                        status: 404, mediaType: "application/json",
                        body: Array(#"{"error":"not_found"}"#.utf8)))
            }
            let client = try directory.client(nil, over: denying)
            let nobody = try Self.handle("nobody@example.org")
            await #expect(throws: ClientError.withheld(nobody)) { try await client.lookup(nobody) }
        }
    }

    @Test func aContactsHistoryIsKeptAndGrowsWithEachAcceptedChange() async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            _ = await (try await alice.addFriend(bobSecrets.handle, by: aliceSecrets)).pinning.value
            #expect(try await alice.store.pinnedPeer(bobSecrets.handle)?.history.count == 2)
            let second = try Self.device(of: bobSecrets)
            _ = try await bob.addDevice(directory.client(second).deviceCard(second), by: bobSecrets)
            let seen = try await alice.lookup(bobSecrets.handle).verdict
            #expect(try await alice.store.pinnedPeer(bobSecrets.handle)?.history.count == 2)
            _ = try await alice.trust(bobSecrets.handle, accepting: seen.stateHash)
            #expect(try await alice.store.pinnedPeer(bobSecrets.handle)?.history.count == 4)
        }
    }

    @Test func anErasedAccountIsProvedClosedAndItsLastEntryIsKept() async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (_, bob) = try await directory.person("bob@example.org")
            _ = await (try await alice.addFriend(bob.handle, by: aliceSecrets)).pinning.value
            try await directory.erase(bob.handle)
            for client in [alice, try directory.client(nil)] {
                guard case .closed(let closure, _) = try await client.lookup(bob.handle) else {
                    throw Unexpected(bob.handle)
                }
                #expect(closure.version == 2)
            }
            #expect(try await alice.store.pinnedPeer(bob.handle)?.history.count == 3)
        }
    }

    // MARK: Retries

    @Test func onlyErrorsOfTheEnvironmentAreRetriedAndOnlyForReads() async throws {
        try await TestDirectory.run { directory in
            let (_, bob) = try await directory.person("bob@example.org")
            let flaky = ScriptedTransport(try NIOTransport(to: directory.profile)) { _, number in
                number < 3 ? .lose(.timedOut(.reading)) : .pass
            }
            let client = try directory.client(nil, over: flaky)
            #expect(try await client.lookup(bob.handle).verdict.outcome == .stranger)
            #expect(flaky.paths.count == 3)
            let lying = ScriptedTransport(try NIOTransport(to: directory.profile)) { _, _ in
                .lose(.malformedResponse)
            }
            let wary = try directory.client(nil, over: lying)
            await #expect(throws: ClientError.transport(.malformedResponse)) {
                try await wary.lookup(bob.handle)
            }
            #expect(lying.paths.count == 1)
        }
    }

    // MARK: What is remembered

    @Test(arguments: [InMemoryStore.Fault.beforeWriting, .afterWriting])
    func aLookupWhoseViewCannotBeStoredReturnsNoKeys(_ fault: InMemoryStore.Fault) async throws {
        try await TestDirectory.run { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org")
            let (_, bob) = try await directory.person("bob@example.org")
            _ = await (try await alice.addFriend(bob.handle, by: aliceSecrets)).pinning.value
            _ = try await directory.person("carol@example.org")
            await alice.store.failNextWrite(fault)
            await #expect(throws: ClientError.store(.noSpace)) { try await alice.lookup(bob.handle) }
            #expect(try await alice.lookup(bob.handle).verdict.keys != nil)
        }
    }

    @Test func aSecondProcessThatMovedTheViewMakesTheLookupRepeat() async throws {
        try await TestDirectory.run { directory in
            let (_, bob) = try await directory.person("bob@example.org")
            let store = InMemoryStore()
            let other = try directory.client(nil, remembering: store)
            let racing = RacingTransport(try NIOTransport(to: directory.profile)) {
                _ = try? await other.lookup(bob.handle)
            }
            let verdict = try await directory.client(nil, over: racing, remembering: store).lookup(bob.handle).verdict
            #expect(verdict.known != nil, "the answer was verified against a view that had moved")
        }
    }

    /// Such as the daily check, between the directory's receipt and the look at the log: the change was logged, and the directory told no lie.
    @Test func aChangeThatAnotherTaskHasSeenInTheLogFirstIsDone() async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let (other, secrets) = try await directory.person("alice@example.org", remembering: store)
            let racing = RacingTransport(try NIOTransport(to: directory.profile), after: Route.updateState.path) {
                _ = try? await other.lookup(secrets.handle)
            }
            let client = try directory.client(secrets, over: racing, remembering: store)
            let second = try Self.device(of: secrets)
            let added = try await client.addDevice(directory.client(second).deviceCard(second), by: secrets)
            #expect(added.keys?.devices.map(\.number) == [1, 2] && added.isOwn)
            #expect(try await store.ownRecord().pending == nil)
        }
    }

    // MARK: Attacks

    @Test(arguments: Attack.allCases)
    func everyAttackOnAKnownPersonIsStopped(_ attack: Attack) async throws {
        let store = InMemoryStore()
        try await TestDirectory.run(attack: attack) { directory in
            let (alice, aliceSecrets) = try await directory.person("alice@example.org", remembering: store)
            let (bob, bobSecrets) = try await directory.person("bob@example.org")
            _ = try await directory.person("mallory@example.org")
            let second = try Self.device(of: bobSecrets)
            _ = try await bob.addDevice(directory.client(second).deviceCard(second), by: bobSecrets)
            _ = try await directory.person("carol@example.org")
            _ = await (try await alice.addFriend(bobSecrets.handle, by: aliceSecrets)).pinning.value
            let deceived = try directory.client(
                aliceSecrets, over: NIOTransport(to: directory.lyingProfile), remembering: store)
            do throws(ClientError) {
                let verdict = try await deceived.lookup(bobSecrets.handle).verdict
                let isForMonitor = attack.stop == .monitor
                #expect((verdict.keys == nil) != isForMonitor, "\(attack) was believed: \(verdict.outcome)")
            } catch {
                #expect(error.family == .peer, "\(attack): \(error)")
                if case .lookup(let refusal) = error, case .consistency(let evidence) = refusal.error {
                    let kept = await store.keptEvidence
                    #expect(kept == [evidence])
                }
            }
        }
    }

    // MARK: The log

    @Test func verifyLog_rebuildsTheHeadOfTheCheckpoint() async throws {
        try await TestDirectory.run { directory in
            for name in ["alice", "bob", "carol"] { _ = try await directory.person("\(name)@example.org") }
            let client = try directory.client(nil)
            let replay = try await client.verifyLog()
            #expect(replay.checkpoint.checkpoint.head.size == 10)
            #expect(replay.counts.devices == 3)
            #expect(replay.counts.states == 3)
            #expect(replay.counts.epochs == 4)
            #expect(try await client.logView()?.head == replay.checkpoint.checkpoint.head)
            #expect(try await client.logTail(4).entries.map(\.index) == [6, 7, 8, 9])
        }
    }

    @Test func verifyLog_refusesAChangedEntryOrHash() async throws {
        try await TestDirectory.run { directory in
            for name in ["alice", "bob"] { _ = try await directory.person("\(name)@example.org") }
            for part in ["/tile/entries/", "/tile/0/"] {
                let inner = try NIOTransport(to: directory.profile)
                let client = try directory.client(nil, over: FlippingTransport(inner: inner, part: part))
                let error = await #expect(throws: ClientError.self) { try await client.verifyLog() }
                #expect(error?.family == .peer)
                #expect(try await client.logView() == nil)
                await #expect(throws: ClientError.self) { try await client.logTail(2) }
            }
        }
    }

    @Test func aForkFromTheKnownLogIsKeptAsEvidence() async throws {
        try await TestDirectory.run { directory in
            _ = try await directory.person("alice@example.org")
            let store = InMemoryStore()
            let head = TreeHead(size: 1, root: .leaf([1]))
            let view = LogView(uncheckedOrigin: directory.keys.log.verifierKey.name, head: head, note: [1])
            _ = try await store.advance(to: view, from: nil)
            let client = try directory.client(nil, remembering: store)
            let error = await #expect(throws: ClientError.self) { try await client.verifyLog() }
            guard case .log(.contradiction(let evidence)) = error else { throw Unexpected(error as Any) }
            #expect(try await store.evidence() == [evidence])
            #expect(try await store.logView(origin: view.origin.bytes) == view)
        }
    }
}

/// A value that the test does not expect.
struct Unexpected: Error {
    let value: String
    init(_ value: Any) { self.value = "\(value)" }
}
