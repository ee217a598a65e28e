// SPDX-License-Identifier: Apache-2.0

import NoteLog
import SealedNotes

/// Unbelieved records are bounded, for each note and for all notes together. Believed records are never dropped.
extension NoteBook {
    /// Accepts keys that came with a note once they open, and lists once the note's log names them.
    func settleKeys(of note: NoteID) throws(NotesError) {
        guard let held = held[note] else { return }
        let believed = try read { try $0.unsettled(of: note) }.filter { opener.believes($0, held.readable) }
        guard !believed.isEmpty else { return }
        try write { tables in for record in believed { try tables.accept(record, of: note) } }
    }

    /// Fetches again what was dropped of a note, for a step that names every record or a revision that follows them
    /// all. Otherwise a member who floods a note could not be removed from it. Nothing of the note is dropped until
    /// ``UnbelievedNews/spared`` changes.
    func spare(_ note: NoteID) throws(NotesError) {
        guard try file(of: note).isOverfull else { return }
        news.spared = note
        try fetchFromStart()
    }

    /// Drops the unbelieved records that exceed a bound, and opens the notes that lost some again.
    func dropWhatIsTooMuch() throws(NotesError) {
        let dropped = try write { [news] in try news.dropWhatIsTooMuch(in: $0) }
        for (note, isLeft) in dropped { try load(note, fault: isLeft ? held[note]?.fault ?? opened.locks[note] : nil) }
        news.note(dropped: Set(dropped.keys))
    }
}

extension NoteOpener {
    /// Whether a wrap opens to the key that the note's owner committed to, or whether the log names a list.
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
