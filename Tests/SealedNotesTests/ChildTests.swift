// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import Testing

/// Comments and stars in which one thing is wrong.
struct ChildTests {
    let alice, bob, carol: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice")
        bob = try Person("bob", deviceCount: 2)
        carol = try Person("carol")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .reader), by: alice)
    }

    private func child(
        by person: Person, device: Int = 0, epoch: UInt32? = nil, control: RecordHash? = nil, note: NoteID? = nil
    ) throws -> ChildRecord {
        try ChildRecord(
            note: note ?? book.note, child: book.note, epoch: epoch ?? book.state.epoch,
            control: control ?? book.state.head, author: person.author(device), sealed: [1, 2, 3],
            with: person.sign(device))
    }

    private func verify(
        _ child: ChildRecord, closed: ChildList? = nil, _ people: [Person]? = nil, accepted: Bool = false
    ) throws -> VerifiedChild {
        try ChildVerifier.verify(
            child, control: book.control([alice]), closed: closed, authors: authors(people ?? [alice, bob, carol]),
            accepted: accepted)
    }

    @Test func aReadersCommentPasses() throws {
        let child = try child(by: bob)
        #expect(try verify(child).record == child)
        #expect(try ChildRecord(decoding: child.encoded) == child)
    }

    @Test func aCommentOfAnotherNoteStepOrEpochIsRefused() throws {
        let other = try child(by: bob, note: Notebook(owner: alice).note)
        #expect(throws: ChildError.anotherNote) { try verify(other) }
        #expect(throws: ChildError.unknownControl) { try verify(child(by: bob, control: RecordHash(of: []))) }
        #expect(throws: ChildError.wrongEpoch) { try verify(child(by: bob, epoch: 2)) }
    }

    @Test mutating func onlyMembersComment() throws {
        #expect(throws: ChildError.notAMember) { try verify(child(by: carol)) }
        // Bob was none yet when the note was created.
        #expect(throws: ChildError.notAMember) { try verify(child(by: bob, control: book.entries[0].hash)) }
        try book.step(.delete, by: alice)
        #expect(throws: ChildError.notAMember) { try verify(child(by: bob)) }
    }

    @Test mutating func aRemovedMemberAddsNothingToTheOldEpoch() throws {
        let (early, late) = (try child(by: bob), try child(by: bob, device: 1))
        book.children = [early]
        try book.unshare(bob.handle, by: alice)
        let list = ChildList([early.hash])
        #expect(try verify(early, closed: list).record == early)
        #expect(throws: ChildError.lateForItsEpoch) { try verify(late, closed: list) }
        #expect(throws: ChildError.wrongList) { try verify(late, closed: ChildList([early.hash, late.hash])) }
        #expect(throws: ChildError.wrongList) { try verify(early) }
        #expect(throws: ChildError.notAMember) { try verify(child(by: bob)) }
    }

    @Test func aRemovedDevicesCommentIsRefusedUnlessItWasSeenBefore() throws {
        let child = try child(by: bob, device: 1)
        let now = try bob.replacingDevice()
        #expect(throws: ChildError.noAuthority) { try verify(child, [alice, now]) }
        #expect(try verify(child, [alice, now], accepted: true).record == child)
    }

    @Test func aListHasOneSpelling() throws {
        let hashes = (0..<5).map { RecordHash(of: [UInt8($0)]) }
        let list = ChildList(hashes)
        #expect(try ChildList(decoding: list.encoded) == list)
        #expect(ChildList(hashes.reversed() + hashes).encoded == list.encoded)
        let start = Array(list.encoded.prefix(24))
        let sorted = hashes.sorted()
        for wrong in [
            [], start.dropLast(), start + [0], start + sorted[1].bytes + sorted[0].bytes,
            start + sorted[0].bytes + sorted[0].bytes,
        ] as [[UInt8]] {
            #expect(throws: NoteRecordError.self) { try ChildList(decoding: wrong) }
        }
    }
}
