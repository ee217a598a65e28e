// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// Pieces of files, which the members of a note store and fetch.
@Suite(.everyEngine) struct BlobTests {
    let alice, bob, carol: NoteWriter
    let folder: StoreFolder
    let blob: BlobID
    let chunks: [[UInt8]]
    var draft: NoteDraft

    init() async throws {
        (alice, bob, carol) = try (NoteWriter("alice"), NoteWriter("bob"), NoteWriter("carol"))
        var limits = NoteLimits()
        limits.bytes = 400_000
        folder = try StoreFolder(limits)
        blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
        chunks = (0..<3).map { [UInt8](repeating: $0, count: ChunkUpload.chunkByteCount) }
        draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, .reader, by: alice), by: alice)
    }

    private func put(_ chunks: [[UInt8]], at first: UInt32, by writer: NoteWriter) async throws -> BlobOutcome {
        try await folder.store.put(
            ChunkUpload(note: draft.note, blob: blob, first: first, chunks: chunks), by: writer.handle)
    }

    private func get(_ first: UInt32, _ count: UInt8 = 16, for writer: NoteWriter) async throws -> [[UInt8]] {
        try await folder.store.chunks(
            ChunkRequest(note: draft.note, blob: blob, first: first, count: count), for: writer.handle
        ).chunks
    }

    @Test func membersFetchThePiecesThatAWriterStored() async throws {
        #expect(try await put(chunks, at: 0, by: alice) == .applied)
        #expect(try await get(0, for: bob) == chunks)
        #expect(try await get(1, 1, for: bob) == [chunks[1]])
        #expect(try await get(3, for: bob).isEmpty)
        #expect(try await get(0, for: carol).isEmpty)
    }

    @Test func put_refusesReadersAndStrangers() async throws {
        #expect(try await put(chunks, at: 0, by: bob) == .forbidden)
        #expect(try await put(chunks, at: 0, by: carol) == .forbidden)
    }

    @Test func put_refusesAnotherPieceAtAUsedPlace() async throws {
        #expect(try await put([chunks[0]], at: 0, by: alice) == .applied)
        let used = try folder.usedBytes(alice)
        #expect(try await put([chunks[0]], at: 0, by: alice) == .applied)
        #expect(try folder.usedBytes(alice) == used)
        #expect(try await put([chunks[1], chunks[2]], at: 0, by: alice) == .conflict)
        #expect(try await get(0, for: alice) == [chunks[0]])
    }

    @Test func chunks_endsBeforeAGap() async throws {
        #expect(try await put([chunks[0]], at: 0, by: alice) == .applied)
        #expect(try await put([chunks[2]], at: 2, by: alice) == .applied)
        #expect(try await get(0, for: alice) == [chunks[0]])
    }

    @Test func put_storesNoPieceIfNotAllHaveRoom() async throws {
        #expect(try await put(chunks, at: 0, by: alice) == .applied)
        #expect(try await put(chunks + chunks, at: 3, by: alice) == .overLimit)
        #expect(try await get(3, for: alice).isEmpty)
        #expect(try await folder.store.drop(BlobRemoval(note: draft.note, blob: blob), by: alice.handle) == .applied)
        #expect(try await put(chunks + chunks, at: 3, by: alice) == .applied)
    }

    @Test mutating func drop_acceptsTheAccountThatStoredTheFileAndTheNotesOwner() async throws {
        try await folder.push(draft.share(with: carol, by: alice), by: alice)
        let removal = BlobRemoval(note: draft.note, blob: blob)
        #expect(try await put(chunks, at: 0, by: carol) == .applied)
        #expect(try await folder.store.drop(removal, by: bob.handle) == .forbidden)
        #expect(try await folder.store.drop(removal, by: alice.handle) == .applied)
        #expect(try await folder.store.drop(removal, by: alice.handle) == .applied)
        #expect(try await put(chunks, at: 0, by: carol) == .applied)
        #expect(try await folder.store.drop(removal, by: carol.handle) == .applied)
    }

    @Test mutating func drop_acceptsARemovedMemberForTheirOwnFileOnly() async throws {
        try await folder.push(draft.share(with: carol, by: alice), by: alice)
        #expect(try await put(chunks, at: 0, by: carol) == .applied)
        let others = try unwrapped(BlobID(NoteDraft.bytes(16)))
        let upload = try ChunkUpload(note: draft.note, blob: others, first: 0, chunks: [chunks[0]])
        #expect(try await folder.store.put(upload, by: alice.handle) == .applied)
        try await folder.push(draft.unshare(carol, rest: [bob], by: alice), by: alice)
        let used = try folder.usedBytes(carol)
        #expect(
            try await folder.store.drop(BlobRemoval(note: draft.note, blob: others), by: carol.handle) == .forbidden)
        let unknown = try unwrapped(BlobID(NoteDraft.bytes(16)))
        #expect(
            try await folder.store.drop(BlobRemoval(note: draft.note, blob: unknown), by: carol.handle) == .forbidden)
        #expect(try await folder.store.drop(BlobRemoval(note: draft.note, blob: blob), by: carol.handle) == .applied)
        let left = try folder.usedBytes(carol)
        #expect(left < used)
    }

    @Test mutating func chunks_returnsNoPieceToARemovedMember() async throws {
        #expect(try await put(chunks, at: 0, by: alice) == .applied)
        try await folder.push(draft.unshare(bob, by: alice), by: alice)
        #expect(try await get(0, for: bob).isEmpty)
        #expect(try await get(0, for: alice) == chunks)
    }
}
