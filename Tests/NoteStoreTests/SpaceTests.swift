// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import NoteLog
import NotesAPI
import ProtocolTesting
import Synchronization
import Testing

@testable import NoteStore

/// Everything that is kept is charged to an account, and the directory's share of the disk is kept free.
@Suite(.everyEngine) struct SpaceTests {
    let alice, bob, carol: NoteWriter

    init() throws { (alice, bob, carol) = try (NoteWriter("alice"), NoteWriter("bob"), NoteWriter("carol")) }

    private func isApplied(_ outcome: NotePushOutcome) -> Bool {
        if case .applied = outcome { true } else { false }
    }

    private func upload(_ draft: NoteDraft, _ blob: BlobID, first: UInt32, count: Int) throws -> ChunkUpload {
        try ChunkUpload(
            note: draft.note, blob: blob, first: first,
            chunks: (0..<count).map { _ in NoteDraft.bytes(ChunkUpload.chunkByteCount) })
    }

    @Test func aFullDiskAcceptsRemovalsAndDeletionsOnly() async throws {
        let reserve = Mutex(DiskReserve.Use.none)
        let folder = try StoreFolder(reserve: { reserve.withLock { $0 } })
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, by: alice), by: alice)
        try await folder.push(draft.share(with: carol, by: alice), by: alice)
        reserve.withLock { $0 = .some }
        let (kept, blob) = (draft, try unwrapped(BlobID(NoteDraft.bytes(16))))
        #expect(try await folder.push(draft.write(10, by: alice), by: alice) == .overLimit(.disk))
        draft = kept
        #expect(try await folder.store.put(upload(draft, blob, first: 0, count: 1), by: alice.handle) == .serverFull)
        #expect(isApplied(try await folder.push(draft.bare(.leave, by: carol), by: carol)))
        #expect(isApplied(try await folder.push(draft.unshare(bob, rest: [carol], by: alice), by: alice)))
        // The keys and revisions of unsharings would also fill the room that is left.
        reserve.withLock { $0 = .half }
        let member = draft
        #expect(try await folder.push(draft.unshare(carol, by: alice), by: alice) == .overLimit(.disk))
        draft = member
        #expect(isApplied(try await folder.push(draft.bare(.delete, by: alice), by: alice)))
        reserve.withLock { $0 = .none }
        #expect(isApplied(try await folder.push(NoteDraft(by: alice).creation(), by: alice)))
    }

    @Test(
        arguments: [
            (255 << 20, 1 << 40, .some), (256 << 20, 1 << 40, .none), (14 << 20, 120 << 20, .some),
            (15 << 20, 120 << 20, .none), (128 << 20, 1 << 40, .some), (127 << 20, 1 << 40, .half),
            (7 << 20, 120 << 20, .half),
        ] as [(UInt64, UInt64, DiskReserve.Use)])
    func theReserveIs256MiBOrAnEighthOfTheDisk(_ free: UInt64, _ total: UInt64, _ use: DiskReserve.Use) {
        #expect(DiskReserve.use(free: free, of: total) == use)
    }

    /// An account that shares a note, erases its notes and repeats this leaves a notice with each reader every time.
    @Test func noticesOfErasedNotesAreChargedToTheirOwner() async throws {
        let folder = try StoreFolder()
        for round in 1...3 {
            var draft = try NoteDraft(by: alice)
            try await folder.push(draft.creation(), by: alice)
            for reader in [bob, carol] { try await folder.push(draft.share(with: reader, by: alice), by: alice) }
            try await folder.store.erase(alice.handle, keepsPlace: true)
            #expect(try folder.usedBytes(alice) == round * 2 * 64)
        }
        folder.pass(181 * 86_400)
        try await folder.push(NoteDraft(by: bob).creation(), by: bob)
        #expect(try folder.usedBytes(alice) == 0)
    }

    @Test func theNotesOfAnAccountHeadAreCharged() async throws {
        let folder = try StoreFolder()
        var heads: [NoteID: NoteHeads.Head] = [:]
        for number in UInt8(0)..<100 {
            let name = try unwrapped(NoteID([UInt8](repeating: number, count: 16)))
            heads[name] = NoteHeads.Head(control: ControlView(number: 1, head: RecordHash(of: [number])), revision: nil)
        }
        func put(_ notes: NoteHeads, after last: AccountHead?) async throws -> (AccountHead, AccountHeadOutcome) {
            let head = try AccountHead(
                author: alice.author, number: (last?.number ?? 0) + 1, previous: last?.hash ?? .none, notes: notes.hash,
                with: alice.sign)
            return (head, try await folder.store.put(AccountHeadChange(head: head, notes: notes), by: alice.author))
        }
        let many = NoteHeads(heads)
        let (first, outcome) = try await put(many, after: nil)
        #expect(outcome == .applied)
        #expect(try folder.usedBytes(alice) == first.encoded.count + many.encoded.count)
        let (second, _) = try await put(NoteHeads(), after: first)
        #expect(
            try folder.usedBytes(alice)
                == first.encoded.count + second.encoded.count + NoteHeads().encoded.count)
        try await folder.store.erase(alice.handle, keepsPlace: true)
        #expect(try folder.usedBytes(alice) == 0)
    }

    @Test func aNewAccountHasLittleRoomAndMoreEachDay() async throws {
        var limits = NoteLimits()
        (limits.bytes, limits.newcomerBytes, limits.bytesPerDay) = (100_000, 5000, 20_000)
        let folder = try StoreFolder(limits)
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        let kept = draft
        #expect(try await folder.push(draft.write(10_000, by: alice), by: alice) == .overLimit(.bytes))
        folder.pass(86_400)
        draft = kept
        #expect(isApplied(try await folder.push(draft.write(10_000, by: alice), by: alice)))
        #expect(limits.bytes(atAge: 4 * 86_400) == 85_000)
        #expect(limits.bytes(atAge: 5 * 86_400) == 100_000)
        #expect(limits.bytes(atAge: .max) == 100_000)
    }

    /// Feed entries of a revision are charged to its writer, those of a share to the sharer, until they are removed.
    @Test func feedEntriesAndNamesOfPushesAreCharged() async throws {
        let folder = try StoreFolder()
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        for friend in [bob, carol] { try await folder.push(draft.share(with: friend, by: alice), by: alice) }
        let (alices, before) = try (folder.usedBytes(alice), folder.usedBytes(bob))
        let revision = try draft.write(1000, by: bob)
        try await folder.push(revision, by: bob)
        let item = try #require(try await folder.items(of: bob).last { if case .revision = $0 { true } else { false } })
        #expect(try folder.usedBytes(bob) - before == item.encoded.count + 3 * 64 + 96)
        #expect(try folder.usedBytes(alice) == alices, "not charged to the owner")
        try await folder.push(draft.unshare(carol, rest: [bob], by: alice), by: alice)
        #expect(try folder.usedBytes(bob) - before == item.encoded.count + 2 * 64 + 96)
    }

    @Test func aShareIsChargedForTheEntriesItAddsToTheFeed() async throws {
        var limits = NoteLimits()
        limits.bytes = 20_000
        let folder = try StoreFolder(limits)
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        for _ in 0..<100 where isApplied(try await folder.push(draft.comment(by: alice), by: alice)) {}
        let used = try folder.usedBytes(alice)
        let kept = draft
        var shares = 0
        for number in 0..<50 {
            let friend = try NoteWriter("friend\(number)")
            guard isApplied(try await folder.push(draft.share(with: friend, by: alice), by: alice)) else { break }
            shares += 1
        }
        draft = kept
        #expect(shares < 50)
        #expect(used <= 20_000)
        #expect(try folder.usedBytes(alice) <= 20_000)
    }
}
