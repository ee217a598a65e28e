// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog

/// The notes in memory: those that were opened, why the others stay closed, and an index for searching. All of it comes
/// from the store, and ends with the book.
struct NotesInMemory: Sendable {
    /// Notes whose control log holds, even if their text does not open.
    private(set) var held: [NoteID: HeldNote] = [:]
    /// Notes whose control log does not hold either, with the reason.
    private(set) var locks: [NoteID: NoteLock] = [:]
    /// What ``facts(for:)`` says, and the index: the first question after a change makes them.
    private var listed: [NoteFacts]?
    private var index: SearchIndex?

    /// - Throws: ``NotesError/locked(_:)``, ``NotesError/noSuchNote(_:)``.
    func note(_ note: NoteID) throws(NotesError) -> HeldNote {
        if let lock = locks[note] { throw .locked(lock) }
        guard let held = held[note] else { throw .noSuchNote(note) }
        return held
    }

    /// All notes, the one that changed last first.
    ///
    /// - Parameter reader: the person whose book this is; always the same one.
    mutating func facts(for reader: Handle) -> [NoteFacts] {
        if let listed { return listed }
        let notes = held.values.map { NoteFacts($0, for: reader) } + locks.map { NoteFacts($0, lockedBy: $1) }
        let sorted = notes.sorted { ($0.modified, $1.note) > ($1.modified, $0.note) }
        listed = sorted
        return sorted
    }

    mutating func search(_ term: [UInt8], atWordStart: Bool, for reader: Handle) -> [SearchHit] {
        let index = index ?? SearchIndex(facts(for: reader))
        self.index = index
        return index.search(term, atWordStart: atWordStart)
    }

    /// Opens a note again from everything that the store has of it.
    ///
    /// - Parameter fault: why records that came for it were not accepted.
    mutating func open(_ file: NoteFile, with opener: NoteOpener, fault: NoteLock?) {
        let note = file.note
        (held[note], locks[note], listed, index) = (nil, nil, nil, nil)
        do throws(NoteLock) { held[note] = try opener.open(file, fault: fault) } catch { locks[note] = error }
        if held[note] == nil, let fault { locks[note] = fault }
    }

    /// Records why this device has nothing of a note.
    mutating func lock(_ note: NoteID, _ lock: NoteLock) {
        locks[note] = lock
        (listed, index) = (nil, nil)
    }

    mutating func removeAll() { self = NotesInMemory() }
}
