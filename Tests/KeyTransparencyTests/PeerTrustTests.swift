import Crypto
import KeyTransparency
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
        try directory.verifier().verify(
            directory.answer(about: person).encoded, for: person.handle, knowing: nil,
            at: PaperDirectory.now)
    }

    func decision(about person: PaperPerson, pinned: PinnedPeer?) throws -> PeerTrustDecision {
        var directory = directory
        try directory.publish(person)
        return PeerTrustDecision(try Self.lookup(person, in: directory), comparedWith: pinned)
    }

    @Test func sameKeysMatch() throws {
        #expect(try decision(about: alice, pinned: pinned) == .match)
    }

    @Test func nothingPinnedIsNoCache() throws {
        #expect(try decision(about: alice, pinned: nil) == .noCache)
    }

    @Test func aRecordOfSomebodyElseIsNoCache() throws {
        let bob = try PaperPerson("bob@example.org", seed: 20)
        #expect(try decision(about: bob, pinned: pinned) == .noCache)
    }

    @Test func addedDeviceIsNamed() throws {
        let phone = try PaperPerson.device(3, seed: 99)
        let changed = try alice.next(devices: alice.devices + [phone])
        guard case .mismatch(let change) = try decision(about: changed, pinned: pinned) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.added == [phone])
        #expect(change.removed.isEmpty)
        #expect(!change.identityKeyChanged)
    }

    @Test func removedDeviceIsNamed() throws {
        let changed = try alice.next(devices: [alice.devices[0]])
        guard case .mismatch(let change) = try decision(about: changed, pinned: pinned) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.added.isEmpty)
        #expect(change.removed == [pinned.devices[1]])
    }

    @Test func anotherIdentityKeyIsAMismatchEvenWithTheSameDevices() throws {
        var impostor = alice
        impostor.identity = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 77, count: 32))
        impostor.version = 2
        impostor.encodedState = try impostor.state().encoded
        guard case .mismatch(let change) = try decision(about: impostor, pinned: pinned) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(change.identityKeyChanged)
        #expect(change.added.isEmpty && change.removed.isEmpty)
    }

    @Test func anotherVersionWithTheSameKeysMatches() throws {
        #expect(try decision(about: alice.next(devices: alice.devices), pinned: pinned) == .match)
    }

    @Test func anOlderVersionIsAContradictionAndNoMatch() throws {
        let later = try alice.next(devices: alice.devices)
        var directory = directory
        try directory.publish(later)
        let pinned = PinnedPeer(try Self.lookup(later, in: directory), at: 0)
        let decision = PeerTrustDecision(try Self.lookup(alice, in: directory), comparedWith: pinned)
        #expect(decision == .contradiction(.olderVersion(pinned: 2, received: 1)))
    }

    @Test func anotherStateAtThePinnedVersionIsAContradiction() throws {
        let twin = try PaperPerson("alice@example.org", seed: 40)
        #expect(
            try decision(about: twin, pinned: pinned)
                == .contradiction(.anotherStateAtSameVersion(1)))
    }
}
