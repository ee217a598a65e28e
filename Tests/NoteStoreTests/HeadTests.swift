// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import Testing
import VerifiableMap

@testable import NoteStore

/// The heads of notes, now and at an earlier mark.
@Suite(.everyEngine) struct HeadTests {
    let alice, bob, carol: NoteWriter
    let folder: StoreFolder
    var draft: NoteDraft

    init() throws {
        (alice, bob, carol) = try (NoteWriter("alice"), NoteWriter("bob"), NoteWriter("carol"))
        folder = try StoreFolder()
        draft = try NoteDraft(by: alice)
    }

    private func head() -> LoggedHead {
        LoggedHead(
            control: ControlView(number: draft.state.number, head: draft.state.head), revision: draft.revision,
            children: ChildList(draft.children).hash)
    }

    private func entry(_ head: LoggedHead) -> MapEntry {
        MapEntry(key: LoggedHead.key(of: draft.note), value: head.value)
    }

    @Test mutating func changedHeads_returnsEachChangeOnce_andEarlierHeadsAreKept() async throws {
        let store = folder.store
        #expect(try await store.changedHeads(since: .beginning).entries.isEmpty)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        let (before, then) = (head(), try await store.changedHeads(since: .beginning))
        #expect(then.entries == [entry(before)])
        #expect(try await store.changedHeads(since: then.mark).entries.isEmpty)

        try await folder.push(draft.write(by: bob), by: bob)
        try await folder.push(draft.comment(by: alice), by: alice)
        let now = try await store.changedHeads(since: then.mark)
        #expect(now.entries == [entry(head())])
        #expect(try await store.changedHeads(since: .beginning).entries == [entry(head())])
        #expect(try await store.heads(of: [draft.note], at: then.mark, for: bob.handle) == [.stood(before)])
        #expect(try await store.heads(of: [draft.note], at: now.mark, for: bob.handle) == [.stood(head())])
        #expect(try await store.children(of: draft.note, at: then.mark, for: bob.handle) == ChildList([]))
        #expect(try await store.children(of: draft.note, at: now.mark, for: bob.handle) == ChildList(draft.children))
    }

    @Test mutating func heads_refusesAnAccountThatMayNotReadTheNote() async throws {
        let store = folder.store
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        let mark = try await store.changedHeads(since: .beginning).mark
        #expect(try await store.heads(of: [draft.note], at: mark, for: carol.handle) == [.mayNotRead])
        #expect(try await store.children(of: draft.note, at: mark, for: carol.handle) == nil)
        try await folder.push(draft.share(with: carol, .reader, by: alice), by: alice)
        #expect(try await store.heads(of: [draft.note], at: mark, for: carol.handle) != [.mayNotRead])
        try await folder.push(draft.unshare(carol, rest: [bob], by: alice), by: alice)
        #expect(try await store.heads(of: [draft.note], at: mark, for: carol.handle) == [.mayNotRead])
        #expect(try await store.children(of: draft.note, at: mark, for: carol.handle) == nil)
    }

    @Test mutating func heads_returnsNoHeadBeforeTheNotesCreation() async throws {
        try await folder.push(draft.creation(), by: alice)
        let store = folder.store
        #expect(try await store.heads(of: [draft.note], at: .beginning, for: alice.handle) == [.stood(nil)])
    }
}
