// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import NoteLog
public import NotesAPI
import SQLStores

extension NoteArchive {
    /// Stores pieces of a file, all or none.
    ///
    /// - Throws: ``NoteStoreError``; sending it again is safe.
    public func put(_ upload: ChunkUpload, by handle: Handle) async throws(NoteStoreError) -> BlobOutcome {
        let (limits, states) = (limits, states)
        return try await write { transaction in
            let database = transaction.database
            guard let account = try database.account(handle),
                let note = try NoteRow(upload.note, readableBy: account, in: database),
                try note.control(in: database, states).role(of: handle) == .writer
            else { return .forbidden }
            let known = try database.chunks(of: note.id, upload.blob, first: upload.first, count: upload.chunks.count)
            let all = zip(Int64(upload.first)..., upload.chunks)
            guard all.allSatisfy({ known[$0] == nil || known[$0] == $1 }) else { return .conflict }
            let new = all.filter { known[$0.0] == nil }
            let byteCount = new.reduce(0) { $0 + $1.1.count }
            guard try transaction.hasRoom(for: byteCount, of: account, limits) else { return .overLimit }
            for (number, chunk) in new {
                try transaction.run(
                    "INSERT INTO chunks (note, blob, number, payer, body) VALUES (?, ?, ?, ?, ?)",
                    [note.id, upload.blob.bytes, number, account, chunk])
            }
            return .applied
        }
    }

    /// Pieces of a file, as many as there are without a gap.
    ///
    /// - Throws: ``NoteStoreError``.
    public func chunks(_ request: ChunkRequest, for handle: Handle) async throws(NoteStoreError) -> ChunkAnswer {
        try await database.read { database in
            guard let account = try database.account(handle),
                let note = try NoteRow(request.note, readableBy: account, in: database)
            else { return ChunkAnswer([]) }
            let found = try database.chunks(
                of: note.id, request.blob, first: request.first, count: Int(request.count))
            let inOrder = (Int64(request.first)..<Int64(request.first) + Int64(request.count)).map { found[$0] }
            return ChunkAnswer(inOrder.prefix { $0 != nil }.compactMap { $0 })
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

extension SQLTransaction {
    /// Pieces by their index, of those asked for.
    fileprivate func chunks(
        of note: Int64, _ blob: BlobID, first: UInt32, count: Int
    ) throws -> [Int64: [UInt8]] {
        let rows = try rows(
            "SELECT number, body FROM chunks WHERE note = ? AND blob = ? AND number BETWEEN ? AND ?",
            [note, blob.bytes, Int64(first), Int64(first) + Int64(count) - 1])
        return try rows.reduce(into: [:]) { $0[try $1.integer(0)] = try $1.bytes(1) }
    }
}
