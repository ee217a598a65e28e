// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import Testing

@testable import SealedNotes

/// Wraps of a note's key in which one thing is wrong.
struct WrapTests {
    let alice, bob, mallory: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob", deviceCount: 2)
        mallory = try Person("mallory")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .writer), by: alice)
    }

    private func wrap(
        to person: Person? = nil, device: Int = 0, by sender: Person? = nil, senderDevice: Int = 0,
        suite: WrapSuite = .xWing
    ) throws -> WrapRecord {
        let sender = sender ?? alice
        let recipient = WrapRecipient.devices(of: try (person ?? bob).lookup())[device]
        return try book.key.wrap(
            to: recipient, state: book.state, sender: sender.author(senderDevice), suite: suite,
            with: sender.sign(senderDevice))
    }

    private func open(
        _ wrap: WrapRecord, by person: Person? = nil, device: Int = 0, _ people: [Person]? = nil,
        control: VerifiedControl? = nil
    ) throws -> NoteKey {
        try NoteKey.open(
            wrap, with: (person ?? bob).agreementKeys(device), control: control ?? book.control([alice]),
            authors: authors(people ?? [alice, bob]))
    }

    @Test(arguments: WrapSuite.allCases) func everyDeviceOfAMemberOpensItsWrap(suite: WrapSuite) throws {
        for device in 0..<2 {
            let made = try wrap(device: device, suite: suite)
            #expect(made.encoded.count <= WrapRecord.maximumByteCount)
            #expect(try WrapRecord(decoding: made.encoded) == made)
            let key = try open(made, device: device)
            #expect(key.commitment == book.key.commitment && key.epoch == 1)
        }
    }

    @Test(arguments: WrapSuite.allCases) func aCheckpointTravelsSealedBehindTheKey(suite: WrapSuite) throws {
        let recipient = WrapRecipient.devices(of: try bob.lookup())[0]
        for count in [0, 1, 200, WrapRecord.maximumCheckpointByteCount] {
            let checkpoint = [UInt8](repeating: 0x2E, count: count)
            let made = try book.key.wrap(
                to: recipient, and: checkpoint, state: book.state, sender: alice.author(), suite: suite,
                with: alice.sign())
            #expect(made.header.form == (count > 0 ? .keyAndCheckpoint : .key))
            #expect(try WrapRecord(decoding: made.encoded) == made)
            #expect(!made.encoded.contains(checkpoint) || count < 2, "sealed")
            let opened = try NoteKey.openAll(
                made, with: bob.agreementKeys(0), control: book.control([alice]), authors: authors([alice, bob]))
            #expect(opened.checkpoint == checkpoint && opened.key.commitment == book.key.commitment)
        }
        #expect(throws: SealedNoteError.tooLong) {
            try book.key.wrap(
                to: recipient, and: [UInt8](repeating: 1, count: WrapRecord.maximumCheckpointByteCount + 1),
                state: book.state, sender: alice.author(), suite: suite, with: alice.sign())
        }
    }

    // MARK: Keys of earlier epochs

    /// Three epochs; carol, who comes in the third, gets the keys of the first two as well, by the owner's choice.
    private func shareWithHistory(
        _ suite: WrapSuite = .xWing, _ checkpoint: [UInt8] = [], with carol: Person
    ) throws -> (book: Notebook, wrap: WrapRecord) {
        var book = book
        try book.rekey(by: alice)
        try book.rekey(by: alice)
        try book.step(.share(carol.handle, .reader), by: alice)
        let wrap = try book.key.wrap(
            to: WrapRecipient.devices(of: carol.lookup())[0], and: checkpoint, older: Array(book.keys.dropLast()),
            state: book.state, sender: alice.author(), suite: suite, with: alice.sign())
        return (book, wrap)
    }

    @Test(arguments: WrapSuite.allCases) func olderKeysTravelBehindTheKey(suite: WrapSuite) throws {
        for checkpoint in [[], [UInt8](repeating: 3, count: WrapRecord.maximumCheckpointByteCount)] {
            let (book, made) = try shareWithHistory(suite, checkpoint, with: mallory)
            #expect(made.header.form == .keyAndOlderKeys)
            #expect(try WrapRecord(decoding: made.encoded) == made)
            let opened = try NoteKey.openAll(
                made, with: mallory.agreementKeys(), control: book.control([alice]), authors: authors([alice]))
            #expect(opened.checkpoint == checkpoint)
            #expect((opened.older + [opened.key]).map(\.commitment) == book.keys.map(\.commitment))
            #expect((opened.older + [opened.key]).map(\.epoch) == [1, 2, 3])
        }
    }

    /// Whoever is not chosen gets nothing of it: not another device, and not another member, whom the server names in its place.
    @Test func olderKeysOpenOnlyForTheRecipient() throws {
        let (book, made) = try shareWithHistory(with: mallory)
        let control = try book.control([alice])
        #expect(throws: SealedNoteError.notForThisDevice) { try open(made, by: bob, [alice], control: control) }
        let recipient = bob.author()
        let header = WrapRecord.Header(
            note: book.note, epoch: 3, control: book.state.head, sender: alice.author(), recipient: recipient,
            recipientKeys: bob.devices[0].keys.hash, suite: .xWing, form: .keyAndOlderKeys)
        let moved = try WrapRecord(
            header, encapsulation: made.encapsulation, ciphertext: made.ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.notOpened) { try open(moved, by: bob, [alice], control: control) }
    }

    /// Who was removed, and has every key of before and everything that the server has.
    @Test mutating func olderKeysForSomebodyHelpNobodyWhoWasRemoved() throws {
        let bobsKeys = try bob.agreementKeys()
        let first = book.key
        try book.unshare(bob.handle, by: alice)
        try book.rekey(by: alice)
        try book.step(.share(mallory.handle, .reader), by: alice)
        let made = try book.key.wrap(
            to: WrapRecipient.devices(of: mallory.lookup())[0], older: Array(book.keys.dropLast()), state: book.state,
            sender: alice.author(), with: alice.sign())
        #expect(throws: (any Error).self) {
            try WrapCipher.open(
                made.encapsulation, made.ciphertext, with: bobsKeys, suite: .xWing, purpose: .noteAndOlderKeys,
                associated: made.header.encoded)
        }
        // With the owner's own wrap, made for bob against the rules, the client refuses: he is no member.
        #expect(throws: SealedNoteError.notAMember) {
            try book.key.wrap(
                to: WrapRecipient.devices(of: bob.lookup())[0], older: [first, book.keys[1]], state: book.state,
                sender: alice.author(), with: alice.sign())
        }
    }

    /// Only one of the older keys is another than the owner committed to: nothing of the wrap is taken.
    @Test func anOlderKeyThatTheOwnerDidNotCommitToIsRefused() throws {
        let (book, good) = try shareWithHistory(with: mallory)
        let control = try book.control([alice])
        func forged(_ older: [NoteKey]) throws -> WrapRecord {
            let sealed = try WrapCipher.seal(
                book.key.secret, older: older.map(\.secret), to: WrapRecipient.devices(of: try mallory.lookup())[0],
                suite: .xWing, purpose: .noteAndOlderKeys, associated: good.header.encoded)
            return try WrapRecord(
                good.header, encapsulation: sealed.encapsulation, ciphertext: sealed.ciphertext, with: alice.sign())
        }
        #expect(try open(forged(Array(book.keys.dropLast())), by: mallory, [alice], control: control).epoch == 3)
        let other = NoteKey.generate(note: book.note, epoch: 1)
        #expect(throws: SealedNoteError.anotherOlderCommitment(epoch: 1)) {
            try open(forged([other, book.keys[1]]), by: mallory, [alice], control: control)
        }
        #expect(throws: SealedNoteError.anotherOlderCommitment(epoch: 2)) {
            try open(forged([book.keys[0], other]), by: mallory, [alice], control: control)
        }
        #expect(throws: SealedNoteError.notOfThisNote) {
            try open(forged([other, book.keys[0], book.keys[1]]), by: mallory, [alice], control: control)
        }
    }

    @Test func olderKeysAreThoseRightBefore() throws {
        let (book, _) = try shareWithHistory(with: mallory)
        let recipient = WrapRecipient.devices(of: try mallory.lookup())[0]
        let other = NoteKey.generate(note: book.note, epoch: 2)
        for older in [[book.keys[0]], [book.keys[1], book.keys[0]], [other], book.keys] {
            #expect(throws: SealedNoteError.anotherKey) {
                try book.key.wrap(
                    to: recipient, older: older, state: book.state, sender: alice.author(), with: alice.sign())
            }
        }
        _ = try book.key.wrap(
            to: recipient, older: [book.keys[1]], state: book.state, sender: alice.author(), with: alice.sign())
    }

    /// One spelling: a wrap without older keys is of the first or second form, and the form is part of what is sealed.
    @Test func aWrapOfTheThirdFormHasOlderKeys() throws {
        let (book, made) = try shareWithHistory(with: mallory)
        let short = Array(made.ciphertext.prefix(WrapRecord.ciphertextByteCount + 2 + 31))
        #expect(throws: NoteRecordError.invalidField) {
            try WrapRecord(made.header, encapsulation: made.encapsulation, ciphertext: short, with: alice.sign())
        }
        let header = WrapRecord.Header(
            note: book.note, epoch: 3, control: book.state.head, sender: alice.author(), recipient: mallory.author(),
            recipientKeys: mallory.devices[0].keys.hash, suite: .xWing, form: .keyAndCheckpoint)
        let renamed = try WrapRecord(
            header, encapsulation: made.encapsulation, ciphertext: made.ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.notOpened) {
            try open(renamed, by: mallory, [alice], control: book.control([alice]))
        }
    }

    /// One spelling: a wrap without a checkpoint is of the first form.
    @Test func aWrapOfTheSecondFormHasACheckpoint() throws {
        let made = try wrap()
        let header = made.header
        let second = WrapRecord.Header(
            note: header.note, epoch: header.epoch, control: header.control, sender: header.sender,
            recipient: header.recipient, recipientKeys: header.recipientKeys, suite: header.suite,
            form: .keyAndCheckpoint)
        #expect(throws: NoteRecordError.invalidField) {
            try WrapRecord(
                second, encapsulation: made.encapsulation, ciphertext: made.ciphertext, with: alice.sign())
        }
    }

    @Test func aWrapForAnotherDeviceOrPersonIsRefused() throws {
        #expect(throws: SealedNoteError.notForThisDevice) { try open(wrap(), device: 1) }
        #expect(throws: SealedNoteError.notForThisDevice) { try open(wrap(), by: alice) }
    }

    @Test func onlyMembersGetWraps() throws {
        #expect(throws: SealedNoteError.notAMember) { try wrap(to: mallory) }
    }

    @Test mutating func aWrapOfAnotherNoteEpochOrStepIsRefused() throws {
        let old = try wrap()
        var other = try Notebook(owner: alice)
        try other.step(.share(bob.handle, .writer), by: alice)
        #expect(throws: SealedNoteError.notOfThisNote) { try open(old, control: other.control([alice])) }
        let early = try book.control([alice])
        try book.rekey(by: alice)
        let new = try wrap()
        #expect(throws: SealedNoteError.notOfThisNote) { try open(new, control: early) }
        #expect(try open(old).epoch == 1 && open(new).epoch == 2)
    }

    @Test mutating func aWrapFromBeforeTheSharingIsRefused() throws {
        let entry = book.entries[0]
        let header = WrapRecord.Header(
            note: book.note, epoch: 1, control: entry.hash, sender: alice.author(), recipient: bob.author(),
            recipientKeys: bob.devices[0].keys.hash, suite: .p256)
        let good = try wrap(suite: .p256)
        let forged = try WrapRecord(
            header, encapsulation: good.encapsulation, ciphertext: good.ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.notAMember) { try open(forged) }
    }

    @Test func aWrapFromAStrangerOrARemovedDeviceIsRefused() throws {
        #expect(throws: SealedNoteError.noAuthority) { try open(wrap(by: mallory), [alice, bob, mallory]) }
        let second = try wrap(senderDevice: 1)
        #expect(throws: SealedNoteError.noAuthority) { try open(second, [alice.replacingDevice(), bob]) }
        _ = try open(second)
        // The device that signed the step may be gone by now.
        var gone = try alice.replacingDevice()
        gone.devices = [gone.devices[1]]
        let control = try book.control([alice])
        #expect(try open(wrap(), [gone, bob], control: control).epoch == 1)
    }

    @Test func anotherMemberMayPassOnTheKeyButNotAnother() throws {
        _ = try open(wrap(to: alice, by: bob), by: alice)
        // Bob passes on a key of his own.
        var fake = book
        fake.keys = [NoteKey.generate(note: book.note, epoch: 1)]
        #expect(throws: SealedNoteError.anotherKey) { try fake.wrapOfOwnKey(to: alice, by: bob) }
    }

    @Test func aWrapMovedToAnotherStepDoesNotOpen() throws {
        var other = try Notebook(owner: alice, note: book.note)
        try other.step(.share(bob.handle, .writer), by: alice)
        let foreign = try other.wrapOfOwnKey(to: bob, by: alice)
        let forged = try WrapRecord(
            header(), encapsulation: foreign.encapsulation, ciphertext: foreign.ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.notOpened) { try open(forged) }
    }

    /// Everything is right, and the sender may send: but the key inside is another.
    @Test func aKeyThatTheOwnerDidNotCommitToIsRefused() throws {
        let recipient = WrapRecipient.devices(of: try bob.lookup())[0]
        let header = header()
        let key = NoteKey.generate(note: book.note, epoch: 1)
        let sealed = try WrapCipher.seal(
            key.secret, to: recipient, suite: .xWing, purpose: .note, associated: header.encoded)
        let forged = try WrapRecord(
            header, encapsulation: sealed.encapsulation, ciphertext: sealed.ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.anotherCommitment) { try open(forged) }
    }

    /// A wrap made for another purpose with the same keys.
    @Test func anAccountKeysWrapIsNoNotesWrap() throws {
        let recipient = WrapRecipient.devices(of: try bob.lookup())[0]
        let header = header()
        let sealed = try WrapCipher.seal(
            book.key.secret, to: recipient, suite: .xWing, purpose: .account, associated: header.encoded)
        let forged = try WrapRecord(
            header, encapsulation: sealed.encapsulation, ciphertext: sealed.ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.notOpened) { try open(forged) }
    }

    private func header() -> WrapRecord.Header {
        WrapRecord.Header(
            note: book.note, epoch: 1, control: book.state.head, sender: alice.author(), recipient: bob.author(),
            recipientKeys: bob.devices[0].keys.hash, suite: .xWing)
    }

    @Test func anAlteredWrapIsRefused() throws {
        let good = try wrap()
        for index in stride(from: 0, to: good.encoded.count, by: 7) {
            var bytes = good.encoded
            bytes[index] ^= 1
            #expect(throws: NoteRecordError.self, "byte \(index)") { try WrapRecord(decoding: bytes) }
        }
        // Signed again by the sender, it still does not open.
        var ciphertext = good.ciphertext
        ciphertext[0] ^= 1
        let forged = try WrapRecord(
            good.header, encapsulation: good.encapsulation, ciphertext: ciphertext, with: alice.sign())
        #expect(throws: SealedNoteError.notOpened) { try open(forged) }
    }

    /// Making one does not check the signature; reading one does.
    @Test func aWrapThatAnotherDeviceSignedIsRefused() throws {
        let recipient = WrapRecipient.devices(of: try bob.lookup())[0]
        let signedByBob = try book.key.wrap(
            to: recipient, state: book.state, sender: alice.author(), with: bob.sign())
        #expect(throws: NoteRecordError.invalidSignature) { try WrapRecord(decoding: signedByBob.encoded) }
        #expect(throws: SealedNoteError.record(.invalidSignature)) {
            try book.key.wrap(to: recipient, state: book.state, sender: alice.author(), with: { _ in [] })
        }
        let good = try wrap()
        #expect(throws: NoteRecordError.invalidField) {
            try WrapRecord(
                good.header, encapsulation: good.encapsulation + [0], ciphertext: good.ciphertext, with: alice.sign())
        }
        #expect(throws: NoteRecordError.invalidField) {
            try WrapRecord(
                good.header, encapsulation: good.encapsulation, ciphertext: good.ciphertext + [0], with: alice.sign())
        }
        let header = WrapRecord.Header(
            note: book.note, epoch: 1, control: book.state.head, sender: alice.author(), recipient: bob.author(),
            recipientKeys: [1], suite: .xWing)
        #expect(throws: NoteRecordError.invalidField) {
            try WrapRecord(
                header, encapsulation: good.encapsulation, ciphertext: good.ciphertext, with: alice.sign())
        }
    }

    @Test func recipientsWithOtherKeysThanTheDirectoryListsDoNotExist() throws {
        let device = try Person.Device(number: 9)
        #expect(throws: SealedNoteError.unusableKey) {
            try DeviceAgreementKeys(
                handle: bob.handle, keys: device.keys, agreement: bob.devices[0].agreement, kem: device.kem)
        }
        #expect(throws: SealedNoteError.unusableKey) {
            try DeviceAgreementKeys(
                handle: bob.handle, keys: device.keys, agreement: device.agreement, kem: bob.devices[0].kem)
        }
    }
}

extension Notebook {
    /// A book of a given note.
    init(owner: Person, note: NoteID) throws {
        try self.init(owner: owner)
        let key = NoteKey.generate(note: note, epoch: 1)
        let entry = try ControlEntry(
            note: note, number: 1, previous: .none, time: Self.time, author: owner.author(),
            action: .create(keyCommitment: key.commitment), with: owner.sign())
        self = Notebook(note: note, keys: [key], entries: [entry], state: try ControlState(first: entry))
    }

    private init(note: NoteID, keys: [NoteKey], entries: [ControlEntry], state: ControlState) {
        self.note = note
        self.keys = keys
        self.entries = entries
        self.state = state
    }

    func wrapOfOwnKey(to person: Person, by sender: Person) throws -> WrapRecord {
        try key.wrap(
            to: WrapRecipient.devices(of: person.lookup())[0], state: state, sender: sender.author(),
            with: sender.sign())
    }
}
