// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog

/// The notes that the server withholds from this device, as the account's newest head shows. In it another device of
/// the account signed the state of every note.
struct AccountHeads: Sendable {
    /// Notes of which another device of this account has seen a later state.
    private(set) var withheld: Set<NoteID> = []

    mutating func forget() { withheld = [] }

    /// Compares the newest head with the notes on this device.
    mutating func compare(_ newest: NoteHeads, with notes: NotesInMemory) {
        withheld = Set(Self.missing(of: newest, in: notes))
    }

    /// The notes of which this device does not have what another device has seen.
    static func missing(of newest: NoteHeads, in notes: NotesInMemory) -> [NoteID] {
        newest.heads.filter { note, head in
            guard let held = notes.held[note] else { return notes.locks[note] == nil }
            guard held.control.holds(head.control) else { return true }
            return head.revision.map { !held.revisions.holds($0) } ?? false
        }.map(\.key).sorted()
    }

    /// The state of each note of this account that the server has. A note that the server withholds from this device
    /// keeps the state that another device signed: if this device signed an earlier one, it would confirm what the
    /// server shows.
    func standing(of notes: NotesInMemory, for reader: Handle, at newest: NoteHeads) -> NoteHeads {
        var standing = notes.held.compactMapValues { held -> NoteHeads.Head? in
            guard held.fault != .erased, held.role(of: reader) != nil, !held.control.state.isDeleted else { return nil }
            return held.sentHead
        }
        for (note, head) in newest.heads where withheld.contains(note) || notes.locks[note] == .withheld {
            standing[note] = head
        }
        return NoteHeads(standing)
    }

    /// The heads after the known one. The server has to send the known one first.
    static func news(_ heads: [AccountHead], after known: AccountHead?) throws(NotesError) -> [AccountHead] {
        guard let known else { return heads }
        guard let first = heads.first, first.number == known.number else { throw .serverWentBack }
        guard first == known else { throw .accountHead(.fork(number: known.number)) }
        return Array(heads.dropFirst())
    }
}
