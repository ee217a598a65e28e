// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NotesClient

/// Records that wait to be sent, in the file of a device's notes.
@Suite struct OutboxTests {
    private let alice: NoteWriter
    private var draft: NoteDraft

    init() throws {
        alice = try NoteWriter("alice")
        draft = try NoteDraft(by: alice)
    }

    @Test mutating func addedRecordsAreReadyInOrder_untilTheServerHasThem() throws {
        let (entry, revision) = (draft.first, try draft.write(by: alice).revision)
        try BookFile.with { file in
            try file.outbox.add(.control(entry), of: entry.note)
            try file.outbox.add(.revision(revision), of: entry.note)
            let ready = try file.outbox.ready()
            #expect(ready.map(\.record.encoded) == [entry.encoded, revision.encoded])
            try file.outbox.settle(ready[0])
            #expect(try file.outbox.ready().map(\.record.encoded) == [revision.encoded])
            let kept = try file.files.file(of: entry.note)
            #expect(kept.accepted.control == [entry] && kept.accepted.revisions.isEmpty)
        }
    }

    @Test mutating func ready_leavesOutARevisionMadeForAnEarlierState() throws {
        let revision = try draft.write(by: alice).revision
        let (first, later) = (
            draft.first, try draft.bare(.share(try NoteWriter("bob").handle, .reader), by: alice).entry
        )
        try BookFile.with { file in
            try file.accept(.control(first), of: first.note)
            try file.outbox.add(.revision(revision), of: first.note)
            #expect(try file.outbox.ready().count == 1)
            try file.accept(.control(later), of: first.note)
            #expect(try file.outbox.ready().isEmpty)
            #expect(try file.files.file(of: first.note).outbox.count == 1, "it waits to be sealed again")
        }
    }

    /// A record that the server applied, and that does not directly follow the accepted ones, arrives with later news.
    @Test mutating func settle_acceptsOnlyTheNextRecordOfTheChain() throws {
        let first = try draft.write(by: alice).revision
        let second = try draft.write(by: alice).revision
        let entry = draft.first
        try BookFile.with { file in
            try file.accept(.control(entry), of: entry.note)
            try file.outbox.add(.revision(second), of: entry.note)
            let waiting = try file.files.file(of: entry.note).outbox
            try file.outbox.settle(try unwrapped(waiting.first))
            let kept = try file.files.file(of: entry.note)
            #expect(kept.outbox.isEmpty && kept.accepted.revisions.isEmpty)
            #expect(first.hash == second.parent)
        }
    }

    @Test mutating func replace_putsNewRecordsInThePlaceOfWaitingOnes() throws {
        let entry = draft.first
        let (old, new) = (try draft.write(by: alice).revision, try draft.write(by: alice).revision)
        try BookFile.with { file in
            try file.accept(.control(entry), of: entry.note)
            try file.outbox.add(.revision(old), of: entry.note)
            let waiting = try file.files.file(of: entry.note).outbox
            try file.outbox.replace(waiting, of: entry.note, with: [.revision(new)], and: nil)
            #expect(try file.files.file(of: entry.note).outbox.map(\.record.encoded) == [new.encoded])
        }
    }

    @Test mutating func batch_staysWithinTheBoundsOfARequest() throws {
        let small = OutboxItem(
            sequence: 1, note: draft.note, record: .revision(try draft.write(by: alice).revision), ownWrap: nil)
        #expect(Outbox.batch(Array(repeating: small, count: 1000)).count == NotePushes.maximumCount)
        let large = OutboxItem(
            sequence: 1, note: draft.note, record: .revision(try draft.write(200_000, by: alice).revision), ownWrap: nil
        )
        let batch = Outbox.batch(Array(repeating: large, count: 100))
        let room = NoteRoute.push.maximumRequestByteCount
        #expect(!batch.isEmpty && batch.count * large.record.encoded.count < room)
    }
}
