// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// The limits of an account and of a note; a member can be removed without room.
@Suite(.everyEngine) struct LimitTests {
    let alice, bob, carol: NoteWriter

    init() throws { (alice, bob, carol) = try (NoteWriter("alice"), NoteWriter("bob"), NoteWriter("carol")) }

    private func folder(_ change: (inout NoteLimits) -> Void) throws -> StoreFolder {
        var limits = NoteLimits()
        change(&limits)
        return try StoreFolder(limits)
    }

    private func isApplied(_ outcome: NotePushOutcome) -> Bool {
        if case .applied = outcome { true } else { false }
    }

    @Test func bytesAreChargedToTheWriterUntilTheNoteIsDeleted() async throws {
        let folder = try folder { $0.bytes = 5000 }
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        #expect(isApplied(try await folder.push(draft.write(4000, by: bob), by: bob)))
        let kept = draft
        #expect(try await folder.push(draft.write(4000, by: bob), by: bob) == .overLimit(.bytes))
        draft = kept
        #expect(isApplied(try await folder.push(draft.unshare(bob, by: alice), by: alice)))
        #expect(try folder.usedBytes(bob) > 4000)
        #expect(isApplied(try await folder.push(draft.bare(.delete, by: alice), by: alice)))
        #expect(try folder.usedBytes(bob) == 96, "the name of the applied push")
        folder.pass(31 * 86_400)
        try await folder.push(draft.creation(), by: carol)
        #expect(try folder.usedBytes(bob) == 0)
    }

    /// The quota that the operator sets for one account counts at once, is that of no other, and ends with the account.
    @Test func aQuotaOfItsOwnCountsInPlaceOfThatOfAll() async throws {
        let folder = try folder { $0.bytes = 5000 }
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        try await folder.store.setQuota(20_000, of: bob.handle)
        #expect(try await folder.store.quota(of: bob.handle) == 20_000)
        #expect(isApplied(try await folder.push(draft.write(4000, by: bob), by: bob)))
        #expect(isApplied(try await folder.push(draft.write(4000, by: bob), by: bob)), "more than all may have")
        var kept = draft
        #expect(
            try await folder.push(draft.write(4900, by: alice), by: alice) == .overLimit(.bytes), "of no other account")
        draft = kept
        try await folder.store.setQuota(0, of: bob.handle)
        kept = draft
        #expect(try await folder.push(draft.write(10, by: bob), by: bob) == .overLimit(.bytes))
        draft = kept
        #expect(try folder.usedBytes(bob) > 8000, "what it has stays")
        try await folder.store.setQuota(nil, of: bob.handle)
        #expect(try await folder.push(draft.write(10, by: bob), by: bob) == .overLimit(.bytes), "more than that of all")
        draft = kept
        try await folder.store.setQuota(.max, of: bob.handle)
        #expect(try await folder.store.quota(of: bob.handle) == NoteArchive.maximumQuota)
        #expect(isApplied(try await folder.push(draft.write(10, by: bob), by: bob)))
        // An account that has written nothing yet has one too.
        #expect(try await folder.store.quota(of: carol.handle) == nil)
        try await folder.store.setQuota(1, of: carol.handle)
        #expect(try await folder.store.quota(of: carol.handle) == 1)
        try await folder.store.erase(carol.handle, keepsPlace: false)
        #expect(try await folder.store.quota(of: carol.handle) == nil)
        await #expect(throws: NoteStoreError.unavailable) { try await folder.store.setQuota(1, of: carol.handle) }
    }

    @Test func aMemberIsRemovedAndANoteDeletedWithoutRoom() async throws {
        let folder = try folder { ($0.bytes, $0.entries) = (2400, 2) }
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        let kept = draft
        #expect(try await folder.push(draft.rekey(for: [bob], by: alice), by: alice) == .overLimit(.entries))
        draft = kept
        #expect(try await folder.push(draft.write(1000, by: alice), by: alice) == .overLimit(.bytes))
        draft = kept
        #expect(isApplied(try await folder.push(draft.unshare(bob, by: alice), by: alice)))
        #expect(isApplied(try await folder.push(draft.bare(.delete, by: alice), by: alice)))
    }

    /// Each removal costs keys for all remaining members.
    @Test func removalsHaveALimitOfTheirOwn() async throws {
        let folder = try folder { ($0.bytes, $0.removalBytes) = (30_000, 10_000) }
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        var members: [NoteWriter] = []
        for number in 0..<100 {
            let (reader, kept) = (try NoteWriter("reader\(number)"), draft)
            guard isApplied(try await folder.push(draft.share(with: reader, by: alice), by: alice)) else {
                draft = kept
                break
            }
            members.append(reader)
        }
        try #require((3..<100).contains(members.count))
        var outcomes: [NotePushOutcome] = []
        while let reader = members.popLast() {
            outcomes.append(try await folder.push(draft.unshare(reader, rest: members, by: alice), by: alice))
            guard isApplied(outcomes[outcomes.count - 1]) else { break }
        }
        #expect(outcomes.first.map(isApplied) == true && outcomes.last == .overLimit(.bytes))
        #expect(try (30_001...40_000).contains(folder.usedBytes(alice)))
    }

    @Test func push_refusesMoreNotesThanAnAccountMayHave() async throws {
        let folder = try folder { $0.notes = 1 }
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        let other = try NoteDraft(by: alice).creation()
        #expect(try await folder.push(other, by: alice) == .overLimit(.notes))
        #expect(isApplied(try await folder.push(NoteDraft(by: bob).creation(), by: bob)))
        try await folder.push(draft.bare(.delete, by: alice), by: alice)
        #expect(isApplied(try await folder.push(other, by: alice)))
    }

    @Test func push_refusesMoreMembersOrChildrenThanANoteMayHave() async throws {
        let folder = try folder { ($0.members, $0.children) = (1, 1) }
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        #expect(isApplied(try await folder.push(draft.comment(by: bob), by: bob)))
        #expect(try await folder.push(draft.comment(by: bob), by: bob) == .overLimit(.children))
        #expect(try await folder.push(draft.share(with: carol, by: alice), by: alice) == .overLimit(.members))
    }
}
