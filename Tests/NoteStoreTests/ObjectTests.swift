// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ObjectStores
import ObjectTesting
import ProtocolTesting
import SQLStores
import Synchronization
import Testing

@testable import NoteStore

/// Pieces of files whose bodies are objects.
@Suite(.everyEngine) struct ObjectTests {
    let alice, bob: NoteWriter
    let objects: MemoryObjects
    let hook = Hook()
    let log = LogLines()
    let folder: StoreFolder
    let blob: BlobID
    let chunks = (0..<3).map { [UInt8](repeating: $0, count: ChunkUpload.chunkByteCount) }
    var draft: NoteDraft

    init() async throws {
        (alice, bob) = try (NoteWriter("alice"), NoteWriter("bob"))
        let hook = hook
        objects = MemoryObjects { hook.call($0) }
        folder = try StoreFolder(objects: objects, logger: log.logger)
        blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
        draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, .reader, by: alice), by: alice)
    }

    private func put(_ chunks: [[UInt8]], at first: UInt32 = 0) async throws -> BlobOutcome {
        try await folder.store.put(
            try ChunkUpload(note: draft.note, blob: blob, first: first, chunks: chunks), by: alice.handle)
    }

    private func get() async throws -> [[UInt8]] {
        try await folder.store.chunks(
            ChunkRequest(note: draft.note, blob: blob, first: 0, count: 16), for: bob.handle
        ).chunks
    }

    private func paths() async throws -> [String] { try await objects.list("blob/") }

    private func count(_ table: String) throws -> Int { try folder.dump().filter { $0.hasPrefix("\(table) ") }.count }

    // MARK: A bucket that was lost

    @Test func piecesWithoutTheirObjectsAreCounted() async throws {
        #expect(try await put(chunks) == .applied)
        let other = try unwrapped(BlobID(NoteDraft.bytes(16)))
        let upload = try ChunkUpload(note: draft.note, blob: other, first: 0, chunks: [chunks[0]])
        #expect(try await folder.store.put(upload, by: alice.handle) == .applied)
        let database = try folder.place.open()
        defer { database.close() }
        #expect(
            try await NoteObjects.lost(of: database, in: objects) == LostNoteFiles(pieces: 0, files: 0, accounts: 0))
        let names = try await database.read { database in
            try database.rows("SELECT object, blob FROM chunks ORDER BY id").map { (try $0.bytes(0), try $0.bytes(1)) }
        }
        let first = names.filter { $0.1 == blob.bytes }.map { NoteObjects.path($0.0) }
        for path in first.prefix(2) { try await objects.remove(path) }
        #expect(
            try await NoteObjects.lost(of: database, in: objects) == LostNoteFiles(pieces: 2, files: 1, accounts: 1))
        await #expect(throws: NoteStoreError.unavailable) { try await get() }
        for path in try await paths() { try await objects.remove(path) }
        #expect(
            try await NoteObjects.lost(of: database, in: objects) == LostNoteFiles(pieces: 4, files: 2, accounts: 1))
    }

    // MARK: Storing

    @Test func theBodiesAreObjectsAndMembersFetchThem() async throws {
        #expect(try await put(chunks) == .applied)
        #expect(try await paths().count == 3)
        #expect(try !folder.holds(chunks[1]))
        #expect(try await get() == chunks)
        #expect(try count("coming_objects") == 0)
    }

    @Test func aBodyCostsTheSameAsInARow() async throws {
        let before = try folder.usedBytes(alice)
        #expect(try await put(chunks) == .applied)
        #expect(try folder.usedBytes(alice) == before + chunks.reduce(0) { $0 + $1.count })
        _ = try await folder.store.drop(BlobRemoval(note: draft.note, blob: blob), by: alice.handle)
        #expect(try folder.usedBytes(alice) == before)
    }

    @Test func whatIsThereIsNotPutAgain_andAnotherBodyIsAConflict() async throws {
        #expect(try await put([chunks[0]]) == .applied)
        #expect(try await put([chunks[0], chunks[1]]) == .applied)
        #expect(try await paths().count == 2)
        #expect(try await put([chunks[1], chunks[2]]) == .conflict)
        #expect(try await paths().count == 2)
    }

    @Test func whatMayNotBeStoredIsNotPut() async throws {
        let upload = try ChunkUpload(note: draft.note, blob: blob, first: 0, chunks: chunks)
        #expect(try await folder.store.put(upload, by: bob.handle) == .forbidden)
        #expect(try await paths().isEmpty)
        #expect(try count("coming_objects") == 0)
    }

    @Test func whatBecameForbiddenWhileItWasPutIsRemoved() async throws {
        let database = folder.store.database.engine
        hook.set { operation in
            guard case .put = operation else { return nil }
            try? database.writeNow { _ = try $0.run("UPDATE notes SET deleted = 1") }
            return nil
        }
        #expect(try await put(chunks) == .forbidden)
        #expect(try await paths().count == 3)
        await folder.store.keepUpObjects()
        #expect(try await paths().isEmpty)
        #expect(try count("chunks") == 0)
    }

    @Test func whatTookTooLongGetsNoRow() async throws {
        let database = folder.store.database.engine
        hook.set { operation in
            guard case .put = operation else { return nil }
            try? database.writeNow { _ = try $0.run("DELETE FROM coming_objects") }
            return nil
        }
        await #expect(throws: NoteStoreError.unavailable) { try await put(chunks) }
        #expect(try count("chunks") == 0)
    }

    @Test func ofTwoWhoStoreTheSameOneObjectStays() async throws {
        let other = try StoreFolder(in: folder.place, objects: objects)
        let upload = try ChunkUpload(note: draft.note, blob: blob, first: 0, chunks: chunks)
        async let first = folder.store.put(upload, by: alice.handle)
        async let second = other.store.put(upload, by: alice.handle)
        #expect(try await [first, second] == [.applied, .applied])
        await folder.store.keepUpObjects()
        #expect(try await paths().count == 3)
        #expect(try await get() == chunks)
    }

    // MARK: Removing

    @Test func anObjectGoesAfterItsRow_howeverThatGoes() async throws {
        #expect(try await put(chunks) == .applied)
        try await folder.store.erase(alice.handle, keepsPlace: false)
        #expect(try count("going_objects") == 3)
        #expect(try await paths().count == 3)
        await folder.store.keepUpObjects()
        #expect(try await paths().isEmpty)
        folder.pass(4_000)
        await folder.store.keepUpObjects()
        #expect(try count("going_objects") == 0)
    }

    @Test func aStoreThatDoesNotAnswerIsAskedAgain() async throws {
        #expect(try await put(chunks) == .applied)
        _ = try await folder.store.drop(BlobRemoval(note: draft.note, blob: blob), by: alice.handle)
        hook.set { operation in
            if case .remove = operation { .before(.unavailable(.deadline)) } else { nil }
        }
        await folder.store.keepUpObjects()
        #expect(try count("going_objects") == 3)
        hook.set { _ in nil }
        await folder.store.keepUpObjects()
        #expect(try await paths().isEmpty)
    }

    /// Pieces of another file that was dropped: their paths, in the order of their names.
    private func dropMany(_ count: Int) async throws -> [String] {
        let pieces = (0..<count).map { [UInt8](repeating: UInt8($0), count: ChunkUpload.chunkByteCount) }
        for first in stride(from: 0, to: count, by: 4) {
            let part = Array(pieces[first..<min(first + 4, count)])
            #expect(try await put(part, at: UInt32(first)) == .applied)
        }
        _ = try await folder.store.drop(BlobRemoval(note: draft.note, blob: blob), by: alice.handle)
        return try await paths().sorted()
    }

    private func refuseRemovals(of refused: Set<String>) {
        hook.set { operation in
            guard case .remove(let path) = operation, refused.contains(path) else { return nil }
            return .before(.refused(.status(403, code: "")))
        }
    }

    /// One of the two is in the first step, wherever it begins, and one of the others is not.
    @Test func anObjectThatIsNotRemovedKeepsNoOther() async throws {
        let all = try await dropMany(18)
        let refused = [all[3], all[12]]
        refuseRemovals(of: Set(refused))
        await folder.store.keepUpObjects()
        #expect(try await paths().sorted() == refused)
        for path in refused {
            #expect(log.lines.contains { $0.contains("was not removed") && $0.contains(path) }, "\(log.lines)")
        }
        folder.pass(4_000)
        await folder.store.keepUpObjects()
        #expect(try count("going_objects") == 2)
        refuseRemovals(of: [])
        await folder.store.keepUpObjects()
        #expect(try await paths().isEmpty)
    }

    /// They are one whole step. Each call begins anywhere, so that one of many meets the others too.
    @Test func objectsThatStandTogetherAndAreNotRemovedKeepNoOthersForGood() async throws {
        let all = try await dropMany(18)
        refuseRemovals(of: Set(all.prefix(16)))
        for _ in 0..<32 { await folder.store.keepUpObjects() }
        #expect(try await paths().sorted() == Array(all.prefix(16)))
    }

    // MARK: Bodies in rows

    @Test func bodiesThatCameInRowsBecomeObjects() async throws {
        let inline = try StoreFolder(in: folder.place)
        let upload = try ChunkUpload(note: draft.note, blob: blob, first: 0, chunks: chunks)
        #expect(try await inline.store.put(upload, by: alice.handle) == .applied)
        #expect(try await get() == chunks)
        let before = try folder.usedBytes(alice)
        await folder.store.keepUpObjects()
        #expect(try await paths().count == 3)
        #expect(try await get() == chunks)
        #expect(try folder.usedBytes(alice) == before)
        // Whoever has no store says so, and hands nothing out.
        await #expect(throws: NoteStoreError.unavailable) {
            try await inline.store.chunks(
                ChunkRequest(note: draft.note, blob: blob, first: 0, count: 16), for: bob.handle)
        }
    }

    // MARK: The share of one call

    /// Pieces as a directory of one machine brings them.
    private func putRows(_ pieces: [[UInt8]]) async throws {
        let inline = try StoreFolder(in: folder.place)
        for first in stride(from: 0, to: pieces.count, by: 4) {
            let part = Array(pieces[first..<min(first + 4, pieces.count)])
            let upload = try ChunkUpload(note: draft.note, blob: blob, first: UInt32(first), chunks: part)
            #expect(try await inline.store.put(upload, by: alice.handle) == .applied)
        }
    }

    @Test func aCallPutsItsShareOfBodiesAndTheNextOnesTheRest() async throws {
        try await putRows(chunks)
        for count in [2, 3, 3] {
            await folder.store.keepUpObjects(atMost: 2)
            #expect(try await paths().count == count)
        }
        #expect(try await get() == chunks)
    }

    @Test func aCallRemovesItsShareOfObjectsAndTheNextOnesTheRest() async throws {
        #expect(try await put(chunks) == .applied)
        _ = try await folder.store.drop(BlobRemoval(note: draft.note, blob: blob), by: alice.handle)
        for count in [1, 0] {
            await folder.store.keepUpObjects(atMost: 2)
            #expect(try await paths().count == count)
        }
    }

    /// Each write takes ten seconds.
    @Test func ofAStoreThatIsSlowACallAsksLess() async throws {
        let pieces = (0..<18).map { [UInt8](repeating: UInt8($0), count: ChunkUpload.chunkByteCount) }
        try await putRows(pieces)
        let folder = folder
        hook.set { operation in
            if case .put = operation { folder.pass(10) }
            return nil
        }
        for count in [16, 18] {
            await folder.store.keepUpObjects()
            #expect(try await paths().count == count)
        }
    }

    private func putAndDropAnother() async throws {
        let other = try unwrapped(BlobID(NoteDraft.bytes(16)))
        let upload = try ChunkUpload(note: draft.note, blob: other, first: 0, chunks: chunks)
        #expect(try await folder.store.put(upload, by: alice.handle) == .applied)
        _ = try await folder.store.drop(BlobRemoval(note: draft.note, blob: other), by: alice.handle)
    }

    /// Removals come first, and each takes ten seconds.
    @Test func slowRemovalsDoNotKeepBodiesFromBeingPut() async throws {
        try await putAndDropAnother()
        try await putRows(chunks)
        let folder = folder
        hook.set { operation in
            if case .remove = operation { folder.pass(10) }
            return nil
        }
        await folder.store.keepUpObjects()
        #expect(try await paths().count == 3)
        #expect(try await get() == chunks)
    }

    @Test func refusedRemovalsDoNotKeepBodiesFromBeingPut() async throws {
        try await putAndDropAnother()
        try await putRows(chunks)
        hook.set { operation in
            if case .remove = operation { .before(.refused(.status(403, code: ""))) } else { nil }
        }
        await folder.store.keepUpObjects()
        #expect(try await paths().count == 6)
        #expect(try count("going_objects") == 3)
    }

    /// One of them was not put: the others need not be put again.
    @Test func whatWasPutBesideAFailureStays() async throws {
        try await putRows(chunks)
        let isFirst = Mutex(true)
        hook.set { operation in
            guard case .put = operation else { return nil }
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .before(.refused(.status(403, code: ""))) : nil
            }
        }
        await folder.store.keepUpObjects()
        #expect(try await paths().count == 2)
        await folder.store.keepUpObjects()
        #expect(try await paths().count == 3)
        #expect(try await get() == chunks)
    }

    // MARK: Attacks of whoever has the bucket

    private func replace(_ path: String, _ bytes: [UInt8]?) async throws {
        try await objects.remove(path)
        if let bytes { try await objects.putImmutable(bytes, at: path) }
    }

    @Test func anObjectThatIsNotWhatWasPutIsNotHandedOut_andNamed() async throws {
        #expect(try await put(chunks) == .applied)
        let path = try #require(try await paths().first)
        let bytes = try #require(try await objects.get(path)).bytes
        let last = try #require(try await paths().last)
        let other = try #require(try await objects.get(last)).bytes
        let changes = [[], bytes.dropLast(), bytes + [0], bytes.map { $0 ^ 1 }, other] as [[UInt8]?]
        for change in changes + [nil] {
            log.clear()
            try await replace(path, change)
            await #expect(throws: NoteStoreError.unavailable) { try await get() }
            #expect(log.lines.contains { $0.contains(path) }, "\(log.lines)")
        }
        try await replace(path, bytes)
        #expect(try await get() == chunks)
    }

    @Test func aPieceThatIsDroppedWhileItIsReadIsNotMissed() async throws {
        #expect(try await put(chunks) == .applied)
        let database = folder.store.database.engine
        for path in try await paths() { try await objects.remove(path) }
        hook.set { operation in
            guard case .get = operation else { return nil }
            try? database.writeNow { _ = try $0.run("DELETE FROM chunks") }
            return nil
        }
        #expect(try await get().isEmpty)
        #expect(log.lines.isEmpty)
    }
}

/// What a test does to the operations of an object store.
final class Hook: Sendable {
    private let body = Mutex<@Sendable (MemoryObjects.Operation) -> MemoryObjects.Fault?>({ _ in nil })

    func set(_ new: @escaping @Sendable (MemoryObjects.Operation) -> MemoryObjects.Fault?) {
        body.withLock { $0 = new }
    }

    func call(_ operation: MemoryObjects.Operation) -> MemoryObjects.Fault? { body.withLock { $0 }(operation) }
}
