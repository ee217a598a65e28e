// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SeededRandomness
import Testing

@testable import SealedNotes

/// What is sealed opens in its place and nowhere else.
struct ContentTests {
    let alice, bob: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice")
        bob = try Person("bob")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .reader), by: alice)
    }

    private func full() throws -> NoteDocument {
        let blob = try #require(NoteID([UInt8](repeating: 4, count: 16)))
        return NoteDocument(
            title: Array("\u{FEFF}Заголовок".utf8), body: Array("e\u{301} é\r\n\u{0}👩‍👩‍👧".utf8),
            tags: [Array("a".utf8), Array("б".utf8)],
            attachments: [
                try AttachmentManifest(blob: blob, byteCount: 70_000, name: Array("x.png".utf8), mediaType: [])
            ], created: 1, modified: .max, conflictOf: book.note)
    }

    @Test mutating func aDocumentOpensAsItWasSealedByteForByte() throws {
        let document = try full()
        book.revisions.append(
            try book.key.seal(document, after: nil, state: book.state, author: alice.author(), with: alice.sign()))
        let first = try #require(try book.verified([alice]).head)
        #expect(try book.key.open(first) == document)
        book.revisions.append(
            try book.key.seal(document, after: first, state: book.state, author: alice.author(), with: alice.sign()))
        let verified = try book.verified([alice])
        #expect(try book.key.open(#require(verified.head)) == document)
        #expect(book.revisions[0].sealed != book.revisions[1].sealed)
    }

    @Test mutating func aRevisionOpensUnderItsOwnKeyOnly() throws {
        try seal(document())
        let head = try #require(try book.verified([alice]).head)
        let other = NoteKey.generate(note: book.note, epoch: 1)
        #expect(throws: SealedNoteError.notOpened) { try other.open(head) }
        let wrongEpoch = NoteKey(note: book.note, epoch: 2, secret: book.key.secret)
        #expect(throws: SealedNoteError.anotherKey) { try wrongEpoch.open(head) }
        let wrongNote = NoteKey(note: try Notebook(owner: alice).note, epoch: 1, secret: book.key.secret)
        #expect(throws: SealedNoteError.anotherKey) { try wrongNote.open(head) }
    }

    private mutating func seal(_ document: NoteDocument) throws {
        let parent = try book.verified([alice]).head
        book.revisions.append(
            try book.key.seal(document, after: parent, state: book.state, author: alice.author(), with: alice.sign()))
    }

    /// The server and an author who signs again: the ciphertext of one place in another.
    @Test mutating func aCiphertextMovedToAnotherPlaceDoesNotOpen() throws {
        try seal(document("one"))
        try seal(document("two"))
        let first = book.revisions[0]
        // Another number and parent.
        let moved = try RevisionRecord(
            note: book.note, number: 3, parent: book.revisions[1].hash, epoch: 1, control: book.state.head,
            author: alice.author(), sealed: first.sealed, with: alice.sign())
        book.revisions.append(moved)
        #expect(throws: SealedNoteError.notOpened) { try book.key.open(#require(book.verified([alice]).head)) }
        // Another author.
        var other = book
        try other.step(.share(bob.handle, .writer), by: alice)
        other.revisions = [
            try RevisionRecord(
                note: book.note, number: 1, parent: .none, epoch: 1, control: other.state.head, author: bob.author(),
                sealed: first.sealed, with: bob.sign())
        ]
        #expect(throws: SealedNoteError.notOpened) { try book.key.open(#require(other.verified([alice, bob]).head)) }
        // A comment's place.
        let child = try ChildRecord(
            note: book.note, child: book.note, epoch: 1, control: book.state.head, author: alice.author(),
            sealed: first.sealed, with: alice.sign())
        #expect(throws: SealedNoteError.notOpened) { try book.key.open(verify(child)) }
    }

    private func verify(_ child: ChildRecord) throws -> VerifiedChild {
        try ChildVerifier.verify(
            child, control: book.control([alice]), closed: nil, authors: authors([alice, bob]), accepted: false)
    }

    @Test func commentsAndStarsOpenAndAreEquallyLong() throws {
        let child = try #require(NoteID([UInt8](repeating: 1, count: 16)))
        let contents: [ChildContent] = [
            .comment(text: Array("hm".utf8), time: 7), .comment(text: [], time: 0), .star(isSet: true, counter: 1),
            .star(isSet: false, counter: .max),
        ]
        var lengths: Set<Int> = []
        for content in contents {
            let record = try book.key.seal(
                content, as: child, state: book.state, author: bob.author(), with: bob.sign())
            #expect(try book.key.open(verify(record)) == content)
            lengths.insert(record.encoded.count)
        }
        #expect(lengths.count == 1)
    }

    @Test func theStarWithAnAuthorsHighestCounterCounts() {
        let stars: [(author: Handle, content: ChildContent)] = [
            (alice.handle, .star(isSet: true, counter: 3)), (alice.handle, .star(isSet: false, counter: 2)),
            (bob.handle, .star(isSet: true, counter: 1)), (bob.handle, .star(isSet: false, counter: 2)),
            (bob.handle, .comment(text: [1], time: 9)),
        ]
        #expect(ChildContent.starring(stars) == [alice.handle])
        #expect(ChildContent.starring(stars.reversed()) == [alice.handle])
    }

    @Test func seal_refusesContentThatIsTooLong() throws {
        func refuses(_ change: (inout NoteDocument) -> Void) {
            var document = document()
            change(&document)
            #expect(throws: SealedNoteError.self) {
                try book.key.seal(
                    document, after: nil, state: book.state, author: alice.author(), with: alice.sign())
            }
        }
        refuses { $0.title = [UInt8](repeating: 1, count: 4097) }
        refuses { $0.body = [UInt8](repeating: 1, count: RevisionRecord.maximumByteCount) }
        refuses { $0.tags = [[]] }
        refuses { $0.tags = [[UInt8](repeating: 1, count: 256)] }
        refuses { $0.tags = Array(repeating: [1], count: 256) }
        #expect(throws: SealedNoteError.tooLong) {
            try book.key.seal(
                .comment(text: [UInt8](repeating: 1, count: 16_385), time: 0), as: book.note, state: book.state,
                author: alice.author(), with: alice.sign())
        }
    }

    @Test mutating func onlyTheCurrentKeySeals() throws {
        let old = book.key
        try book.rekey(by: alice)
        #expect(throws: SealedNoteError.anotherKey) {
            try old.seal(document(), after: nil, state: book.state, author: alice.author(), with: alice.sign())
        }
        #expect(throws: SealedNoteError.anotherKey) {
            try old.seal(
                .star(isSet: true, counter: 1), as: book.note, state: book.state, author: alice.author(),
                with: alice.sign())
        }
    }

    @Test func lengthsAreHiddenInSteps() {
        let expected = [
            (0, 256), (255, 256), (256, 512), (4095, 4096), (4096, 4608), (4607, 4608), (4608, 5120), (8191, 8192),
            (8192, 9216), (65_535, 65_536), (65_536, 73_728),
        ]
        for (count, padded) in expected { #expect(Padding.paddedCount(count) == padded, "\(count)") }
        for count in 0..<9000 {
            let content = [UInt8](repeating: 7, count: count)
            guard count.isMultiple(of: 97) || count < 600 else { continue }
            let padded = Padding.pad(content)
            #expect(padded.count == Padding.paddedCount(count) && Padding.unpad(padded).map(Array.init) == content)
        }
        // Another length, no mark, all zeros, nothing.
        let padded = Padding.pad([1, 2, 3])
        for wrong in [
            padded + [0], Array(padded.dropLast()), [UInt8](repeating: 0, count: 256), [], [0x80],
            padded.map { $0 == 0x80 ? 0x81 : $0 },
        ] {
            #expect(Padding.unpad(wrong) == nil)
        }
    }

    @Test func everyDocumentIsReadAndPrintedAgainAndDamageNeverTraps() throws {
        let good = try full().encoded()
        #expect(try NoteDocument(decoding: good[...]).encoded() == good)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<4_000 {
            let mutant = generator.mutant(of: good)
            if let document = try? NoteDocument(decoding: mutant[...]) { #expect(try document.encoded() == mutant) }
            if let content = try? ChildContent(decoding: mutant.prefix(20)) {
                #expect(try content.encoded() == Array(mutant.prefix(20)))
            }
        }
    }
}
