// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import SealedMessages
import SecretMemory
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization
import Testing

@testable import Signet

/// Apps over a real server: the accounts' own checks, and the requests that they refuse.
@Suite struct AccountTests {
    private static let passphrase = "a passphrase that nobody guesses: heron, kettle, ninety"
    private static let context = "com.example.chat"

    private static let surroundings = surroundings(Surroundings.system.now)

    /// Surroundings in which no wait ends before the test.
    /// - Parameter onWait: called before each wait, with its length.
    private static func surroundings(
        _ now: @escaping @Sendable () -> UInt64, onWait: @escaping @Sendable (Duration) -> Void = { _ in }
    ) -> Surroundings {
        Surroundings(
            now: now,
            wait: {
                onWait($0)
                try? await Task.sleep(for: .seconds(86_400))
            },
            randomBytes: Surroundings.system.randomBytes)
    }

    private static func create(
        _ name: String, _ directory: TestDirectory, in folder: String, surroundings: Surroundings = surroundings
    ) async throws -> Account {
        try await Account.create(
            Handle(name), at: directory.profile, in: HomeFolder(path: folder + "/" + name),
            passphrase: SecretBytes(copying: passphrase.utf8), surroundings: surroundings)
    }

    /// Alice and Bob, who know each other.
    private static func withFriends(
        attack: Attack? = nil,
        _ body:
            @Sendable @escaping (TestDirectory, _ folder: String, _ alice: Account, _ bob: Account) async throws -> Void
    ) async throws {
        try await TestDirectory.run(attack: attack) { directory in
            try await withTemporaryFolder { folder in
                let alice = try await create("alice@example.org", directory, in: folder)
                let bob = try await create("bob@example.org", directory, in: folder)
                _ = try await alice.add(bob.handle)
                #expect(try await bob.requests() == [alice.handle])
                _ = try await bob.accept(alice.handle)
                try await body(directory, folder, alice, bob)
                await alice.close()
                await bob.close()
            }
        }
    }

    @Test func meet_sendsARequestOrAcceptsTheOthersRequest() async throws {
        try await TestDirectory.run { directory in
            try await withTemporaryFolder { folder in
                let alice = try await Self.create("alice@example.org", directory, in: folder)
                let bob = try await Self.create("bob@example.org", directory, in: folder)
                #expect(try await alice.meet(bob.handle).handle == bob.handle)
                #expect(try await bob.requests() == [alice.handle], "alice has asked")
                let met = try await bob.meet(alice.handle)
                #expect(met.handle == alice.handle && met.isFirstContact)
                #expect(try await bob.requests().isEmpty, "bob has accepted, and did not ask in turn")
                #expect(try await !alice.meet(bob.handle).isFirstContact, "meeting again changes nothing")
                let statuses = try await alice.home.client.friends(of: alice.secrets).map(\.1)
                #expect(statuses == [.accepted])
                await alice.close()
                await bob.close()
            }
        }
    }

    /// An account that is not registered yet is waited for only if the app asks for it.
    @Test func meet_waitsForAnAccountOnlyIfTheAppSaysSo() async throws {
        try await TestDirectory.run { directory in
            try await withTemporaryFolder { folder in
                let bob = Mutex<Account?>(nil)
                let waits = Surroundings(
                    now: Surroundings.system.now,
                    wait: { pause in
                        // The wait of the account's own monitor does not end before the test.
                        guard pause == .seconds(7) else { return (try? await Task.sleep(for: .seconds(86_400))) ?? () }
                        let made = try? await Self.create("bob@example.org", directory, in: folder)
                        bob.withLock { $0 = made }
                    }, randomBytes: Surroundings.system.randomBytes)
                let alice = try await Self.create("alice@example.org", directory, in: folder, surroundings: waits)
                let handle = try Handle("bob@example.org")
                let refusal = await #expect(throws: SignetError.self) { try await alice.meet(handle) }
                #expect(refusal?.isUnknownHandle == true)
                #expect(try await alice.meet(handle, every: .seconds(7)).handle == handle)
                let made = try #require(bob.withLock { $0 })
                #expect(try await made.requests() == [alice.handle])
                await alice.close()
                await made.close()
            }
        }
    }

    @Test func aMessageToAFriendOpensOnTheirDeviceAndNamesItsSender() async throws {
        try await Self.withFriends { _, folder, alice, bob in
            let message = try await alice.seal("café ☕".utf8, to: [bob.handle], for: Self.context)
            let opened = try await bob.open(message.encoded, for: Self.context)
            #expect(opened.content.sender.handle == alice.handle)
            #expect(opened.content.body == Array("café ☕".utf8))
            #expect(opened.content.text == "café ☕")
            #expect(opened.content.date == Date(timeIntervalSince1970: TimeInterval(opened.content.time)))
            let text = try await alice.seal("café ☕" as String, to: [bob.handle], for: Self.context)
            #expect(try await bob.open(text.encoded, for: Self.context).content.body == Array("café ☕".utf8))
            #expect(try await alice.open(message.encoded, for: Self.context) == opened, "one's own devices open it too")
            // Closed and opened again, from the files on the disk.
            await bob.close()
            let again = try await Account.open(
                in: HomeFolder(path: folder + "/bob@example.org"),
                passphrase: SecretBytes(copying: Self.passphrase.utf8), surroundings: Self.surroundings)
            #expect(try await again.open(message.encoded, for: Self.context) == opened)
            await again.close()
        }
    }

    @Test func messagesToAndFromStrangersAreRefused() async throws {
        try await Self.withFriends { directory, folder, alice, bob in
            let carol = try await Self.create("carol@example.org", directory, in: folder)
            await #expect(throws: SignetError.stranger(bob.handle)) {
                try await carol.seal("hello".utf8, to: [bob.handle], for: Self.context)
            }
            _ = try await carol.add(bob.handle)
            let message = try await carol.seal("hello".utf8, to: [bob.handle], for: Self.context)
            await #expect(throws: SignetError.stranger(carol.handle)) {
                try await bob.open(message.encoded, for: Self.context)
            }
            await #expect(throws: SignetError.message(.notForThisDevice)) {
                try await alice.open(message.encoded, for: Self.context)
            }
            await carol.close()
        }
    }

    @Test func seal_refusesAKeyThatTheServerSwapped() async throws {
        try await Self.withFriends(attack: .swappedKey) { directory, folder, alice, bob in
            let home = HomeFolder(path: folder + "/alice@example.org")
            await alice.close()
            try home.directory.replace(with: directory.lyingProfile.encoded)
            let deceived = try await Account.open(
                in: home, passphrase: SecretBytes(copying: Self.passphrase.utf8), surroundings: Self.surroundings)
            var refusal: LookupRefusal?
            do throws(SignetError) {
                _ = try await deceived.seal("secret".utf8, to: [bob.handle], for: Self.context)
            } catch {
                if case .client(.lookup(let found)) = error { refusal = found }
            }
            let found = try #require(refusal, "the check is named")
            // The text that an app writes into its log names no people, and contains no bytes of the server.
            let path = folder + "/\(bob.handle)"
            for error in [
                SignetError.client(.lookup(found)), .client(.withheld(bob.handle)), .stranger(bob.handle),
                .file(.notFound, path: path), .directoryFile(.file(.notFound), path: path),
                .keystore(.unknownFormat, path: path), .store(.damaged, path: path), .noAccount(folder: path),
            ] {
                let said = "\(error) \(error.localizedDescription)"
                #expect(!said.contains("bob") && said.utf8.count < 500, "\(said)")
            }
            #expect("\(SignetError.client(.lookup(found)))".contains("\(found.error.check)"))
            #expect("\(found)".contains("\(found.error.check)") && !"\(found)".contains("bob"), "\(found)")
            await deceived.close()
        }
    }

    /// The contact added a device that alice has not accepted.
    @Test func aContactsNewDeviceNeitherSendsNorReadsUntilTheUserAcceptsIt() async throws {
        try await Self.withFriends { directory, _, alice, bob in
            let planted = try DeviceSecrets.generate(for: bob.handle, withIdentity: false)
            let client = await bob.home.client
            let card = try await client.deviceCard(planted)
            _ = try await client.addDevice(card, by: bob.secrets)
            let old = try await bob.seal("from the old device".utf8, to: [alice.handle], for: Self.context)
            let other = try await Account(OpenHome(bob.home.folder, in: Self.surroundings), planted)
            let new = try await other.seal("from the new one".utf8, to: [alice.handle], for: Self.context)

            await alice.forgetKnown()
            var change: KeyChange?
            do throws(SignetError) {
                _ = try await alice.seal("to Bob".utf8, to: [bob.handle], for: Self.context)
            } catch {
                if case .changed(let found) = error { change = found }
            }
            let found = try #require(change)
            #expect(found.handle == bob.handle && found.change.added.count == 1 && !found.change.identityKeyChanged)
            #expect(try await alice.open(old.encoded, for: Self.context).content.sender.handle == bob.handle)
            await #expect(throws: SignetError.changed(found)) { try await alice.open(new.encoded, for: Self.context) }

            #expect(try await alice.accept(found).deviceCount == 2)
            #expect(try await alice.open(new.encoded, for: Self.context).content.body == Array("from the new one".utf8))
            let message = try await alice.seal("to both".utf8, to: [bob.handle], for: Self.context)
            #expect(try await other.open(message.encoded, for: Self.context).content.body == Array("to both".utf8))
            await other.close()
        }
    }

    /// No call is needed: an app that only reads the events learns of it within a day.
    @Test func aChangeThatTheOwnersDeviceDidNotMakeIsAnEvent() async throws {
        let time = Mutex(Surroundings.system.now())
        let now: @Sendable () -> UInt64 = { time.withLock { $0 } }
        try await TestDirectory.run(clock: now) { directory in
            try await withTemporaryFolder { folder in
                let pauses = AsyncStream.makeStream(of: Void.self)
                let alice = try await Self.create(
                    "alice@example.org", directory, in: folder,
                    surroundings: Self.surroundings(now) { if $0 == .seconds(3600) { pauses.continuation.yield() } })
                // The account's own first look is over, and does not come when the time has moved and nobody has stolen anything yet.
                for await _ in pauses.stream { break }
                await alice.look()
                time.withLock { $0 += 86_400 }
                // Another client with the same identity key, as after a theft.
                let planted = try DeviceSecrets.generate(for: alice.handle, withIdentity: false)
                let thief = try directory.client(alice.secrets, now: now)
                _ = try await thief.lookup(alice.handle)
                _ = try await thief.addDevice(
                    try await directory.client(planted, now: now).deviceCard(planted), by: alice.secrets)
                await alice.look()
                await alice.close()
                var alarms: [MonitorAlarm] = []
                // This server has logged no pins, which is found as well.
                for await event in alice.events {
                    if case .found(.ownAccount(let alarm)) = event { alarms.append(alarm) }
                }
                #expect(alarms == [.unknownVersion(2), .unknownDevice(planted.keys.signing)])
            }
        }
    }

    /// Pins are kept in the directory file, by this program or another one. An open account uses them, and a call that
    /// was under way meanwhile does not restore the earlier file.
    @Test func anOpenAccountUsesTheReplacedDirectoryFile() async throws {
        try await Self.withFriends(attack: .garbage) { directory, _, alice, _ in
            let before = await alice.home.profile
            let kept = directory.lyingProfile
            _ = try await alice.run { _ throws(ClientError) in
                do throws(FileFault) { try await alice.home.folder.directory.replace(with: kept.encoded) } catch {
                    throw .store(.file(error))
                }
                await alice.look()
            }
            let after = await alice.home.profile
            #expect(after == kept && after != before)
            await alice.close()
            for await event in alice.events where event == .directoryKeysChanged {
                Issue.record("the keys are the same")
            }
        }
    }

    /// The first check needs no call: the account has made it when it begins to wait for the next one.
    @Test func anOpenAccountChecksItselfWithoutACall() async throws {
        try await TestDirectory.run { directory in
            try await withTemporaryFolder { folder in
                let (surroundings, waits) = Surroundings.announcingWaits()
                let alice = try await Self.create(
                    "alice@example.org", directory, in: folder, surroundings: surroundings)
                for await _ in waits { break }
                await alice.close()
                var events: [AccountEvent] = []
                for await event in alice.events { events.append(event) }
                #expect(events == [.found(.refused(.pins, .pins(.withheld)))], "this server has logged no pins")
            }
        }
    }

    @Test func wrongFoldersAndPassphrasesAreReported() async throws {
        try await TestDirectory.run { directory in
            try await withTemporaryFolder { folder in
                let handle = try Handle("dora@example.org")
                let home = HomeFolder(path: folder + "/dora")
                await #expect(throws: SignetError.noAccount(folder: home.path)) {
                    try await Account.open(in: home, passphrase: SecretBytes(copying: Self.passphrase.utf8))
                }
                await #expect(throws: SignetError.weakPassphrase(.short(6))) {
                    try await Account.create(
                        handle, at: directory.profile, in: home, passphrase: SecretBytes(copying: "secret".utf8))
                }
                #expect(!home.keystore.exists, "no keystore was made")
                let dora = try await Self.create("dora@example.org", directory, in: folder)
                await dora.close()
                let made = HomeFolder(path: folder + "/dora@example.org")
                await #expect(throws: SignetError.isTaken(folder: made.path, by: .sameAccount(handle))) {
                    try await Self.create("dora@example.org", directory, in: folder)
                }
                await #expect(throws: SignetError.keystore(.wrongPassphraseOrDamaged, path: made.keystore.path)) {
                    try await Account.open(in: made, passphrase: SecretBytes(copying: "not the one".utf8))
                }
                await #expect(throws: SignetError.isTaken(folder: made.path, by: .account(handle))) {
                    try await Account.create(
                        Handle("eve@example.org"), at: directory.profile, in: made,
                        passphrase: SecretBytes(copying: Self.passphrase.utf8))
                }
            }
        }
    }
}

extension Account {
    /// Has the effect of ``freshness`` seconds that have passed.
    fileprivate func forgetKnown() { known = [:] }
}
