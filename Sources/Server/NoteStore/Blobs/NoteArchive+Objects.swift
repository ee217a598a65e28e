// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import Logging
import NotesAPI
import ObjectStores
import SQLStores

// Bodies of files in an object store. A row comes after its object, and an object goes after its row; the names of those that are on their
// way are in tables. So a crash at any point leaves no row without its object, and no object that is not removed some day.
extension NoteArchive {
    /// What did not take so many seconds until its row was written is taken for abandoned. It is much longer than a store may take for a
    /// write, and as long a removed object is looked for once more: a write of which nobody waits for the answer may arrive late.
    static let abandonedAfter: UInt64 = 3600
    /// So many names are dealt with in one transaction.
    private static let namesAtOnce = 64

    /// Stores pieces whose bodies are objects.
    ///
    /// - Throws: ``NoteStoreError``; sending it again is safe.
    func put(
        _ upload: ChunkUpload, by handle: Handle, in objects: any ObjectStore
    ) async throws(NoteStoreError) -> BlobOutcome {
        let (limits, states) = (limits, states)
        let names = upload.chunks.map { _ in Self.newName() }
        let first = Int64(upload.first)
        let plan = try await write { transaction in
            let plan = try transaction.plan(upload, by: handle, limits, states)
            guard case .missing(let pieces) = plan.decision else { return plan }
            for (number, _) in pieces { try transaction.expect(names[Int(number - first)]) }
            return plan
        }
        guard case .missing(let pieces) = plan.decision else { return plan.outcome }
        for (number, chunk) in pieces { try await put(chunk, as: names[Int(number - first)], in: objects) }
        let expected = pieces.map { names[Int($0.0 - first)] }
        return try await write { transaction in
            let plan = try transaction.plan(upload, by: handle, limits, states)
            var left = Set(expected)
            if case .missing(let pieces) = plan.decision {
                for (number, chunk) in pieces {
                    let name = names[Int(number - first)]
                    guard left.remove(name) != nil else { throw NoteStoreError.unavailable }
                    try transaction.keep(StoredChunk.Object(name: name, of: chunk), number, upload.blob, plan)
                }
            }
            // Somebody else was quicker, or the account may not store them any more.
            for name in left.sorted(by: { $0.lexicographicallyPrecedes($1) }) { try transaction.giveUp(name) }
            return plan.outcome
        }
    }

    private func put(
        _ body: [UInt8], as name: [UInt8], in objects: any ObjectStore
    ) async throws(NoteStoreError) {
        do throws(ObjectFault) { try await objects.putImmutable(body, at: NoteObjects.path(name)) } catch {
            logger.error("notes: an object was not put", metadata: ["why": "\(error)"])
            throw .unavailable
        }
    }

    private static func newName() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<NoteObjects.nameByteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    }

    // MARK: Reading

    /// The bodies of pieces, all or none.
    func bodies(of chunks: [StoredChunk]) async -> Result<[[UInt8]], NoteObjectFault> {
        guard let objects else { return NoteObjects.here(chunks) }
        return await withTaskGroup(of: (Int, Result<[UInt8], NoteObjectFault>).self) { group in
            for (place, chunk) in chunks.enumerated() {
                group.addTask { (place, await NoteObjects.body(of: chunk, in: objects)) }
            }
            var bodies = [[UInt8]](repeating: [], count: chunks.count)
            for await (place, result) in group {
                switch result {
                case .success(let body): bodies[place] = body
                case .failure(let fault): return .failure(fault)
                }
            }
            return .success(bodies)
        }
    }

    /// Says what is wrong with an object, by its path.
    func report(_ fault: NoteObjectFault) {
        switch fault {
        case .missing(let path): logger.error("notes: an object is missing", metadata: ["object": "\(path)"])
        case .differs(let path):
            logger.error("notes: an object is not what was put there", metadata: ["object": "\(path)"])
        case .store(let fault): logger.error("notes: no object was read", metadata: ["why": "\(fault)"])
        case .noStore: logger.error("notes: bodies are in an object store that is not configured")
        }
    }

    // MARK: Upkeep

    /// Removes objects that no row needs, and puts bodies that are in rows into objects. What fails is done at the next call.
    package func keepUpObjects() async {
        guard let objects else { return }
        do {
            try await giveUpAbandoned()
            try await removeGone(from: objects)
            try await putBodies(into: objects)
        } catch { logger.warning("notes: objects were not looked after", metadata: ["why": "\(error)"]) }
    }

    private func giveUpAbandoned() async throws(NoteStoreError) {
        let now = clock()
        let oldest = Int64(clamping: now - min(now, Self.abandonedAfter))
        var count = Self.namesAtOnce
        while count == Self.namesAtOnce {
            count = try await database.write(at: now) { transaction in
                let rows = try transaction.database.rows(
                    "SELECT name FROM coming_objects WHERE time < ? ORDER BY time LIMIT ?", [oldest, Self.namesAtOnce])
                for row in rows { try transaction.giveUp(try row.bytes(0)) }
                return rows.count
            }.value
        }
    }

    /// Once, and once more after a while.
    private func removeGone(from objects: any ObjectStore) async throws(NoteStoreError) {
        let now = clock()
        let before = Int64(clamping: now - min(now, Self.abandonedAfter))
        while true {
            let going = try await database.read { database in
                try database.rows(
                    "SELECT name, removed FROM going_objects WHERE removed IS NULL OR removed < ? LIMIT ?",
                    [before, Self.namesAtOnce]
                ).map { (name: try $0.bytes(0), wasRemoved: try $0.optionalInteger(1) != nil) }
            }
            guard !going.isEmpty else { return }
            for object in going { try await remove(object.name, from: objects) }
            _ = try await database.write(at: now) { transaction in
                for object in going { try transaction.noteRemoval(of: object.name, isLast: object.wasRemoved) }
            }
        }
    }

    private func remove(_ name: [UInt8], from objects: any ObjectStore) async throws(NoteStoreError) {
        do throws(ObjectFault) { try await objects.remove(NoteObjects.path(name)) } catch {
            logger.warning("notes: an object was not removed", metadata: ["why": "\(error)"])
            throw .unavailable
        }
    }

    /// Bodies that came with a directory of one machine.
    private func putBodies(into objects: any ObjectStore) async throws(NoteStoreError) {
        while true {
            let chunks = try await database.read { database in
                try database.rows("SELECT id, body FROM chunks WHERE object IS NULL ORDER BY id LIMIT 16").map {
                    (id: try $0.integer(0), body: try $0.bytes(1))
                }
            }
            guard !chunks.isEmpty else { return }
            for chunk in chunks { try await putBody(chunk.body, of: chunk.id, into: objects) }
        }
    }

    private func putBody(
        _ body: [UInt8], of chunk: Int64, into objects: any ObjectStore
    ) async throws(NoteStoreError) {
        let object = StoredChunk.Object(name: Self.newName(), of: body)
        _ = try await database.write(at: clock()) { try $0.expect(object.name) }
        try await put(body, as: object.name, in: objects)
        _ = try await database.write(at: clock()) { try $0.replaceBody(of: chunk, by: object) }
    }
}

extension NoteTransaction {
    /// Writes down that an object is about to be put.
    fileprivate func expect(_ name: [UInt8]) throws {
        try run("INSERT INTO coming_objects (name, time) VALUES (?, ?)", [name, time])
    }

    /// Whether an object that was put may get its row. If it took too long, it is being removed.
    private func arrived(_ name: [UInt8]) throws -> Bool {
        try run("DELETE FROM coming_objects WHERE name = ?", [name]) == 1
    }

    fileprivate func giveUp(_ name: [UInt8]) throws {
        guard try arrived(name) else { return }
        try run("INSERT INTO going_objects (name) VALUES (?)", [name])
    }

    fileprivate func keep(
        _ object: StoredChunk.Object, _ number: Int64, _ blob: BlobID, _ plan: ChunkPlan
    ) throws {
        guard try arrived(object.name) else { throw NoteStoreError.unavailable }
        try run(
            """
            INSERT INTO chunks (note, blob, number, payer, body, object, hash, size)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [plan.note, blob.bytes, number, plan.account, [UInt8](), object.name, object.hash, object.size])
    }

    fileprivate func replaceBody(of chunk: Int64, by object: StoredChunk.Object) throws {
        let isHere = try database.row("SELECT 1 FROM chunks WHERE id = ? AND object IS NULL", [chunk]) != nil
        guard isHere else { return try giveUp(object.name) }
        guard try arrived(object.name) else { throw NoteStoreError.unavailable }
        try run(
            "UPDATE chunks SET body = ?, object = ?, hash = ?, size = ? WHERE id = ?",
            [[UInt8](), object.name, object.hash, object.size, chunk])
    }

    fileprivate func noteRemoval(of name: [UInt8], isLast: Bool) throws {
        if isLast {
            try run("DELETE FROM going_objects WHERE name = ?", [name])
        } else {
            try run("UPDATE going_objects SET removed = ? WHERE name = ? AND removed IS NULL", [time, name])
        }
    }
}
