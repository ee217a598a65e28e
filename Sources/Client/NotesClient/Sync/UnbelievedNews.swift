// SPDX-License-Identifier: Apache-2.0

import NoteLog

/// How much of the records that came and are not believed this device keeps, and from which notes it dropped some in
/// this sync.
struct UnbelievedNews: Sendable {
    let bounds: FeedBounds
    /// The note that keeps all its records, while this device makes a step that has to name them all.
    var spared: NoteID?
    /// The notes from which something was dropped because it exceeded a bound.
    private(set) var dropped: Set<NoteID> = []

    mutating func begin() { dropped = [] }

    mutating func note(dropped notes: Set<NoteID>) { dropped.formUnion(notes) }

    /// Drops the records that exceed a bound, beginning with those that came last. Notes of which nothing is believed
    /// go first, as a whole.
    ///
    /// - Returns: the notes from which something was dropped, and whether anything of each is left.
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
