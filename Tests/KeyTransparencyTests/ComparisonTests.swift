// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// What two people compare by.
@Suite struct ComparisonTests {
    private let alice: (handle: Handle, identityKey: [UInt8])
    private let bob: (handle: Handle, identityKey: [UInt8])

    init() throws {
        alice = (try Handle(canonical: Array("alice@example.org".utf8)), [2] + [UInt8](repeating: 0x11, count: 32))
        bob = (try Handle(canonical: Array("bob@example.org".utf8)), [3] + [UInt8](repeating: 0x22, count: 32))
    }

    /// Computed by Python's hashlib from the description.
    @Test func safetyNumber_isWhatTheDescriptionSays() {
        let digits = "001955733009389751767178382702" + "868616521831964832433857274615"
        #expect(SafetyNumber(alice, bob).digits == Array(digits.utf8))
        #expect(SafetyNumber(bob, alice).digits == Array(digits.utf8), "both see one number")
        #expect(SafetyNumber(alice, bob).groups.first == Array("00195".utf8))
        #expect(SafetyNumber(alice, bob).groups.count == 12)
    }

    @Test func safetyNumber_dependsOnEachHandleAndKey() {
        let right = SafetyNumber(alice, bob)
        #expect(SafetyNumber((alice.handle, bob.identityKey), bob) != right)
        #expect(SafetyNumber(alice, (bob.handle, alice.identityKey)) != right)
        #expect(SafetyNumber((bob.handle, alice.identityKey), bob) != right)
        // Python's, for alice's key under bob's handle.
        let half = Array("013042948398365729888025369647".utf8)
        let other = SafetyNumber((bob.handle, alice.identityKey), bob).digits
        #expect(Array(other.prefix(30)) == half || Array(other.suffix(30)) == half)
    }

    @Test func safetyNumber_takesTheWholeNumberOrTheLastGroupsOfBothHalves() {
        let number = SafetyNumber(alice, bob)
        let (first, second) = ("71783 82702", "38572 74615")
        #expect(number.matches(typed: number.digits))
        #expect(number.matches(typed: Array("\(first) - \(second)".utf8)))
        for wrong in ["", first, second, "\(second) \(first)", "\(first) 38572 74616", "\(first) \(second) 1"] {
            #expect(!number.matches(typed: Array(wrong.utf8)), "\(wrong)")
        }
        #expect(
            SafetyNumber.isWhole(typed: number.digits) && SafetyNumber.isWhole(typed: Array("\(second) \(first)".utf8)))
        for slip in ["", first, "\(first) 3857 74615", "\(first) 38572 7461O", "\(first) \(second) 1"] {
            #expect(!SafetyNumber.isWhole(typed: Array(slip.utf8)), "\(slip)")
        }
    }

    @Test func aComparisonIsOfOneKey() {
        let comparison = Comparison(
            handle: bob.handle, identityKey: bob.identityKey, kind: .number, time: 1, metOn: nil)
        #expect(ComparisonState(comparison, of: bob.identityKey) == .compared(comparison))
        #expect(ComparisonState(comparison, of: alice.identityKey) == .outdated(comparison))
        #expect(ComparisonState(comparison, of: alice.identityKey).comparison == nil)
        #expect(ComparisonState(nil, of: bob.identityKey) == .none)
    }

    // MARK: The code on a screen

    @Test func aCodeFitsTheTwoWhomItIsAbout() throws {
        let code = IdentityCode(of: alice, for: bob)
        #expect(try IdentityCode(decoding: code.encoded) == code)
        try code.check(peer: alice, own: bob)
    }

    @Test func aCodeWithOneThingWrongIsRefusedByName() throws {
        let carol = try Handle(canonical: Array("carol@example.org".utf8))
        let other = [2] + [UInt8](repeating: 0x33, count: 32)
        let cases: [(IdentityCode, IdentityCodeError)] = [
            (IdentityCode(of: (carol, alice.identityKey), for: bob), .anotherPersons(carol)),
            (IdentityCode(of: alice, for: (carol, bob.identityKey)), .forAnother(carol)),
            (IdentityCode(of: (alice.handle, other), for: bob), .theirKeyDiffers),
            (IdentityCode(of: alice, for: (bob.handle, other)), .ownKeyDiffers),
        ]
        for (code, error) in cases { #expect(throws: error) { try code.check(peer: alice, own: bob) } }
    }

    @Test func onlyWhatIsPrintedIsReadAsACode() throws {
        let bytes = IdentityCode(of: alice, for: bob).encoded
        for cut in bytes.indices {
            #expect(throws: IdentityCodeError.malformed) { try IdentityCode(decoding: Array(bytes[..<cut])) }
        }
        #expect(throws: IdentityCodeError.malformed) { try IdentityCode(decoding: bytes + [10]) }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            if let read = try? IdentityCode(decoding: changed) { #expect(read.encoded == changed) }
        }
    }

    @Test func onlyAMeetingSaysSomethingOfSomebodyOfWhomNothingIsPinned() throws {
        let handle = try Handle(canonical: Array("bob@example.org".utf8))
        for kind in Comparison.Kind.allCases {
            let comparison = Comparison(
                handle: handle, identityKey: [UInt8](repeating: 2, count: 33), kind: kind, time: 1, metOn: 1)
            #expect(ComparisonState(ofUnpinned: comparison) == (kind == .meeting ? .compared(comparison) : .none))
        }
        #expect(ComparisonState(ofUnpinned: nil) == .none)
    }
}

/// A person's card, and what the directory shows next to it.
@Suite struct ContactCardTests {
    var directory: PaperDirectory
    let alice: PaperPerson
    let card: ContactCard

    init() throws {
        directory = try PaperDirectory()
        alice = try PaperPerson("alice@example.org", seed: 10)
        try directory.publish(alice)
        card = try Self.card(of: alice, in: directory)
    }

    private static func card(of person: PaperPerson, in directory: PaperDirectory) throws -> ContactCard {
        let lookup = try PeerTrustTests.lookup(person, in: directory)
        return try ContactCard(of: lookup, checkpoint: CheckpointCard(lookup.checkpoint)) {
            Array(try person.identity.signature(for: $0).rawRepresentation)
        }
    }

    @Test func aCardFitsTheDirectoryThatItsPersonSaw() throws {
        let read = try ContactCard(decoding: card.encoded, policy: directory.trust().policy)
        #expect(read == card && read.encoded == card.encoded)
        try read.check(PeerTrustTests.lookup(alice, in: directory))
        #expect(card.encoded.count <= ContactCard.maximumByteCount)
    }

    @Test func theAccountMayHaveMovedOnSince() throws {
        var directory = directory
        let later = try alice.next(devices: [alice.devices[0]])
        try directory.publish(later)
        try card.check(PeerTrustTests.lookup(later, in: directory))
    }

    @Test func anotherIdentityThanTheCardsIsRefused() throws {
        var other = try PaperDirectory()
        let mallory = try PaperPerson("alice@example.org", seed: 66)
        try other.publish(mallory)
        let shown = try PeerTrustTests.lookup(mallory, in: other)
        #expect(throws: ContactCardMismatch.anotherIdentity) { try card.check(shown) }
    }

    @Test func anOlderAccountThanTheCardsIsRefused() throws {
        var directory = directory
        let later = try alice.next(devices: [alice.devices[0]])
        let old = try PeerTrustTests.lookup(alice, in: directory)
        try directory.publish(later)
        let newer = try Self.card(of: later, in: directory)
        #expect(throws: ContactCardMismatch.olderThanTheCard(card: 2, shown: 1)) { try newer.check(old) }
    }

    @Test func anotherStateUnderTheCardsVersionIsRefused() throws {
        var other = try PaperDirectory()
        var twin = alice
        twin.devices = [alice.devices[0]]
        twin.encodedState = try twin.state().encoded
        try other.publish(twin)
        let shown = try PeerTrustTests.lookup(twin, in: other)
        #expect(throws: ContactCardMismatch.anotherState(1)) { try card.check(shown) }
    }

    @Test func contactCard_refusesAnotherPersonsAnswer() throws {
        var directory = directory
        let bob = try PaperPerson("bob@example.org", seed: 10)
        try directory.publish(bob)
        let shown = try PeerTrustTests.lookup(bob, in: directory)
        #expect(throws: ContactCardMismatch.anotherPerson(alice.handle)) { try card.check(shown) }
    }

    @Test func aCardIsSignedByTheKeyInIt() throws {
        let lookup = try PeerTrustTests.lookup(alice, in: directory)
        let mallory = try PaperPerson("alice@example.org", seed: 66)
        #expect(throws: ContactCardError.invalidSignature) {
            try ContactCard(of: lookup, checkpoint: CheckpointCard(lookup.checkpoint)) {
                Array(try mallory.identity.signature(for: $0).rawRepresentation)
            }
        }
        var bytes = card.encoded
        let version = try #require(bytes.firstRange(of: Array("\n1\n".utf8))).lowerBound + 1
        bytes[version] = UInt8(ascii: "2")
        #expect(throws: ContactCardError.invalidSignature) {
            try ContactCard(decoding: bytes, policy: directory.trust().policy)
        }
    }

    @Test func noBitOfACardCanBeChanged() throws {
        let (bytes, policy) = (card.encoded, try directory.trust().policy)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(throws: ContactCardError.self, "byte \(index)") {
                try ContactCard(decoding: changed, policy: policy)
            }
        }
        for cut in [0, 1, 18, bytes.count - 1] {
            #expect(throws: ContactCardError.self) { try ContactCard(decoding: Array(bytes[..<cut]), policy: policy) }
        }
    }

    @Test func aCardOfAnotherLogIsRefused() throws {
        var other = try PaperDirectory()
        other.log = try PaperDirectory.signer("other.example/log", .ed25519, seed: 9)
        let policy = try other.trust().policy
        #expect(throws: ContactCardError.self) { try ContactCard(decoding: card.encoded, policy: policy) }
    }
}
