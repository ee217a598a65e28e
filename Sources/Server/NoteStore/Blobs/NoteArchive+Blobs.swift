// SPDX-License-Identifier: Apache-2.0

import Crypto
public import KeyTransparency
import NoteLog
public import NotesAPI
import SQLStores

extension NoteArchive {
    /// Stores pieces of a file, all or none.
    ///
    /// - Throws: ``NoteStoreError``; sending it again is safe.
    public func put(_ upload: ChunkUpload, by handle: Handle) async throws(NoteStoreError) -> BlobOutcome {
        if let objects { return try await put(upload, by: handle, in: objects) }
        let (limits, states) = (limits, states)
        return try await write { transaction in
            let plan = try transaction.plan(upload, by: handle, limits, states)
            guard case .missing(let pieces) = plan.decision else { return plan.outcome }
            for (number, chunk) in pieces {
                try transaction.run(
                    "INSERT INTO chunks (note, blob, number, payer, body) VALUES (?, ?, ?, ?, ?)",
                    [plan.note, upload.blob.bytes, number, plan.account, chunk])
            }
            return .applied
        }
    }

    /// Pieces of a file, as many as there are without a gap.
    ///
    /// - Throws: ``NoteStoreError``; ``NoteStoreError/unavailable`` also if an object is not what was put there.
    public func chunks(_ request: ChunkRequest, for handle: Handle) async throws(NoteStoreError) -> ChunkAnswer {
        var before: [StoredChunk]?
        while true {
            let chunks = try await storedChunks(request, for: handle)
            switch await bodies(of: chunks) {
            case .success(let bodies): return ChunkAnswer(bodies)
            // It may have been dropped since its row was read.
            case .failure(.missing) where before != chunks: before = chunks
            case .failure(let fault):
                report(fault)
                throw .unavailable
            }
        }
    }

    private func storedChunks(
        _ request: ChunkRequest, for handle: Handle
    ) async throws(NoteStoreError) -> [StoredChunk] {
        try await database.read { database in
            guard let account = try database.account(handle),
                let note = try NoteRow(request.note, readableBy: account, in: database)
            else { return [] }
            let found = try database.chunks(
                of: note.id, request.blob, first: request.first, count: Int(request.count))
            let inOrder = (Int64(request.first)..<Int64(request.first) + Int64(request.count)).map { found[$0] }
            return inOrder.prefix { $0 != nil }.compactMap { $0 }
        }
    }

    /// Forgets a file, if it is the account's or the account owns the note. Who stored it pays for it, and may forget it when they were
    /// taken out of the note, too.
    ///
    /// - Throws: ``NoteStoreError``; sending it again is safe.
    public func drop(_ removal: BlobRemoval, by handle: Handle) async throws(NoteStoreError) -> BlobOutcome {
        let outcome = try await write { (transaction) -> BlobOutcome in
            let database = transaction.database
            guard let account = try database.account(handle), let note = try NoteRow(removal.note, in: database)
            else { return .forbidden }
            let blob = removal.blob.bytes
            let first = try database.row(
                "SELECT payer FROM chunks WHERE note = ? AND blob = ? ORDER BY number LIMIT 1", [note.id, blob])
            let isPayer = try first?.optionalInteger(0) == account
            // A caller who is not a member of the note learns nothing of what others have in it.
            let mayRead = try !note.isDeleted && database.mayRead(note.id, account)
            guard mayRead || isPayer else { return .forbidden }
            guard first != nil else { return .applied }
            guard note.owner == account || isPayer else { return .forbidden }
            try transaction.run("DELETE FROM chunks WHERE note = ? AND blob = ?", [note.id, blob])
            return .applied
        }
        if outcome == .applied { try await database.expunge() }
        return outcome
    }
}

/// What becomes of pieces that somebody brings.
struct ChunkPlan: Sendable {
    enum Decision: Sendable {
        /// Nothing is stored.
        case done(BlobOutcome)
        /// These are not there yet, by their numbers.
        case missing([(Int64, [UInt8])])
    }

    let decision: Decision
    var note: Int64 = 0
    var account: Int64 = 0

    var outcome: BlobOutcome { if case .done(let outcome) = decision { outcome } else { .applied } }
}

extension NoteTransaction {
    /// Decides on pieces.
    func plan(
        _ upload: ChunkUpload, by handle: Handle, _ limits: NoteLimits, _ states: ControlStates
    ) throws -> ChunkPlan {
        guard let account = try database.account(handle),
            let note = try NoteRow(upload.note, readableBy: account, in: database),
            try note.control(in: database, states).role(of: handle) == .writer
        else { return ChunkPlan(decision: .done(.forbidden)) }
        let known = try database.chunks(of: note.id, upload.blob, first: upload.first, count: upload.chunks.count)
        let all = zip(Int64(upload.first)..., upload.chunks)
        guard all.allSatisfy({ number, chunk in known[number]?.isBody(chunk) ?? true }) else {
            return ChunkPlan(decision: .done(.conflict))
        }
        let new = all.filter { known[$0.0] == nil }
        let byteCount = new.reduce(0) { $0 + $1.1.count }
        switch try shortage(of: byteCount, for: account, limits) {
        case .account: return ChunkPlan(decision: .done(.overLimit))
        case .disk: return ChunkPlan(decision: .done(.serverFull))
        case nil: break
        }
        guard !new.isEmpty else { return ChunkPlan(decision: .done(.applied)) }
        return ChunkPlan(decision: .missing(new), note: note.id, account: account)
    }
}

/// A piece of a file as its row has it.
struct StoredChunk: Hashable, Sendable {
    /// Where the body is, if not here.
    struct Object: Hashable, Sendable {
        let name: [UInt8]
        /// SHA-256 of the body.
        let hash: [UInt8]
        /// Of the body, in bytes.
        let size: Int64
    }

    let body: [UInt8]
    let object: Object?

    /// Columns 0 to 3 of a row, which ``columns`` names.
    init(_ row: SQLRow, from column: Int) throws {
        body = try row.bytes(column)
        object = try row.optionalBytes(column + 1).map { name in
            Object(name: name, hash: try row.bytes(column + 2), size: try row.integer(column + 3))
        }
    }

    static let columns = "body, object, hash, size"

    /// Whether these bytes are the body.
    func isBody(_ bytes: [UInt8]) -> Bool { object?.isBody(bytes) ?? (body == bytes) }
}

extension StoredChunk.Object {
    init(name: [UInt8], of body: [UInt8]) {
        self.init(name: name, hash: Self.hash(of: body), size: Int64(body.count))
    }

    func isBody(_ bytes: [UInt8]) -> Bool { bytes.count == size && Self.hash(of: bytes) == hash }

    private static func hash(of bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}

extension SQLTransaction {
    /// Pieces by their index, of those asked for.
    fileprivate func chunks(
        of note: Int64, _ blob: BlobID, first: UInt32, count: Int
    ) throws -> [Int64: StoredChunk] {
        let rows = try rows(
            "SELECT number, \(StoredChunk.columns) FROM chunks WHERE note = ? AND blob = ? AND number BETWEEN ? AND ?",
            [note, blob.bytes, Int64(first), Int64(first) + Int64(count) - 1])
        return try rows.reduce(into: [:]) { $0[try $1.integer(0)] = try StoredChunk($1, from: 1) }
    }
}
