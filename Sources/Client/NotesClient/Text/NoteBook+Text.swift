// SPDX-License-Identifier: Apache-2.0

public import NoteLog
import SealedNotes
import SignetClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The same functions for text and dates.
extension NoteBook {
    /// Makes a note. It is on the disk, sealed, when this returns, and sent by the next ``sync(anew:)``.
    ///
    /// - Parameters:
    ///   - title: at most `NoteDocument.maximumTitleByteCount` bytes of UTF-8.
    ///   - tags: 1 to 255 bytes of UTF-8 each.
    ///   - created: when it was begun, if that was before now; kept to a second.
    /// - Throws: ``NotesError``; ``NotesError/noAccountKey`` before the first ``sync(anew:)`` of this device.
    @discardableResult
    public func create(
        title: String, body: String, tags: [String] = [], created: Date? = nil
    ) throws(NotesError) -> NoteID {
        try create(
            title: Array(title.utf8), body: Array(body.utf8), tags: tags.map { Array($0.utf8) },
            created: created?.seconds)
    }

    /// Comments on a note.
    ///
    /// - Parameter text: at most `ChildContent.maximumTextByteCount` bytes of UTF-8.
    /// - Throws: ``NotesError``.
    public func comment(_ text: String, on note: NoteID) throws(NotesError) {
        try comment(Array(text.utf8), on: note)
    }

    /// Looks through titles, tags, texts and comments of all notes, regardless of case. The server takes no part in it.
    ///
    /// - Parameter atWordStart: whether the term must begin a word.
    public func search(_ term: String, atWordStart: Bool = false) -> [SearchHit] {
        search(Array(term.utf8), atWordStart: atWordStart)
    }

    /// Seals a file, sends it, and names it in a note.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8.
    ///   - mediaType: ASCII, at most 255 bytes.
    ///   - byteCount: of the file.
    ///   - read: gives the piece with this index: `AttachmentManifest.chunkByteCount` bytes, of the last as many as are left; nil
    ///     if the file is not what it was.
    /// - Throws: ``NotesError``. Interrupted, the note is as it was.
    public func attach(
        name: String, mediaType: String, byteCount: UInt64, to note: NoteID, reading read: (Int) -> [UInt8]?
    ) async throws(NotesError) {
        try await attach(
            name: Array(name.utf8), mediaType: Array(mediaType.utf8), byteCount: byteCount, to: note, reading: read)
    }
}
