// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// Erased accounts leave no data of their own.
@Suite(.everyEngine) struct ErasureTests {
    let alice, bob: NoteWriter
    let folder: StoreFolder
    var mine, theirs: NoteDraft

    init() async throws {
        (alice, bob) = try (NoteWriter("alice"), NoteWriter("bob"))
        folder = try StoreFolder()
        (mine, theirs) = try (NoteDraft(by: alice), NoteDraft(by: bob))
        for (owner, other) in [(alice, bob), (bob, alice)] {
            var draft = owner.handle == alice.handle ? mine : theirs
            try await folder.push(draft.creation(), by: owner)
            try await folder.push(draft.share(with: other, .reader, by: owner), by: owner)
            try await folder.push(draft.write(by: owner), by: owner)
            if owner.handle == alice.handle { mine = draft } else { theirs = draft }
        }
        _ = try await folder.store.register(
            RegistrationEnd(version: 0, record: [UInt8](repeating: 7, count: 192), wrap: [5, 5]), of: alice.handle)
    }

    @Test func erase_leavesNoDataOfTheAccount() async throws {
        #expect(try folder.holds(mine.note.bytes))
        #expect(try folder.holds([UInt8](repeating: 7, count: 192)))
        try await folder.store.erase(alice.handle, keepsPlace: false)
        // The notice that tells members which note is gone is the only row left.
        #expect(try folder.dump().filter { $0.hasPrefix("notes ") }.count == 1)
        #expect(try !folder.holds([UInt8](repeating: 7, count: 192)))
        #expect(try await folder.store.registration(of: alice.handle) == nil)
    }

    @Test func erase_tellsMembersThatTheNoteIsGone() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        let items = try await folder.items(of: bob)
        #expect(items.contains(.gone(mine.note)))
        #expect(
            items.filter { if case .revision(let revision) = $0 { revision.note == mine.note } else { false } }.isEmpty)
    }

    @Test mutating func anOwnerRemovesAnErasedMember() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        let outcome = try await folder.push(theirs.unshare(alice, by: bob), by: bob)
        guard case .applied = outcome else { throw Missing() }
        #expect(try folder.dump().filter { $0.hasPrefix("accounts ") }.count == 1)
    }

    @Test mutating func anotherPushDoesNotCreateTheErasedAccountAgain() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        let outcome = try await folder.push(theirs.rekey(for: [alice], by: bob), by: bob)
        guard case .applied = outcome else { throw Missing() }
        #expect(try folder.dump().filter { $0.hasPrefix("accounts ") }.count == 1)
    }

    @Test func erase_thatKeepsTheAccountAsksItsDevicesToResync() async throws {
        let before = try await folder.store.newest(of: alice.handle)
        try await folder.store.erase(alice.handle, keepsPlace: true)
        let answer = try await FeedAnswer(
            decoding: folder.store.pull(FeedRequest(cursor: before), of: alice.handle))
        #expect(answer == .resyncRequired)
        #expect(try await folder.items(of: alice).isEmpty)
        #expect(try await folder.store.accountKeys(of: alice.handle).password == nil)
        #expect(try folder.usedBytes(alice) == 64, "the notice for the one member of her note")
    }

    /// A request that was admitted before the erasure reaches the store after it.
    @Test mutating func whatAnErasedAccountStillSendsIsRefused() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        let before = try folder.dump()
        let late = try NoteDraft(by: alice)
        let pushes = try NotePushes([late.creation()])
        await #expect(throws: NoteStoreError.unavailable) {
            try await folder.store.push(pushes, by: alice.author)
        }
        #expect(try folder.dump() == before)
    }

    @Test mutating func whatAnErasedAccountIsStillGivenIsRefused() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        var late = try NoteDraft(by: bob)
        try await folder.push(late.creation(), by: bob)
        let before = try folder.dump()
        let pushes = try NotePushes([late.share(with: alice, .reader, by: bob)])
        await #expect(throws: NoteStoreError.unavailable) { try await folder.store.push(pushes, by: bob.author) }
        #expect(try folder.dump() == before)
    }

    /// The next holder may have registered at another front end, and this one is not told.
    @Test func theNextHolderOfAnErasedHandleWritesTenMinutesLater() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        let next = try NoteDraft(by: alice)
        let pushes = try NotePushes([next.creation()])
        folder.pass(599)
        await #expect(throws: NoteStoreError.unavailable) {
            try await folder.store.push(pushes, by: alice.author)
        }
        folder.pass(1)
        guard case .applied = try await folder.store.push(pushes, by: alice.author).outcomes.last else {
            throw Missing()
        }
    }

    @Test func theNextHolderOfAnErasedHandleWritesAtOnceWhereTheyRegistered() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        folder.store.admit(alice.handle)
        let next = try NoteDraft(by: alice)
        guard case .applied = try await folder.push(next.creation(), by: alice) else { throw Missing() }
    }

    @Test func usedByteCountIsWhatTheQuotaCounts() async throws {
        #expect(try await folder.store.usedByteCount(of: alice.handle) == UInt64(folder.usedBytes(alice)))
        #expect(try await folder.store.usedByteCount(of: NoteWriter("carol").handle) == 0)
    }

    @Test func erase_twiceChangesNoRow() async throws {
        try await folder.store.erase(alice.handle, keepsPlace: false)
        let before = try folder.dump()
        try await folder.store.erase(alice.handle, keepsPlace: false)
        #expect(try folder.dump() == before)
    }
}
