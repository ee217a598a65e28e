// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// Two archives on one database, as two front ends have them: neither remembers what the other has changed.
@Suite(.everyEngine) struct SharedTests {
    let alice, bob: NoteWriter
    let first, second: StoreFolder
    var draft: NoteDraft

    init() throws {
        (alice, bob) = try (NoteWriter("alice"), NoteWriter("bob"))
        first = try StoreFolder()
        second = try StoreFolder(in: first.place)
        draft = try NoteDraft(by: alice)
    }

    private mutating func begin() async throws {
        try await first.push(draft.creation(), by: alice)
        try await first.push(draft.share(with: bob, by: alice), by: alice)
    }

    private func upload() throws -> ChunkUpload {
        try ChunkUpload(
            note: draft.note, blob: unwrapped(BlobID(NoteDraft.bytes(16))), first: 0,
            chunks: [NoteDraft.bytes(ChunkUpload.chunkByteCount)])
    }

    /// The second front end has computed Bob's rights; he loses them at the first.
    @Test mutating func aMemberWhoWasRemovedAtOneFrontEndIsRefusedAtTheOther() async throws {
        try await begin()
        let (one, other) = (try upload(), try upload())
        guard case .applied = try await second.push(draft.write(by: bob), by: bob) else { throw Missing() }
        #expect(try await second.store.put(one, by: bob.handle) == .applied)
        var demoted = draft
        try await first.push(draft.unshare(bob, by: alice), by: alice)
        try await first.push(draft.share(with: bob, .reader, by: alice), by: alice)
        #expect(try await second.store.put(other, by: bob.handle) == .forbidden)
        if case .applied = try await second.push(demoted.write(by: bob), by: bob) { Issue.record("applied") }
    }

    /// The mishap: the other front end was not asked to write, and its waiting callers sleep.
    @Test mutating func aPushAtOneFrontEndEndsAWaitAtTheOther() async throws {
        try await begin()
        let cursor = try await first.store.newest(of: bob.handle)
        let store = second.store
        let handle = bob.handle
        async let woken = store.wait(WaitRequest(cursor: cursor), of: handle)
        while store.watch.cursors.isEmpty { await Task.yield() }
        await store.lookForNews()
        #expect(store.watch.cursors.values.map(\.self) == [cursor])
        try await first.push(draft.write(by: alice), by: alice)
        await store.lookForNews()
        #expect(try await woken.newest == cursor + 1)
    }

    /// More feeds than one query asks about.
    @Test mutating func everyWaitingCallerIsLookedAt() async throws {
        try await begin()
        for account in -600..<0 as Range<Int64> { _ = second.store.watch.listen(account, past: 0) }
        let cursor = try await first.store.newest(of: bob.handle)
        let store = second.store
        let handle = bob.handle
        async let woken = store.wait(WaitRequest(cursor: cursor), of: handle)
        while store.watch.cursors.count <= 600 { await Task.yield() }
        try await first.push(draft.write(by: alice), by: alice)
        await store.lookForNews()
        #expect(try await woken.newest == cursor + 1)
    }

    /// Comments at both front ends at the same time: every feed has each of them, its positions follow each other, and each account pays for
    /// what it wrote.
    @Test mutating func writersAtTwoFrontEndsFillEachFeedWithoutAGap() async throws {
        try await begin()
        let count = 12
        let alices = try (0..<count).map { _ in try draft.comment(by: alice) }
        let bobs = try (0..<count).map { _ in try draft.comment(by: bob) }
        let before = try await first.feed(of: bob).count
        async let one: Void = Self.push(alices, to: first, by: alice)
        async let other: Void = Self.push(bobs, to: second, by: bob)
        _ = try await (one, other)
        for writer in [alice, bob] {
            let feed = try await second.feed(of: writer)
            #expect(feed.map(\.position) == (1...UInt64(feed.count)).map(\.self))
            #expect(feed.filter { if case .child = $0.item { true } else { false } }.count == 2 * count)
        }
        #expect(try await first.feed(of: bob).count == before + 2 * count)
        let items = try await first.items(of: bob).filter { if case .child = $0 { true } else { false } }
        let own = items.filter { if case .child(let child) = $0 { child.author == bob.author } else { false } }
        let bytes = own.reduce(0) { $0 + $1.encoded.count }
        #expect(try first.usedBytes(bob) == bytes + count * (2 * 64 + 96))
    }

    /// As a client does: what could not be done now is sent again.
    private static func push(_ pushes: [NotePush], to folder: StoreFolder, by writer: NoteWriter) async throws {
        for push in pushes {
            while true {
                do {
                    let outcome = try await folder.push(push, by: writer)
                    guard case .applied = outcome else { throw Missing() }
                    break
                } catch NoteStoreError.unavailable { continue }
            }
        }
    }

    /// Two first requests of a person reach two front ends.
    @Test func anAccountThatBothFrontEndsHearOfIsMadeOnce() async throws {
        try await withThrowingTaskGroup { group in
            for folder in [first, second, first, second] {
                let push = try NoteDraft(by: alice).creation()
                group.addTask { [alice] in try await Self.push([push], to: folder, by: alice) }
            }
            try await group.waitForAll()
        }
        #expect(try first.dump().filter { $0.hasPrefix("accounts ") }.count == 1)
        #expect(try await first.feed(of: alice).map(\.position) == (1...8).map(UInt64.init))
    }
}
