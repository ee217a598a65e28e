// SPDX-License-Identifier: Apache-2.0

import NotesAPI
import ObjectStores
import ObjectTesting
import ProtocolTesting
import SQLStores
import Testing

@testable import NoteStore

/// A process dies at every point at which it touches its database or its objects: afterwards no row is without its object, and when all is
/// quiet no object is without a row.
@Suite(.everyEngine) struct ObjectCrashTests {
    /// A store whose bodies are objects, over the deaths of its processes.
    private final class Ground {
        let crash = Crash()
        let objects: MemoryObjects
        let place: any StorePlace
        var folder: StoreFolder
        let alice: NoteWriter
        var draft: NoteDraft
        let blob: BlobID
        let pieces = (1...2).map { [UInt8](repeating: $0, count: ChunkUpload.chunkByteCount) }
        private var time: UInt64 = 1_800_000_000

        init() async throws {
            let crash = crash
            objects = MemoryObjects { crash.fault($0) }
            place = try NoteStoreEngine.current.makePlace()
            folder = try StoreFolder(faults: crash.faults, in: place, objects: objects)
            alice = try NoteWriter("alice")
            draft = try NoteDraft(by: alice)
            blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
            try await folder.push(draft.creation(), by: alice)
        }

        func put() async throws {
            let upload = try ChunkUpload(note: draft.note, blob: blob, first: 0, chunks: pieces)
            guard try await folder.store.put(upload, by: alice.handle) == .applied else { throw Missing() }
        }

        func drop() async throws {
            _ = try await folder.store.drop(BlobRemoval(note: draft.note, blob: blob), by: alice.handle)
        }

        func erase() async throws { try await folder.store.erase(alice.handle, keepsPlace: false) }

        func keepUp() async { await folder.store.keepUpObjects() }

        /// Bodies that came in rows.
        func putRows() throws {
            try folder.store.database.engine.writeNow { database in
                for (number, piece) in pieces.enumerated() {
                    try database.run(
                        """
                        INSERT INTO chunks (note, blob, number, payer, body)
                        SELECT notes.id, ?, ?, notes.owner, ? FROM notes
                        """, [blob.bytes, number, piece])
                }
            }
        }

        /// Another process on the same engines, so many seconds later.
        func restart(after seconds: UInt64) throws {
            time += seconds
            let old = folder
            folder = try StoreFolder(faults: crash.faults, in: place, objects: objects, at: time)
            withExtendedLifetime(old) {}
        }

        /// The paths of objects that rows name, each of which is there and is what was put.
        func named() async throws -> Set<String> {
            let chunks = try folder.store.database.engine.readNow { database in
                try database.rows("SELECT number, \(StoredChunk.columns) FROM chunks").map {
                    (number: Int(try $0.integer(0)), chunk: try StoredChunk($0, from: 1))
                }
            }
            var paths: Set<String> = []
            for (number, chunk) in chunks {
                #expect(try await NoteObjects.body(of: chunk, in: objects).get() == pieces[number])
                if let object = chunk.object { paths.insert(NoteObjects.path(object.name)) }
            }
            return paths
        }

        /// Whether a table of names has rows.
        func isOnTheWay() throws -> Bool {
            try folder.dump().contains { $0.hasPrefix("coming_objects") || $0.hasPrefix("going_objects") }
        }
    }

    /// What is done, and what is there before.
    enum Deed: CaseIterable {
        case put, drop, erase, keepUp, keepUpRows, keepUpAbandoned
    }

    private func begin(_ deed: Deed) async throws -> Ground {
        let ground = try await Ground()
        switch deed {
        case .put: break
        case .drop, .erase: try await ground.put()
        case .keepUp:
            try await ground.put()
            try await ground.drop()
        case .keepUpRows: try ground.putRows()
        case .keepUpAbandoned:
            // After the names were written down, and before the rows.
            ground.crash.arm(4, .before)
            await #expect(throws: NoteStoreError.self) { try await ground.put() }
            #expect(ground.crash.disarm())
            try ground.restart(after: 4000)
        }
        return ground
    }

    private func run(_ deed: Deed, on ground: Ground) async throws {
        switch deed {
        case .put: try await ground.put()
        case .drop: try await ground.drop()
        case .erase: try await ground.erase()
        case .keepUp, .keepUpRows, .keepUpAbandoned: await ground.keepUp()
        }
    }

    /// - Returns: whether the process has died.
    private func explore(_ deed: Deed, _ point: Int, _ kind: Crash.Kind) async throws -> Bool {
        let ground = try await begin(deed)
        ground.crash.arm(point, kind)
        try? await run(deed, on: ground)
        let hasDied = ground.crash.disarm()
        try ground.restart(after: 1)
        _ = try await ground.named()
        // The same request again.
        try await run(deed, on: ground)
        _ = try await ground.named()
        // What was late arrives when its name was given up already.
        try ground.restart(after: 4000)
        await ground.keepUp()
        ground.objects.deliver()
        for _ in 0..<2 {
            try ground.restart(after: 4000)
            await ground.keepUp()
        }
        let named = try await ground.named()
        #expect(Set(try await ground.objects.list("blob/")) == named, "\(deed), point \(point), \(kind)")
        #expect(try !ground.isOnTheWay(), "\(deed), point \(point), \(kind)")
        #expect(named.count == (deed == .put || deed == .keepUpRows ? 2 : 0), "\(deed), point \(point), \(kind)")
        return hasDied
    }

    @Test(arguments: Deed.allCases, Crash.Kind.allCases)
    func noDeathLeavesARowWithoutItsObjectOrAnObjectForGood(deed: Deed, kind: Crash.Kind) async throws {
        var point = 0
        while try await explore(deed, point, kind) { point += 1 }
        #expect(point > 1, "\(deed) touches nothing")
    }
}
