// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// The cursor of a device, and waiting for new entries.
@Suite(.everyEngine) struct FeedTests {
    let alice, bob: NoteWriter

    init() throws { (alice, bob) = try (NoteWriter("alice"), NoteWriter("bob")) }

    private func answer(_ folder: StoreFolder, _ cursor: UInt64, limit: UInt16 = 1000) async throws -> FeedAnswer {
        try await FeedAnswer(
            decoding: folder.store.pull(FeedRequest(cursor: cursor, limit: limit), of: alice.handle))
    }

    private func page(_ folder: StoreFolder, _ cursor: UInt64, limit: UInt16 = 1000) async throws -> FeedPage {
        guard case .page(let page) = try await answer(folder, cursor, limit: limit) else { throw Missing() }
        return page
    }

    @Test func pagesHaveTheRequestedLengthAndLoseNoEntry() async throws {
        let folder = try StoreFolder()
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        for _ in 0..<7 { try await folder.push(draft.write(by: alice), by: alice) }
        let whole = try await folder.feed(of: alice)
        #expect(whole.count == 9)
        #expect(try await folder.feed(of: alice, limit: 2) == whole)
        let first = try await page(folder, 0, limit: 2)
        #expect(first.entries.count == 2 && first.next == 2 && first.newest == 9)
        #expect(try await page(folder, 9) == FeedPage(entries: [], next: 9, newest: 9))
    }

    @Test func aPageEndsBeforeItsMaximumLength() async throws {
        var limits = NoteLimits()
        limits.pageBytes = 3000
        let folder = try StoreFolder(limits)
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        for _ in 0..<4 { try await folder.push(draft.write(2000, by: alice), by: alice) }
        #expect(try await page(folder, 2).entries.count == 1)
        #expect(try await folder.feed(of: alice).count == 6)
    }

    @Test func pull_returnsAnEmptyPageToAnUnknownAccount() async throws {
        let folder = try StoreFolder()
        #expect(try await page(folder, 0) == FeedPage(entries: [], next: 0, newest: 0))
        #expect(try await answer(folder, 1) == .serverWentBack)
    }

    @Test func pull_reportsACursorAheadOfTheFeed() async throws {
        let folder = try StoreFolder()
        try await folder.push(NoteDraft(by: alice).creation(), by: alice)
        #expect(try await answer(folder, 3) == .serverWentBack)
    }

    @Test func aDeletedNoteIsForgottenAfterHalfAYear_andOldCursorsResync() async throws {
        let folder = try StoreFolder()
        var (gone, kept) = try (NoteDraft(by: alice), NoteDraft(by: alice))
        try await folder.push(gone.creation(), by: alice)
        try await folder.push(gone.bare(.delete, by: alice), by: alice)
        folder.pass(180 * 86_400)
        try await folder.push(kept.creation(), by: alice)
        #expect(try await page(folder, 1).entries.count == 3)
        folder.pass(86_401)
        try await folder.push(kept.write(by: alice), by: alice)
        #expect(try await answer(folder, 1) == .resyncRequired)
        let items = try await folder.items(of: alice)
        #expect(items.count == 3)
        let newest = try await page(folder, 0).newest
        #expect(try await page(folder, newest).entries.isEmpty)
        #expect(try await page(folder, newest - 1).entries.count == 1)
    }

    @Test func theNameOfAPushIsRememberedForAMonth() async throws {
        let folder = try StoreFolder()
        let draft = try NoteDraft(by: alice)
        let creation = try draft.creation()
        try await folder.push(creation, by: alice)
        folder.pass(31 * 86_400)
        // The store judges it as a second creation.
        let head = NoteHeads.Head(control: ControlView(number: 1, head: draft.first.hash), revision: nil)
        #expect(try await folder.push(creation, by: alice) == .conflict(head))
    }

    @Test func aPushEndsAWait() async throws {
        let folder = try StoreFolder()
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        let cursor = try await folder.store.newest(of: bob.handle)
        let push = try draft.write(by: alice)
        async let woken = folder.store.wait(WaitRequest(cursor: cursor), of: bob.handle)
        try await folder.push(push, by: alice)
        #expect(try await woken.newest == cursor + 1)
    }

    @Test func wait_returnsAtOnceForAnOldCursor() async throws {
        let folder = try StoreFolder()
        try await folder.push(NoteDraft(by: alice).creation(), by: alice)
        #expect(try await folder.store.wait(WaitRequest(cursor: 1), of: alice.handle).newest == 2)
    }

    @Test func aStoppingStoreEndsAWait() async throws {
        let folder = try StoreFolder()
        try await folder.push(NoteDraft(by: alice).creation(), by: alice)
        async let woken = folder.store.wait(WaitRequest(cursor: 2), of: alice.handle)
        folder.store.stopWaiting()
        #expect(try await woken.newest == 2)
    }

    @Test func looking_wakesWhoKnowsLessThanTheFeedHas_andNobodyElse() async throws {
        let watch = FeedWatch()
        let behind = try #require(watch.listen(1, past: 4))
        let level = try #require(watch.listen(1, past: 5))
        let other = try #require(watch.listen(2, past: 0))
        #expect(watch.cursors == [1: 4, 2: 0])
        #expect(watch.wake(standing: [1: 5]) == 1)
        await watch.wait(for: behind, atMost: .seconds(60))
        #expect(watch.cursors == [1: 5, 2: 0])
        for listener in [level, other] { watch.forget(listener) }
        #expect(watch.cursors.isEmpty)
    }

    @Test func listen_refusesMoreListenersThanAnAccountMayHave() {
        let watch = FeedWatch()
        let listeners = (0..<FeedWatch.perAccount).compactMap { _ in watch.listen(1) }
        #expect(listeners.count == FeedWatch.perAccount)
        #expect(watch.listen(1) == nil)
        #expect(watch.listen(2) != nil)
        watch.forget(listeners[0])
        #expect(watch.listen(1) != nil)
    }
}
