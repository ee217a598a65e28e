// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// The decision between what the log proves and what the user accepted.
@Suite struct PeerTrustTests {
    var directory: PaperDirectory
    let alice: PaperPerson
    let pinned: PinnedPeer

    init() throws {
        directory = try PaperDirectory()
        alice = try PaperPerson("alice@example.org", seed: 10)
        try directory.publish(alice)
        pinned = PinnedPeer(try Self.lookup(alice, in: directory), at: PaperDirectory.now)
    }

    static func lookup(_ person: PaperPerson, in directory: PaperDirectory) throws -> VerifiedLookup {
        let answer = try directory.verifier().verify(
            directory.answer(about: person).response.encoded, for: person.handle, knowing: nil,
            at: PaperDirectory.now)
        guard case .registered(let lookup) = answer else { throw PaperFault.notThere }
        return lookup
    }

    /// What is decided when a directory shows this person, whose whole past is given.
    func decision(about past: PaperPerson..., pinned: PinnedPeer?) throws -> PeerTrustDecision {
        var directory = try PaperDirectory()
        for person in past { try directory.publish(person) }
        return PeerTrustDecision(try Self.lookup(past[past.count - 1], in: directory), comparedWith: pinned)
    }

    @Test func sameKeysMatch() throws {
        #expect(try decision(about: alice, pinned: pinned) == .match)
    }

    @Test func anUnpinnedPersonIsNoCacheFound() throws {
        #expect(try decision(about: alice, pinned: nil) == .noCache)
    }

    /// Of somebody who was met and not looked up yet, the key that they proved then is the one to go by.
    @Test func whoWasMetMustHaveTheKeyThatTheyProvedThen() throws {
        func decision(_ kind: Comparison.Kind, _ key: [UInt8], of handle: Handle? = nil) throws -> PeerTrustDecision {
            let met = Comparison(handle: handle ?? alice.handle, identityKey: key, kind: kind, time: 1, metOn: 1)
            return PeerTrustDecision(try Self.lookup(alice, in: directory), comparedWith: nil, met: met)
        }
        let other = [UInt8](repeating: 9, count: 33)
        #expect(try decision(.meeting, pinned.identityKey) == .noCache)
        guard case .mismatch(let change) = try decision(.meeting, other) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.identity == .unexplained && change.added == alice.devices)
        #expect(change.removed.isEmpty && change.rekeyed.isEmpty)
        // What was compared in another way was of somebody whom the directory had shown.
        for kind in Comparison.Kind.allCases where kind != .meeting {
            #expect(try decision(kind, other) == .noCache)
        }
        let bob = try PaperPerson("bob@example.org", seed: 20)
        #expect(try decision(.meeting, other, of: bob.handle) == .noCache, "another person's meeting")
        let lookup = try Self.lookup(alice, in: directory)
        let met = Comparison(handle: alice.handle, identityKey: other, kind: .meeting, time: 1, metOn: 1)
        #expect(PeerTrustDecision(lookup, comparedWith: pinned, met: met) == .match, "what is pinned was accepted")
    }

    @Test func anotherPersonsRecordIsNoCacheFound() throws {
        let bob = try PaperPerson("bob@example.org", seed: 20)
        #expect(try decision(about: bob, pinned: pinned) == .noCache)
    }

    @Test func addedDeviceIsNamed() throws {
        let phone = try PaperPerson.device(3, seed: 99)
        let changed = try alice.next(devices: alice.devices + [phone])
        guard case .mismatch(let change) = try decision(about: alice, changed, pinned: pinned) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.added == [phone])
        #expect(change.removed.isEmpty)
        #expect(!change.identityKeyChanged)
    }

    @Test func removedDeviceIsNamed() throws {
        let changed = try alice.next(devices: [alice.devices[0]])
        guard case .mismatch(let change) = try decision(about: alice, changed, pinned: pinned) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.added.isEmpty)
        #expect(change.removed == [pinned.devices[1]])
    }

    @Test func anotherIdentityKeyIsAMismatchEvenWithTheSameDevices() throws {
        let mallory = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 77, count: 32))
        let impostor = try alice.next(devices: alice.devices, identity: mallory)
        guard case .mismatch(let change) = try decision(about: alice, impostor, pinned: pinned) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.identityKeyChanged)
        #expect(change.added.isEmpty && change.removed.isEmpty && change.rekeyed.isEmpty)
    }

    @Test(arguments: ["agreement", "kem"]) func otherEncryptionKeysUnderAKnownDeviceAreNamed(key: String) throws {
        let old = alice.devices[0]
        let other = try PaperPerson.device(1, seed: 77).keys
        let keys = try DeviceKeys(
            signing: old.keys.signing, agreement: key == "agreement" ? other.agreement : old.keys.agreement,
            kem: try #require(key == "kem" ? other.kem : old.keys.kem))
        let rekeyed = DeviceRecord(number: old.number, addedAt: old.addedAt, keys: keys)
        let changed = try alice.next(devices: [rekeyed, alice.devices[1]])
        guard case .mismatch(let change) = try decision(about: alice, changed, pinned: pinned) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.rekeyed == [rekeyed])
        #expect(change.added.isEmpty && change.removed.isEmpty && !change.identityKeyChanged)
    }

    @Test func aNextVersionThatDoesNotNameThePinnedOneIsAContradiction() throws {
        // The same identity and devices, after another first version: a signature is never the same twice.
        let twin = try PaperPerson("alice@example.org", seed: 10)
        #expect(twin.encodedState != alice.encodedState)
        let decision = try decision(about: twin, twin.next(), pinned: pinned)
        #expect(decision == .contradiction(.doesNotFollow(pinned: 1)))
    }

    @Test func anotherVersionWithTheSameKeysMatches() throws {
        #expect(try decision(about: alice, alice.next(), pinned: pinned) == .match)
    }

    @Test func anOlderVersionIsAContradictionAndNoMatch() throws {
        let later = try alice.next()
        var directory = directory
        try directory.publish(later)
        let pinned = PinnedPeer(try Self.lookup(later, in: directory), at: 0)
        #expect(
            try decision(about: alice, pinned: pinned)
                == .contradiction(.olderVersion(pinned: 2, received: 1)))
    }

    @Test func theWholeHistoryIsPinned() throws {
        #expect(try pinned.history == directory.history(alice.handle))
        #expect(pinned.history.count == 3)
    }

    @Test func anotherStateAtThePinnedVersionIsAContradiction() throws {
        let twin = try PaperPerson("alice@example.org", seed: 40)
        #expect(
            try decision(about: twin, pinned: pinned)
                == .contradiction(.anotherStateAtSameVersion(1)))
    }
}
