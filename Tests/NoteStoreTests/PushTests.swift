// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// What pushes change in the feeds of members, and which pushes are refused.
@Suite(.everyEngine) struct PushTests {
    let alice, bob, carol: NoteWriter
    let folder: StoreFolder
    var draft: NoteDraft

    init() throws {
        (alice, bob, carol) = try (NoteWriter("alice"), NoteWriter("bob"), NoteWriter("carol"))
        folder = try StoreFolder()
        draft = try NoteDraft(by: alice)
    }

    private func expectApplied(
        _ push: NotePush, by writer: NoteWriter, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await folder.push(push, by: writer)
        guard case .applied = outcome else {
            Issue.record("\(outcome)", sourceLocation: location)
            return
        }
    }

    /// Created, shared with Bob, who writes after Alice; Alice comments.
    private mutating func begin() async throws {
        try await expectApplied(draft.creation(), by: alice)
        try await expectApplied(draft.share(with: bob, by: alice), by: alice)
        try await expectApplied(draft.write(by: alice), by: alice)
        try await expectApplied(draft.write(by: bob), by: bob)
        try await expectApplied(draft.comment(by: alice), by: alice)
    }

    private func kinds(of writer: NoteWriter, after cursor: UInt64 = 0) async throws -> [UInt8] {
        try await folder.items(of: writer, after: cursor).compactMap { $0.encoded.first }
    }

    @Test mutating func everyMembersFeedHasAllRecordsInOrder() async throws {
        try await begin()
        #expect(try await kinds(of: alice) == [1, 5, 1, 2, 2, 3])
        #expect(try await kinds(of: bob) == [1, 1, 4, 2, 2, 3])
        #expect(try await kinds(of: carol).isEmpty)
    }

    @Test mutating func aNewMembersFeedHasTheWholeHistory() async throws {
        try await begin()
        try await expectApplied(draft.share(with: carol, .reader, by: alice), by: alice)
        #expect(try await kinds(of: carol) == [1, 1, 1, 2, 2, 3, 4])
        let revisions = try await folder.items(of: carol).compactMap { item in
            if case .revision(let revision) = item { revision.number } else { nil }
        }
        #expect(revisions == [1, 2])
    }

    @Test mutating func aRepeatedPushChangesNoRowAndGetsTheSameAnswer() async throws {
        try await begin()
        let push = try draft.write(by: bob)
        let first = try await folder.push(push, by: bob)
        let before = try folder.dump()
        #expect(try await folder.push(push, by: bob) == first)
        #expect(try folder.dump() == before)
    }

    @Test mutating func push_refusesANameOfAnotherChange() async throws {
        try await begin()
        let push = try draft.write(by: bob)
        try await expectApplied(push, by: bob)
        let other = try NotePush(name: push.name, operation: draft.write(by: bob).operation)
        #expect(try await folder.push(other, by: bob) == .nameReused)
        // Each account has its own names.
        try await expectApplied(NotePush(name: push.name, operation: draft.comment(by: alice).operation), by: alice)
    }

    @Test mutating func push_answersAnOldHeadWithTheNewOne() async throws {
        try await begin()
        var late = draft
        try await expectApplied(draft.write(by: alice), by: alice)
        let outcome = try await folder.push(late.write(by: bob), by: bob)
        let heads = NoteHeads.Head(
            control: ControlView(number: draft.state.number, head: draft.state.head), revision: draft.revision)
        #expect(outcome == .conflict(heads))
    }

    @Test mutating func push_refusesARecordOfAnotherAuthor() async throws {
        try await begin()
        #expect(try await folder.push(draft.write(by: bob), by: alice) == .refused(.notTheRequesters))
    }

    @Test mutating func push_refusesStrangersAndUnknownNotes() async throws {
        try await begin()
        #expect(try await folder.push(draft.write(by: carol), by: carol) == .refused(.forbidden))
        var other = try NoteDraft(by: carol)
        #expect(try await folder.push(other.write(by: carol), by: carol) == .refused(.unknownNote))
    }

    @Test mutating func aRemovedMembersFeedKeepsTheRemovalOnly() async throws {
        try await begin()
        try await expectApplied(draft.unshare(bob, by: alice), by: alice)
        try await expectApplied(draft.write(by: alice), by: alice)
        let left = try await folder.items(of: bob)
        #expect(left.count == 1)
        guard case .left(let entry) = left.first else { throw Missing() }
        #expect(entry.number == 3)
        #expect(try await folder.push(draft.write(by: bob), by: bob) == .refused(.forbidden))
    }

    @Test mutating func aFeedOfAMemberWhoLeftKeepsTheStepOfLeavingOnly() async throws {
        try await begin()
        try await expectApplied(draft.share(with: carol, .reader, by: alice), by: alice)
        let cursor = try unwrapped(await folder.feed(of: carol).last).position
        try await expectApplied(draft.bare(.leave, by: bob), by: bob)
        try await expectApplied(draft.write(by: alice), by: alice)
        let left = try await folder.items(of: bob)
        #expect(left.count == 1)
        guard case .left(let entry) = left.first else { throw Missing() }
        #expect(entry.number == 4 && entry.author == bob.author)
        #expect(try await kinds(of: carol, after: cursor) == [1, 2], "the others see it")
        let kept = draft
        #expect(try await folder.push(draft.comment(by: bob), by: bob) == .refused(.forbidden))
        draft = kept
        // By a device of the owner's that does not know that Bob left, and then by one that does.
        try await expectApplied(draft.rekey(for: [bob, carol], by: alice), by: alice)
        try await expectApplied(draft.unshare(bob, rest: [carol], by: alice), by: alice)
        #expect(try await folder.items(of: bob).count == 1)
        try await expectApplied(draft.share(with: bob, .reader, by: alice), by: alice)
        #expect(try await folder.items(of: bob).count > 10)
    }

    @Test mutating func anUnsharingBringsEntryWrapAndRevisionTogether() async throws {
        try await begin()
        try await expectApplied(draft.share(with: carol, .reader, by: alice), by: alice)
        let cursor = try unwrapped(await folder.feed(of: carol).last).position
        try await expectApplied(draft.unshare(bob, rest: [carol], by: alice), by: alice)
        #expect(try await kinds(of: carol, after: cursor) == [1, 4, 2])
        let items = try await folder.items(of: carol, after: cursor)
        guard case .control(_, let children) = items.first else { throw Missing() }
        #expect(children == ChildList(draft.children))
    }

    @Test mutating func aMemberWhoIsAddedAgainGetsTheWholeHistory() async throws {
        try await begin()
        try await expectApplied(draft.unshare(bob, by: alice), by: alice)
        try await expectApplied(draft.share(with: bob, .reader, by: alice), by: alice)
        #expect(try await kinds(of: bob) == [6, 1, 1, 1, 1, 2, 2, 2, 3, 4])
    }

    @Test mutating func aDeletedNoteKeepsItsLogOnly() async throws {
        try await begin()
        let blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
        let upload = try ChunkUpload(
            note: draft.note, blob: blob, first: 0, chunks: [NoteDraft.bytes(ChunkUpload.chunkByteCount)])
        #expect(try await folder.store.put(upload, by: bob.handle) == .applied)
        try await expectApplied(draft.bare(.delete, by: alice), by: alice)
        for writer in [alice, bob] { #expect(try await kinds(of: writer) == [1, 1, 1]) }
        #expect(try folder.usedBytes(bob) % 96 == 0, "names of pushes only")
        #expect(try await folder.push(draft.write(by: bob), by: bob) == .refused(.forbidden))
    }

    @Test mutating func afterATransferOnlyTheNewOwnerDeletes() async throws {
        try await begin()
        try await expectApplied(draft.bare(.transfer(bob.handle), by: alice), by: alice)
        let entry = try ControlEntry(
            note: draft.note, number: draft.state.number + 1, previous: draft.state.head, time: 1, author: alice.author,
            action: .delete, with: alice.sign)
        let push = try NoteDraft.push(.control(ControlPush(entry: entry)))
        #expect(try await folder.push(push, by: alice) == .refused(.rule(.authorIsOwner)))
        try await expectApplied(draft.bare(.delete, by: bob), by: bob)
    }

    @Test mutating func aBatchContinuesAfterARefusal() async throws {
        try await begin()
        var unknown = try NoteDraft(by: carol)
        let (refused, applied) = try (unknown.comment(by: alice), draft.comment(by: alice))
        let outcomes = try await folder.store.push(NotePushes([refused, applied]), by: alice.author).outcomes
        #expect(outcomes.first == .refused(.unknownNote))
        guard case .applied = outcomes.last else { throw Missing() }
    }

    @Test mutating func aReopenedStoreHasTheFeedAndTakesPushes() async throws {
        try await begin()
        let items = try await folder.items(of: bob)
        folder.store.close()
        let again = try StoreFolder(in: folder.place)
        #expect(try await again.items(of: bob) == items)
        guard case .applied = try await again.push(draft.write(by: bob), by: bob) else { throw Missing() }
    }
}
