// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import SQLStores
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
    // MARK: Many notes

    private static func entry(_ draft: NoteDraft) -> MapEntry {
        MapEntry(
            key: LoggedHead.key(of: draft.note),
            value: LoggedHead(
                control: ControlView(number: draft.state.number, head: draft.state.head), revision: draft.revision,
                children: ChildList(draft.children).hash
            ).value)
    }

    /// Wherever a page ends: within the notes, the changes or the comments of one.
    @Test func changedHeads_leavesNothingOutBetweenPages() async throws {
        let store = folder.store
        var drafts: [NoteDraft] = []
        for index in 0..<5 {
            var draft = try NoteDraft(by: alice)
            try await folder.push(draft.creation(), by: alice)
            for _ in 0..<index { try await folder.push(draft.write(by: alice), by: alice) }
            for _ in 0..<index { try await folder.push(draft.comment(by: alice), by: alice) }
            drafts.append(draft)
        }
        let first = try await store.changedHeads(since: .beginning).mark
        let before = Set(drafts.map(Self.entry))
        for index in [1, 3, 4] {
            try await folder.push(drafts[index].comment(by: alice), by: alice)
            try await folder.push(drafts[index].share(with: bob, by: alice), by: alice)
        }
        try await folder.push(NoteDraft(by: alice).creation(), by: alice)
        let changed = Set([1, 3, 4].map { Self.entry(drafts[$0]) })
        let now = try await store.changedHeads(since: first).mark
        for count in 1...6 {
            try store.database.engine.readNow { database in
                #expect(Set(try database.entries(since: .beginning, until: first, atOnce: count)) == before)
                let found = Set(try database.entries(since: first, until: now, atOnce: count))
                #expect(found.count == changed.count + 1 && found.isSuperset(of: changed))
                for draft in drafts {
                    let id = try unwrapped(NoteRow(draft.note, in: database)).id
                    let children = try database.children(of: [id], at: now, atOnce: count)[id] ?? []
                    #expect(children.count == draft.children.count && Set(children) == draft.children)
                }
            }
        }
    }

    /// A server gives up on a statement that takes it too long, and one for each note is too many.
    @Test(arguments: [true, false]) func changedHeads_asksByThePage(isFirst: Bool) async throws {
        let place = try CountingPlace(NoteStoreEngine.current.makePlace())
        let folder = try StoreFolder(in: place)
        if !isFirst { try await folder.push(draft.creation(), by: alice) }
        let mark = isFirst ? NoteMark.beginning : try await folder.store.changedHeads(since: .beginning).mark
        try await folder.push(NoteDraft(by: alice).creation(), by: alice)
        _ = place.database.take()
        #expect(try await folder.store.changedHeads(since: mark).entries.count == 1)
        let one = place.database.take()
        for _ in 1..<300 { try await folder.push(NoteDraft(by: alice).creation(), by: alice) }
        _ = place.database.take()
        #expect(try await folder.store.changedHeads(since: mark).entries.count == 300)
        let many = place.database.take()
        #expect(many.statements > one.statements && many.statements <= 2 * one.statements, "two pages")
        #expect(many.largest <= 256)
    }
}
