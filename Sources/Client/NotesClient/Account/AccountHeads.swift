// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog

/// What the account's newest head says against what this device has: another device of the account has signed where all notes stand.
struct AccountHeads: Sendable {
    /// Notes of which another device of this account has seen more.
    private(set) var withheld: Set<NoteID> = []

    mutating func forget() { withheld = [] }

    /// Compares the newest head with the notes that are here.
    mutating func compare(_ newest: NoteHeads, with notes: NotesInMemory) {
        withheld = Set(Self.missing(of: newest, in: notes))
    }

    /// Notes that are not here as another device has seen them.
    static func missing(of newest: NoteHeads, in notes: NotesInMemory) -> [NoteID] {
        newest.heads.filter { note, head in
            guard let held = notes.held[note] else { return notes.locks[note] == nil }
            guard held.control.holds(head.control) else { return true }
            return head.revision.map { !held.revisions.holds($0) } ?? false
        }.map(\.key).sorted()
    }

    /// Where the notes stand that this account has and the server has been shown. What it holds back from this device stands
    /// where another has seen it: this device never signs less, or it would be taken for the server's word.
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

    /// The heads after the known one, which comes first.
    static func news(_ heads: [AccountHead], after known: AccountHead?) throws(NotesError) -> [AccountHead] {
        guard let known else { return heads }
        guard let first = heads.first, first.number == known.number else { throw .serverWentBack }
        guard first == known else { throw .accountHead(.fork(number: known.number)) }
        return Array(heads.dropFirst())
    }
}
