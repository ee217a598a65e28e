// SPDX-License-Identifier: Apache-2.0

import NoteLog

/// How much of what came and is not believed stays here, and of which notes something was dropped in this sync.
struct UnbelievedNews: Sendable {
    let bounds: FeedBounds
    /// The note of which nothing is dropped, while a step is made that needs all that came of it.
    var spared: NoteID?
    /// Notes of which something was dropped, since it was too much.
    private(set) var dropped: Set<NoteID> = []

    mutating func begin() { dropped = [] }

    mutating func note(dropped notes: Set<NoteID>) { dropped.formUnion(notes) }

    /// Drops what is too much, the last that came first; of notes of which nothing is believed, whole notes first.
    ///
    /// - Returns: the notes of which something was dropped, and whether anything of each is left.
    func dropWhatIsTooMuch(in tables: NotesTables) throws -> [NoteID: Bool] {
        var (dropped, total): ([NoteID: Bool], Int) = ([:], 0)
        for (note, byteCount) in try tables.unbelievedByteCounts() {
            let left = note == spared ? bounds.sparedBytes : min(bounds.noteBytes, max(bounds.bytes - total, 0))
            if byteCount > left { dropped[note] = try tables.dropUnbelieved(of: note, behind: left) }
            total += min(byteCount, left)
        }
        return dropped
    }
}
