// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog

/// The notes as they were opened: what can be read, why the rest stays closed, and an index for searching. All of it comes from the
/// store and is gone with the book.
struct NotesInMemory: Sendable {
    /// Notes that open, at least as far as their logs.
    private(set) var held: [NoteID: HeldNote] = [:]
    /// Notes of which not even the log holds.
    private(set) var locks: [NoteID: NoteLock] = [:]
    /// Made at the first search after a change.
    private var index: SearchIndex?

    /// - Throws: ``NotesError/locked(_:)``, ``NotesError/noSuchNote(_:)``.
    func note(_ note: NoteID) throws(NotesError) -> HeldNote {
        if let lock = locks[note] { throw .locked(lock) }
        guard let held = held[note] else { throw .noSuchNote(note) }
        return held
    }

    /// All notes, the last changed first.
    func facts(for reader: Handle) -> [NoteFacts] {
        let notes = held.values.map { NoteFacts($0, for: reader) } + locks.map { NoteFacts($0, lockedBy: $1) }
        return notes.sorted { ($0.modified, $1.note) > ($1.modified, $0.note) }
    }

    mutating func search(_ term: [UInt8], atWordStart: Bool, for reader: Handle) -> [SearchHit] {
        let index = index ?? SearchIndex(facts(for: reader))
        self.index = index
        return index.search(term, atWordStart: atWordStart)
    }

    /// Opens a note again from all that is kept of it.
    ///
    /// - Parameter fault: why news of it were not accepted.
    mutating func open(_ file: NoteFile, with opener: NoteOpener, fault: NoteLock?) {
        let note = file.note
        (held[note], locks[note], index) = (nil, nil, nil)
        do throws(NoteLock) { held[note] = try opener.open(file, fault: fault) } catch { locks[note] = error }
        if held[note] == nil, let fault { locks[note] = fault }
    }

    /// Says of a note of which nothing is here why that is.
    mutating func lock(_ note: NoteID, _ lock: NoteLock) { locks[note] = lock }

    mutating func removeAll() { self = NotesInMemory() }
}
