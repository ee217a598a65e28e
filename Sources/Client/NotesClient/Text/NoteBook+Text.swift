// SPDX-License-Identifier: Apache-2.0

public import NoteLog
import SealedNotes
import SignetClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The functions of the book for text and dates instead of bytes and seconds.
extension NoteBook {
    /// Makes a note. When this returns, the note is sealed on the disk; the next ``sync(fromStart:)`` sends it.
    ///
    /// - Parameters:
    ///   - title: at most `NoteDocument.maximumTitleByteCount` bytes of UTF-8.
    ///   - tags: 1 to 255 bytes of UTF-8 each.
    ///   - created: when the note was begun, if that was before now; rounded down to a second.
    /// - Throws: ``NotesError``; ``NotesError/noAccountKey`` before the first ``sync(fromStart:)`` of this device.
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

    /// Searches titles, tags, texts and comments of all notes, ignoring case. The search runs on this device only.
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
    ///   - byteCount: the size of the file.
    ///   - read: returns the piece with this index: `AttachmentManifest.chunkByteCount` bytes, or the rest in the last
    ///     piece; nil if the file has changed.
    /// - Throws: ``NotesError``. If it throws, the note is unchanged.
    public func attach(
        name: String, mediaType: String, byteCount: UInt64, to note: NoteID, reading read: (Int) -> [UInt8]?
    ) async throws(NotesError) {
        try await attach(
            name: Array(name.utf8), mediaType: Array(mediaType.utf8), byteCount: byteCount, to: note, reading: read)
    }
}
