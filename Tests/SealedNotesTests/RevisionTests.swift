// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import Testing

/// A note's revisions in which one thing is wrong.
struct RevisionTests {
    let alice, bob, carol: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob")
        carol = try Person("carol", deviceCount: 2)
        book = try Notebook(owner: alice)
        try book.write("one", by: alice)
        try book.step(.share(bob.handle, .reader), by: alice)
        try book.step(.share(carol.handle, .writer), by: alice)
        try book.write("two", by: carol)
    }

    private func refuses(
        _ error: RevisionError, _ revisions: [RevisionRecord], _ people: [Person]? = nil,
        knowing view: RevisionView? = nil, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let people = people ?? [alice, bob, carol]
        let (control, authors) = (try book.control([alice]), try authors(people))
        #expect(throws: error, sourceLocation: location) {
            try RevisionVerifier.verify(revisions, control: control, authors: authors, knowing: view)
        }
    }

    @Test mutating func writersWriteAcrossEpochs() throws {
        try book.unshare(bob.handle, by: alice)
        try book.write("three", by: alice)
        try book.write("four", by: carol)
        let verified = try book.verified([alice, carol])
        #expect(verified.revisions.map(\.record) == book.revisions)
        #expect(verified.view == RevisionView(number: 4, head: book.revisions[3].hash))
        #expect(verified.holds(RevisionView(number: 2, head: book.revisions[1].hash)))
        #expect(!verified.holds(RevisionView(number: 3, head: book.revisions[1].hash)))
    }

    @Test func aNoteWithoutRevisionsPasses() throws {
        let empty = try Notebook(owner: alice)
        #expect(try empty.verified([alice]).view == nil)
    }

    @Test func aMissingMovedOrForeignRevisionIsRefused() throws {
        try refuses(.brokenChain(number: 1), [book.revisions[1]])
        try refuses(.brokenChain(number: 1), book.revisions.reversed())
        let stray = try book.revision(by: alice, parent: book.revisions[0].hash)
        try refuses(.brokenChain(number: 3), book.revisions + [stray])
        let other = try book.revision(by: alice, note: Notebook(owner: alice).note)
        try refuses(.anotherNote, book.revisions + [other])
    }

    @Test mutating func aRevisionNamesAControlEntryAndItsEpoch() throws {
        let unknown = try book.revision(by: alice, control: RecordHash(of: [1]))
        try refuses(.unknownControl(number: 3), book.revisions + [unknown])
        let early = try book.revision(by: alice, control: book.entries[0].hash)
        try refuses(.controlGoesBack(number: 3), book.revisions + [early])
        try refuses(.wrongEpoch(number: 3), book.revisions + [try book.revision(by: alice, epoch: 2)])
    }

    @Test func aReadersRevisionIsRefusedByAllMembers() throws {
        try refuses(.mayNotWrite(number: 3), book.revisions + [try book.revision(by: bob)])
        let stranger = try Person("stranger")
        try refuses(
            .mayNotWrite(number: 3), book.revisions + [try book.revision(by: stranger)], [alice, carol, stranger])
    }

    @Test mutating func nothingIsWrittenIntoADeletedNote() throws {
        try book.step(.delete, by: alice)
        try refuses(.mayNotWrite(number: 3), book.revisions + [try book.revision(by: alice)])
    }

    /// A removed writer and the server together: a revision that names a control entry from before the removal.
    @Test mutating func aRemovedWriterWritesNothingIntoTheOldEpoch() throws {
        let late = try book.revision("late", by: carol)
        try book.unshare(carol.handle, by: alice)
        try refuses(.closedEpochChanged(epoch: 1), book.revisions + [late])
        try refuses(.closedEpochChanged(epoch: 1), [book.revisions[0]])
        try book.write("three", by: alice)
        #expect(try book.verified([alice]).head?.record.number == 3)
    }

    @Test mutating func aRemovedWriterWritesNothingIntoTheNewEpoch() throws {
        try book.unshare(carol.handle, by: alice)
        try refuses(.mayNotWrite(number: 3), book.revisions + [try book.revision(by: carol)])
    }

    @Test mutating func theNewestRevisionIsByACurrentDevice() throws {
        try book.write("three", by: carol, device: 1)
        let now = try carol.replacingDevice()
        try refuses(.noAuthority(number: 3), book.revisions, [alice, now])
        try refuses(
            .noAuthority(number: 3), book.revisions, [alice, now],
            knowing: RevisionView(number: 2, head: book.revisions[1].hash))
        // Seen before the removal, built upon by a writer, or closed by a rekeying: it stays.
        let seen = RevisionView(number: 3, head: book.revisions[2].hash)
        #expect(try book.verified([alice, now], knowing: seen).view == seen)
        var built = book
        try built.write("four", by: alice)
        #expect(try built.verified([alice, now]).head?.record.number == 4)
        try book.rekey(by: alice)
        #expect(try book.verified([alice, now]).head?.record.number == 3)
    }

    @Test func aShorterChainThanSeenIsARollbackAndAnotherAFork() throws {
        let view = try #require(try book.verified([alice, carol]).view)
        try refuses(.rollback(known: 2, received: 1), [book.revisions[0]], knowing: view)
        let other = try book.revision("other", by: alice, number: 2, parent: book.revisions[0].hash)
        try refuses(.fork(number: 2), [book.revisions[0], other], knowing: view)
    }
}
