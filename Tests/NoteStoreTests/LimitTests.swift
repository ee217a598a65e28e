// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// The limits of an account and of a note; a member can be removed without room.
@Suite struct LimitTests {
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
