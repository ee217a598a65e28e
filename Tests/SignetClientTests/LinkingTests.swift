// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceKeystores
import KeyTransparency
import PinnedHTTP
import SecretMemory
import SignetAPI
import SignetClient
import SignetTesting
import Testing

/// Linking a further device of a person, also against a directory that interferes.
@Suite struct LinkingTests {
    private static func device(of secrets: DeviceSecrets) throws -> DeviceSecrets {
        try DeviceSecrets.generate(for: secrets.handle, withIdentity: false)
    }

    @Test func aNewDevicePinsNoAccountBeforeItsOwnerConfirms() async throws {
        try await TestDirectory.run { directory in
            let (alice, secrets) = try await directory.person("alice@example.org")
            let second = try Self.device(of: secrets)
            let joining = try directory.client(second)
            await #expect(throws: ClientError.misuse(.nothingToConfirm)) { try await joining.accountToConfirm() }
            let card = try await joining.linkCard(second)
            await #expect(throws: ClientError.misuse(.deviceNotAddedYet)) { try await joining.accountToConfirm() }
            let added = try await alice.addDevice(card, by: secrets)

            #expect(try await joining.lookup(secrets.handle).verdict.outcome == .stranger, "listed, and not accepted")
            #expect(try await joining.store.pinnedPeers().isEmpty)
            await #expect(throws: ClientError.misuse(.deviceNotAddedYet)) { try await joining.checkOwnAccount() }
            let account = try await joining.accountToConfirm()
            #expect(account.card == card)
            #expect(account.identityKey == secrets.identityKey && account.stateHash == added.stateHash)
            try await joining.acceptCompared(account)
            #expect(try await joining.lookup(secrets.handle).verdict.keys?.devices.count == 2)
            #expect(try await joining.checkOwnAccount().alarms.isEmpty)
            await #expect(throws: ClientError.misuse(.nothingToConfirm)) { try await joining.accountToConfirm() }
        }
    }

    /// The server has the card, and logs another identity over the person's devices, including the new one.
    @Test func aForgedAccountThatListsTheNewDeviceIsNotAccepted() async throws {
        try await TestDirectory.run(attack: .foreignIdentity) { directory in
            let (alice, secrets) = try await directory.person("alice@example.org")
            let second = try Self.device(of: secrets)
            let store = InMemoryStore()
            let card = try await directory.client(second, remembering: store).linkCard(second)
            let added = try await alice.addDevice(card, by: secrets)
            let deceived = try directory.client(
                second, over: NIOTransport(to: directory.lyingProfile), remembering: store)
            let verdict = try await deceived.lookup(secrets.handle).verdict
            #expect(verdict.outcome == .stranger && verdict.keys == nil)
            #expect(try await store.pinnedPeers().isEmpty)
            // The digits that the person compares differ from those of the other device.
            let account = try await deceived.accountToConfirm()
            #expect(account.identityKey != secrets.identityKey && account.stateHash != added.stateHash)
        }
    }

    @Test func anAccountThatThisDeviceMadeIsItsOwnFromTheStart() async throws {
        try await TestDirectory.run { directory in
            let (_, secrets) = try await directory.person("alice@example.org")
            let restored = try directory.client(secrets)
            guard case .firstPinned = try await restored.lookup(secrets.handle).verdict.outcome else {
                throw Unexpected("the device's own account")
            }
        }
    }

    @Test func aCardExpiresAnHourAfterItsCheckpoint() async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let (_, secrets) = try await directory.person("alice@example.org", remembering: store)
            let second = try Self.device(of: secrets)
            let card = try await directory.client(second).linkCard(second)
            let now = Surroundings.system.now()
            let late = try directory.client(
                secrets, remembering: store, now: { now + LinkCard.maximumAge + 600 })
            do throws(ClientError) {
                _ = try await late.addDevice(card, by: secrets)
                Issue.record("an old card was taken")
            } catch {
                guard case .linkCard(.tooOld(let time)) = error else { throw error }
                #expect(time <= now && time + 60 > now)
            }
        }
    }

    /// The new device has been shown another log than the one that the old device sees.
    @Test func aDeviceThatSeesAnotherLogIsNotAdded() async throws {
        try await TestDirectory.run(attack: .forkedWitness) { directory in
            let (alice, secrets) = try await directory.person("alice@example.org")
            let second = try Self.device(of: secrets)
            let deceived = try directory.client(second, over: NIOTransport(to: directory.lyingProfile))
            let card = try await deceived.linkCard(second)
            do throws(ClientError) {
                _ = try await alice.addDevice(card, by: secrets)
                Issue.record("two logs were not seen")
            } catch {
                guard case .forkMet(let fork) = error else { throw error }
                #expect(try await alice.store.metForks() == [fork])
            }
        }
    }

    @Test func theDigitsDependOnTheCardTheAccountAndTheLog() async throws {
        try await TestDirectory.run { directory in
            let (alice, secrets) = try await directory.person("alice@example.org")
            let (card, other) = (try await alice.linkCard(secrets), try await alice.linkCard(Self.device(of: secrets)))
            let (key, hash) = ([UInt8](repeating: 2, count: 33), [UInt8](repeating: 3, count: 32))
            let codes = [
                try LinkCode(of: card), try LinkCode(of: other),
                try LinkCode(confirming: card, identityKey: key, stateHash: hash),
                try LinkCode(confirming: other, identityKey: key, stateHash: hash),
                try LinkCode(confirming: card, identityKey: key.map { $0 ^ 1 }, stateHash: hash),
                try LinkCode(confirming: card, identityKey: key, stateHash: hash.map { $0 ^ 1 }),
            ]
            #expect(Set(codes.map(\.text)).count == codes.count)
            #expect(codes[0].matches(typed: codes[0].text) && !codes[0].matches(typed: codes[1].text))
            // As LinkCode's documentation has it.
            let digest = SHA256.hash(data: Array("signet-link-code/v2\n".utf8) + card.hash)
            let salt = SHA256.hash(data: Array("signet-link-salt/v1\n".utf8) + card.logRoot)
            let derived = try PassphraseKey.derive(
                from: SecretBytes(copying: Array(digest)), salt: Array(salt.prefix(16)), cost: .minimum)
            let number = derived.withUnsafeBytes { $0.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            #expect(codes[0].matches(typed: String(String(number % 1_000_000_000_000 + 1_000_000_000_000).dropFirst())))
        }
    }

    @Test func aChangedCardIsRefused() async throws {
        try await TestDirectory.run { directory in
            let (alice, secrets) = try await directory.person("alice@example.org")
            let policy = directory.profile.trust.policy
            let card = try await alice.linkCard(secrets)
            #expect(try LinkCard(decoding: card.encoded, policy: policy) == card)
            #expect(throws: LinkCardError.unknownFormat) {
                try LinkCard(decoding: card.device.encoded, policy: policy)
            }
            for index in stride(from: 0, to: card.encoded.count, by: 7) {
                var changed = card.encoded
                changed[index] ^= 1
                #expect(throws: LinkCardError.self, "byte \(index)") { try LinkCard(decoding: changed, policy: policy) }
            }
        }
    }
}
