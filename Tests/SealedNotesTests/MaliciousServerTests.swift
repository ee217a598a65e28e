// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import ProtocolTesting
import Testing

@testable import SealedNotes

/// Z5: what a server may try that holds everything but the keys. Here are the rows that no other suite has; the table
/// of all is in `Documentation/zero-knowledge.md`.
struct MaliciousServerTests {
    let alice, bob, carol: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob")
        carol = try Person("carol")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .writer), by: alice)
    }

    // MARK: keys of others

    /// Bob's answer with Carol's encryption key in it, at every length and place that it has.
    @Test func aSwappedPublicKeyReachesNoWrap() throws {
        let (directory, answer) = try bobsAnswer()
        #expect(throws: Never.self) {
            try directory.verifier().verify(answer, for: bob.handle, knowing: nil, at: PaperDirectory.now)
        }
        for key in [\DeviceKeys.kem, \.agreement, \.signing, \.hash] {
            let swapped = answer.replacing(bob.devices[0].keys[keyPath: key], with: carol.devices[0].keys[keyPath: key])
            #expect(swapped != answer)
            #expect(throws: LookupError.self) {
                try directory.verifier().verify(swapped, for: bob.handle, knowing: nil, at: PaperDirectory.now)
            }
        }
    }

    private func bobsAnswer() throws -> (PaperDirectory, [UInt8]) {
        var paper = try PaperPerson(String(decoding: bob.handle.bytes, as: UTF8.self), seed: 1, deviceCount: 1)
        paper.identity = bob.identity
        paper.devices = bob.devices.map { DeviceRecord(number: $0.number, addedAt: 0, keys: $0.keys) }
        paper.encodedState = try paper.state().encoded
        paper.sendsKeys = true
        var directory = try PaperDirectory(filler: 1)
        try directory.publish(paper)
        return (directory, try directory.answer(about: paper).response.encoded)
    }

    /// Bob has replaced his device; a wrap to the old one is not for the new one, whatever the server says.
    @Test func aWrapToAnOldBundleIsNotOpened() throws {
        let old = try wrap()
        let now = try bob.replacingDevice()
        #expect(throws: SealedNoteError.notForThisDevice) { try open(old, by: now) }
        // The address rewritten: the signature is not the sender's any more.
        let place = try #require(old.encoded.firstRange(of: bob.devices[0].keys.signing))
        var rewritten = old.encoded
        rewritten.replaceSubrange(place, with: now.devices[0].keys.signing)
        #expect(throws: NoteRecordError.invalidSignature) { try WrapRecord(decoding: rewritten) }
    }

    private func wrap(_ suite: WrapSuite = .xWing) throws -> WrapRecord {
        try book.key.wrap(
            to: WrapRecipient.devices(of: bob.lookup())[0], state: book.state, sender: alice.author(), suite: suite,
            with: alice.sign())
    }

    private func open(_ wrap: WrapRecord, by person: Person) throws -> NoteKey {
        try NoteKey.open(
            wrap, with: person.agreementKeys(), control: book.control([alice]), authors: authors([alice, person]))
    }

    /// The weaker suite written over the stronger: by the server, and by a sender who signs it so.
    @Test func anotherSuiteThanTheSendersIsRefused() throws {
        let good = try wrap(.p256)
        let place = good.header.encoded.count - 1
        #expect(good.encoded[place] == WrapSuite.p256.rawValue)
        var rewritten = good.encoded
        rewritten[place] = WrapSuite.xWing.rawValue
        #expect(throws: NoteRecordError.self) { try WrapRecord(decoding: rewritten) }
        let strong = try wrap(.xWing)
        let header = WrapRecord.Header(
            note: strong.header.note, epoch: 1, control: strong.header.control, sender: alice.author(),
            recipient: bob.author(), recipientKeys: strong.header.recipientKeys, suite: .p256)
        let cut = Array(strong.encapsulation.prefix(WrapSuite.p256.encapsulationByteCount))
        let forged = try WrapRecord(header, encapsulation: cut, ciphertext: strong.ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.notOpened) { try open(forged, by: bob) }
    }

    // MARK: places

    /// The sealed content of one note in another of the same author and members, and in a note of another account;
    /// whoever moves it signs it anew.
    @Test mutating func aCiphertextOfAnotherNoteOrAccountDoesNotOpen() throws {
        let sealed = try book.key.seal(
            document(), after: nil, state: book.state, author: alice.author(), with: alice.sign()
        ).sealed
        for owner in [alice, bob] {
            var other = try Notebook(owner: owner)
            other.revisions = [
                try RevisionRecord(
                    note: other.note, number: 1, parent: .none, epoch: 1, control: other.state.head,
                    author: owner.author(), sealed: sealed, with: owner.sign())
            ]
            let head = try #require(try other.verified([owner]).head)
            #expect(throws: SealedNoteError.notOpened) { try other.key.open(head) }
            // Even under the key that it was sealed with.
            let same = NoteKey(note: other.note, epoch: 1, secret: book.key.secret)
            #expect(throws: SealedNoteError.notOpened) { try same.open(head) }
        }
    }

    // MARK: histories

    /// Two devices of one account that the server keeps apart: each of the histories is good, and what the one device
    /// signed about its own tells the other.
    @Test mutating func twoDevicesThatAreKeptApartNoticeByTheAccountHead() throws {
        var other = book
        try book.step(.share(carol.handle, .reader), by: alice)
        try other.step(.delete, by: alice, device: 1)
        let (mine, theirs) = (try book.control([alice]), try other.control([alice]))
        let heads = NoteHeads([book.note: .init(control: mine.view, revision: nil)])
        let head = try AccountHead(
            author: alice.author(), number: 1, previous: .none, notes: heads.hash, with: alice.sign())
        _ = try AccountHeadVerifier.verify([head], committingTo: heads, knowing: nil, keys: alice.keys())
        let claimed = try #require(heads[book.note])
        #expect(mine.holds(claimed.control) && !theirs.holds(claimed.control))
        // The server cannot give the other device heads that fit its history.
        let fitting = NoteHeads([book.note: .init(control: theirs.view, revision: nil)])
        #expect(throws: AccountHeadError.otherNotes) {
            try AccountHeadVerifier.verify([head], committingTo: fitting, knowing: nil, keys: alice.keys())
        }
    }

    @Test mutating func aReplayedStepOrRevisionIsRefused() throws {
        try book.write("one", by: bob)
        try book.unshare(bob.handle, by: alice)
        // The sharing once more, after the unsharing.
        let entries = book.entries + [book.entries[1]]
        #expect(throws: ControlError.brokenChain(number: 2)) {
            try ControlVerifier.verify(entries, of: book.note, authors: authors([alice]), knowing: nil)
        }
        let (control, everybody) = (try book.control([alice]), try authors([alice, bob]))
        #expect(throws: RevisionError.brokenChain(number: 2)) {
            try RevisionVerifier.verify(
                [book.revisions[0], book.revisions[0]], control: control, authors: everybody, knowing: nil)
        }
    }

    /// Bob's star shown again after he took it back.
    @Test func aReplayedStarDoesNotCount() {
        let stars: [(author: Handle, content: ChildContent)] = [
            (bob.handle, .star(isSet: true, counter: 1)), (bob.handle, .star(isSet: false, counter: 2)),
            (bob.handle, .star(isSet: true, counter: 1)),
        ]
        #expect(ChildContent.starring(stars).isEmpty)
    }

    /// Z6: everything that Bob had, with everything that the server has later, reads nothing that came later.
    @Test mutating func aRemovedMemberReadsWhatWasAndNothingLater() throws {
        let bobs = try open(wrap(), by: bob)
        let before = try revision("before")
        #expect(try bobs.open(before) == document("before"))
        try book.step(.share(carol.handle, .reader), by: alice)
        try book.unshare(bob.handle, by: alice)
        let after = try revision("after")
        #expect(throws: SealedNoteError.anotherKey) { try bobs.open(after) }
        let renamed = NoteKey(note: book.note, epoch: book.state.epoch, secret: bobs.secret)
        #expect(throws: SealedNoteError.notOpened) { try renamed.open(after) }
        // The new key went to Carol, and to Bob it cannot be sent by mistake.
        let toCarol = try book.wrapOfOwnKey(to: carol, by: alice)
        #expect(throws: SealedNoteError.notForThisDevice) { try open(toCarol, by: bob) }
        let bobsKeys = try bob.agreementKeys()
        #expect(throws: (any Error).self) {
            try WrapCipher.open(
                toCarol.encapsulation, toCarol.ciphertext, with: bobsKeys, suite: .xWing, purpose: .note,
                associated: toCarol.header.encoded)
        }
        #expect(throws: SealedNoteError.notAMember) { try book.wrapOfOwnKey(to: bob, by: alice) }
        #expect(try bobs.open(before) == document("before"))
    }

    private mutating func revision(_ text: String) throws -> VerifiedRevision {
        book.revisions.append(
            try book.key.seal(
                document(text), after: book.verified([alice, bob]).head, state: book.state, author: alice.author(),
                with: alice.sign()))
        return try #require(try book.verified([alice, bob]).head)
    }

    // MARK: the account's key

    /// The server sends a key of its own at login: under a password it does not know, and on a printed key it has not.
    @Test func anAccountKeyOfTheServersIsNotOpened() throws {
        let (exportKey, recovery) = (SymmetricKey(data: [UInt8](repeating: 8, count: 64)), RecoveryKey.generate())
        let foreign = AccountMasterKey.generate(for: alice.handle, epoch: 9)
        let guessed = try AccountKeyWrap(foreign, exportKey: SymmetricKey(data: [UInt8](repeating: 0, count: 64)))
        #expect(throws: SealedNoteError.notOpened) { try guessed.open(exportKey: exportKey, of: alice.handle) }
        let printed = try AccountKeyWrap(foreign, recoveryKey: .generate())
        #expect(throws: SealedNoteError.notOpened) { try printed.open(recoveryKey: recovery, of: alice.handle) }
        // Bob's own wrap, which he could open, in the place of Alice's.
        let bobs = try AccountKeyWrap(AccountMasterKey.generate(for: bob.handle, epoch: 1), exportKey: exportKey)
        #expect(throws: SealedNoteError.notForThisDevice) { try bobs.open(exportKey: exportKey, of: alice.handle) }
    }

    /// An old row from before a device was lost: it opens, and says of which epoch it is, under authentication.
    @Test func anOldAccountKeySaysItsEpoch() throws {
        let exportKey = SymmetricKey(data: [UInt8](repeating: 8, count: 64))
        let old = try AccountKeyWrap(.generate(for: alice.handle, epoch: 1), exportKey: exportKey)
        #expect(try old.open(exportKey: exportKey, of: alice.handle).epoch == 1)
        var renumbered = old.encoded
        renumbered[renumbered.count - SecretBox.byteCount - 1] = 2
        let read = try AccountKeyWrap(decoding: renumbered)
        #expect(read.epoch == 2)
        #expect(throws: SealedNoteError.notOpened) { try read.open(exportKey: exportKey, of: alice.handle) }
    }
}
