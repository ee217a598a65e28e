// SPDX-License-Identifier: Apache-2.0

public import NoteLog
import NotesAPI
public import SealedNotes
import SignetClient

/// Files of a note, sealed and opened piece by piece. They are sent before the revision that names them, and fetched when
/// they are asked for; this device keeps no copy.
extension NoteBook {
    /// Seals a file, sends it, and names it in a note.
    ///
    /// - Parameters:
    ///   - name: UTF-8, 1 to 1024 bytes.
    ///   - mediaType: ASCII, at most 255 bytes.
    ///   - byteCount: of the file.
    ///   - read: gives the piece with this index: `AttachmentManifest.chunkByteCount` bytes, of the last as many as are left; nil
    ///     if the file is not what it was.
    /// - Throws: ``NotesError``. Interrupted, the note is as it was.
    public func attach(
        name: [UInt8], mediaType: [UInt8], byteCount: UInt64, to note: NoteID, reading read: (Int) -> [UInt8]?
    ) async throws(NotesError) {
        let blob = try freshName()
        let manifest = try sealed { () throws(SealedNoteError) in
            try AttachmentManifest(blob: blob, byteCount: byteCount, name: name, mediaType: mediaType)
        }
        // The server takes pieces of notes that it has.
        _ = try await sync()
        try checkMayWrite(try heldNote(note))
        for first in stride(from: 0, to: manifest.chunkCount, by: ChunkUpload.maximumCount) {
            let indices = first..<min(first + ChunkUpload.maximumCount, manifest.chunkCount)
            var chunks: [[UInt8]] = []
            for index in indices {
                guard let content = read(index) else { throw .fileChanged }
                chunks.append(try sealed { () throws(SealedNoteError) in try manifest.seal(content, chunk: index) })
            }
            try await put(chunks, from: first, of: blob, in: note)
        }
        try edit(note) { $0.attachments.append(manifest) }
    }

    private func put(
        _ chunks: [[UInt8]], from first: Int, of blob: NoteID, in note: NoteID
    ) async throws(NotesError) {
        guard let name = BlobID(blob.bytes), let index = UInt32(exactly: first),
            let upload = try? ChunkUpload(note: note, blob: name, first: index, chunks: chunks)
        else { throw .sealed(.tooLong) }
        let outcome: BlobOutcome = try await calls.call(.putChunks, upload)
        switch outcome {
        case .applied: return
        case .conflict: throw .keepsMoving
        case .forbidden: throw .refused(.forbidden)
        case .overLimit: throw .noRoom(.bytes)
        case .serverFull: throw .noRoom(.disk)
        }
    }

    /// Fetches and opens a file, piece by piece.
    ///
    /// - Parameters:
    ///   - range: which of its bytes; nil for all.
    ///   - write: takes the bytes in order; false stops.
    /// - Throws: ``NotesError``: what was written until then is not the whole file.
    public func fetch(
        _ file: AttachmentManifest, of note: NoteID, range: Range<UInt64>? = nil,
        writing write: ([UInt8]) -> Bool
    ) async throws(NotesError) {
        let wanted = file.chunks(covering: range ?? 0..<file.byteCount)
        guard let blob = BlobID(file.blob.bytes) else { throw .malformedAnswer }
        for start in stride(from: 0, to: wanted.count, by: ChunkUpload.maximumCount) {
            let part = wanted[start..<min(start + ChunkUpload.maximumCount, wanted.count)]
            guard let first = part.first, let index = UInt32(exactly: first.index) else { return }
            let request = ChunkRequest(note: note, blob: blob, first: index, count: UInt8(part.count))
            let answer: ChunkAnswer = try await calls.call(.chunks, request)
            guard answer.chunks.count == part.count else { throw try await reasonForNoChunks(of: note) }
            for (piece, chunk) in zip(part, answer.chunks) {
                let content: [UInt8]
                do { content = try file.open(chunk, chunk: piece.index) } catch { throw .locked(.sealed(error)) }
                guard write(Array(content[piece.range])) else { return }
            }
        }
    }

    /// A removed member gets no files of the note: the news from the server say so, if there are any, and it is not a
    /// fault.
    private func reasonForNoChunks(of note: NoteID) async throws(NotesError) -> NotesError {
        _ = try await sync()
        let held = try heldNote(note)
        let isGone = held.control.state.isDeleted || held.role(of: author.handle) == nil
        return isGone ? .isGone : .locked(.missingFile)
    }

    /// Takes a file out of a note. Earlier revisions name it still; the server forgets its pieces.
    ///
    /// - Throws: ``NotesError``.
    public func detach(_ file: AttachmentManifest, from note: NoteID) async throws(NotesError) {
        try edit(note) { $0.attachments.removeAll { $0.blob == file.blob } }
        _ = try await sync()
        guard let blob = BlobID(file.blob.bytes) else { return }
        let _: BlobOutcome = try await calls.call(.dropBlob, BlobRemoval(note: note, blob: blob))
    }
}
