// SPDX-License-Identifier: Apache-2.0

import NoteLog
import SealedNotes

/// What came and is not believed has an end, in each note and in all. What is believed is never dropped for it.
extension NoteBook {
    /// Keys and lists that came with a note count as believed once they open, or its log names them.
    func settleKeys(of note: NoteID) throws(NotesError) {
        guard let held = held[note] else { return }
        let believed = try read { try $0.unsettled(of: note) }.filter { opener.believes($0, held.readable) }
        guard !believed.isEmpty else { return }
        try write { tables in for record in believed { try tables.accept(record, of: note) } }
    }

    /// Fetches again what was dropped of a note, for a step that names all that came or a revision that stands behind
    /// it all: a member who floods a note must not stay in it for that reason. Nothing of it is dropped until
    /// ``spared`` is another.
    func spare(_ note: NoteID) throws(NotesError) {
        guard try file(of: note).isOverfull else { return }
        spared = note
        try fetchAnew()
    }

    /// Drops what is too much, the last that came first; of notes of which nothing is believed, whole notes first.
    ///
    /// - Returns: the notes of which something was dropped.
    func dropWhatIsTooMuch() throws(NotesError) -> Set<NoteID> {
        let (bounds, spared) = (bounds, spared)
        let dropped = try write { tables in
            var (dropped, total): ([NoteID: Bool], Int) = ([:], 0)
            for (note, byteCount) in try tables.unbelievedByteCounts() {
                let left =
                    note == spared ? bounds.sparedBytes : min(bounds.noteBytes, max(bounds.bytes - total, 0))
                if byteCount > left {
                    dropped[note] = try tables.dropUnbelieved(of: note, behind: left)
                }
                total += min(byteCount, left)
            }
            return dropped
        }
        for (note, isLeft) in dropped { try load(note, fault: isLeft ? held[note]?.fault ?? broken[note] : nil) }
        return Set(dropped.keys)
    }
}

extension NoteOpener {
    /// Whether a key opens, to the one that the note's owner committed to, and whether the log names a list.
    fileprivate func believes(_ record: HeldRecord, _ control: VerifiedControl) -> Bool {
        switch record {
        case .wrap(let wrap):
            (try? NoteKey.open(wrap, with: device, control: control, authors: KnownAuthors([]))) != nil
        case .ownWrap(let wrap):
            accounts[wrap.accountEpoch].map { (try? wrap.open(with: $0, control: control)) != nil } ?? false
        case .childList(let list): control.state.closings.contains { $0.children == list.hash }
        case .gone: true
        case .control, .revision, .child, .leaving: false
        }
    }
}
