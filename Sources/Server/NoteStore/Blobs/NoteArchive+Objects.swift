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

    /// So many objects are put by one call, and so many removed.
    private static let upkeepCount = 1024
    /// After so many seconds a step begins nothing more, because its caller has other things to do.
    private static let (removalSeconds, bodySeconds): (UInt64, UInt64) = (1, 2)
    /// So many bodies are put at the same time.
    private static let bodiesAtOnce = 16

    /// Removes objects that no row needs, and puts bodies that are in rows into objects. A call does no more than its share, because its caller
    /// has other things to do; the rest, and what fails, is done at the next calls. No step waits for another one to succeed.
    ///
    /// - Parameter count: the most objects of each step.
    package func keepUpObjects(atMost count: Int = upkeepCount) async {
        guard let objects else { return }
        await lookAfter { try await giveUpAbandoned(atMost: count) }
        await lookAfter { try await removeGone(from: objects, atMost: count) }
        await lookAfter { try await putBodies(into: objects, atMost: count) }
    }

    private func lookAfter(_ step: () async throws -> Void) async {
        do { try await step() } catch {
            logger.warning("notes: objects were not looked after", metadata: ["why": "\(error)"])
        }
    }

    /// Repeats a step until there is nothing left for it, or it has done its share.
    ///
    /// - Parameter step: deals with so many at most, and returns how many there were.
    private func repeating(
        _ size: Int, atMost count: Int, within seconds: UInt64, _ step: (Int) async throws(NoteStoreError) -> Int
    ) async throws(NoteStoreError) {
        let end = min(clock(), .max - seconds) + seconds
        var left = count
        while left > 0, clock() < end, !Task.isCancelled {
            let share = min(size, left)
            guard try await step(share) == share else { return }
            left -= share
        }
    }

    private func giveUpAbandoned(atMost count: Int) async throws(NoteStoreError) {
        let now = clock()
        let oldest = Int64(clamping: now - min(now, Self.abandonedAfter))
        try await repeating(Self.namesAtOnce, atMost: count, within: Self.removalSeconds) {
            (share) throws(NoteStoreError) in
            try await database.write(at: now) { transaction in
                let rows = try transaction.database.rows(
                    "SELECT name FROM coming_objects WHERE time < ? ORDER BY time LIMIT ?", [oldest, share])
                for row in rows { try transaction.giveUp(try row.bytes(0)) }
                return rows.count
            }.value
        }
    }

    /// An object that no row needs.
    private struct GoingObject: Sendable {
        let name: [UInt8]
        let wasRemoved: Bool

        init(_ row: SQLRow) throws {
            name = try row.bytes(0)
            wasRemoved = try row.optionalInteger(1) != nil
        }
    }

    /// Once, and once more after a while. Those that are not removed keep no others from it: they are passed over, and a call begins anywhere.
    private func removeGone(
        from objects: any ObjectStore, atMost count: Int
    ) async throws(NoteStoreError) {
        let now = clock()
        let before = Int64(clamping: now - min(now, Self.abandonedAfter))
        // Names are random.
        var next = Self.newName()
        try await repeating(Self.bodiesAtOnce, atMost: count, within: Self.removalSeconds) {
            (share) throws(NoteStoreError) in
            let going = try await goingObjects(after: next, removedBefore: before, atMost: share)
            guard let last = going.last else { return 0 }
            let gone = await remove(going, from: objects)
            _ = try await database.write(at: now) { transaction in
                for object in gone { try transaction.noteRemoval(of: object.name, isLast: object.wasRemoved) }
            }
            // None of them: the store takes no removals, or these stand together.
            guard !gone.isEmpty else { throw .unavailable }
            next = last.name
            return going.count
        }
    }

    /// Those after a name, and after the last one from the first on.
    private func goingObjects(
        after name: [UInt8], removedBefore time: Int64, atMost count: Int
    ) async throws(NoteStoreError) -> [GoingObject] {
        try await database.read { database in
            let query = "SELECT name, removed FROM going_objects WHERE (removed IS NULL OR removed < ?) AND name"
            let rows = try database.rows("\(query) > ? ORDER BY name LIMIT ?", [time, name, count])
            let others = try database.rows(
                "\(query) <= ? ORDER BY name LIMIT ?", [time, name, count - rows.count])
            return try (rows + others).map(GoingObject.init)
        }
    }

    /// - Returns: those that are removed.
    private func remove(_ going: [GoingObject], from objects: any ObjectStore) async -> [GoingObject] {
        await withTaskGroup(of: GoingObject?.self) { group in
            for object in going {
                group.addTask { await self.remove(object.name, from: objects) ? object : nil }
            }
            return await group.reduce(into: []) { if let object = $1 { $0.append(object) } }
        }
    }

    private func remove(_ name: [UInt8], from objects: any ObjectStore) async -> Bool {
        let path = NoteObjects.path(name)
        do throws(ObjectFault) { try await objects.remove(path) } catch {
            logger.warning("notes: an object was not removed", metadata: ["object": "\(path)", "why": "\(error)"])
            return false
        }
        return true
    }

    /// A body that came with a directory of one machine.
    private struct BodyHere: Sendable {
        let chunk: Int64
        let bytes: [UInt8]
        let object: StoredChunk.Object

        init(_ row: SQLRow) throws {
            chunk = try row.integer(0)
            bytes = try row.bytes(1)
            object = StoredChunk.Object(name: NoteArchive.newName(), of: bytes)
        }
    }

    private func putBodies(
        into objects: any ObjectStore, atMost count: Int
    ) async throws(NoteStoreError) {
        var next = try await anyBodyHere()
        try await repeating(Self.bodiesAtOnce, atMost: count, within: Self.bodySeconds) {
            (share) throws(NoteStoreError) in
            let bodies = try await bodiesHere(from: next, atMost: share)
            guard let last = bodies.last else { return 0 }
            try await put(bodies, into: objects)
            next = last.chunk + 1
            return bodies.count
        }
    }

    /// Where to begin: anywhere, so that the processes of a cluster rarely put the same bodies.
    private func anyBodyHere() async throws(NoteStoreError) -> Int64 {
        try await database.read { database in
            let ends = try database.row("SELECT MIN(id), MAX(id) FROM chunks WHERE object IS NULL")
            guard let first = try ends?.optionalInteger(0), let last = try ends?.optionalInteger(1), first < last else {
                return 0
            }
            var generator = SystemRandomNumberGenerator()
            return Int64.random(in: first...last, using: &generator)
        }
    }

    /// Those from a number on, and after the last one from the first on.
    private func bodiesHere(from number: Int64, atMost count: Int) async throws(NoteStoreError) -> [BodyHere] {
        try await database.read { database in
            let query = "SELECT id, body FROM chunks WHERE object IS NULL AND id"
            let rows = try database.rows("\(query) >= ? ORDER BY id LIMIT ?", [number, count])
            let others = try database.rows("\(query) < ? ORDER BY id LIMIT ?", [number, count - rows.count])
            return try (rows + others).map(BodyHere.init)
        }
    }

    /// What is put gets its rows, even if something else is not put.
    private func put(_ bodies: [BodyHere], into objects: any ObjectStore) async throws(NoteStoreError) {
        _ = try await database.write(at: clock()) { transaction in
            for body in bodies { try transaction.expect(body.object.name) }
        }
        let there = await withTaskGroup(of: BodyHere?.self) { group in
            for body in bodies {
                group.addTask {
                    let name = body.object.name
                    do throws(NoteStoreError) { try await self.put(body.bytes, as: name, in: objects) } catch {
                        return nil
                    }
                    return body
                }
            }
            return await group.reduce(into: [BodyHere]()) { if let body = $1 { $0.append(body) } }
        }
        _ = try await database.write(at: clock()) { transaction in
            for body in there { try transaction.replaceBody(of: body.chunk, by: body.object) }
        }
        guard there.count == bodies.count else { throw .unavailable }
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
