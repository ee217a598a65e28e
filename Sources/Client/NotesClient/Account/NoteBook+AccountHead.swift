// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SignetClient

/// Each device signs where all notes stand, and compares what the server shows it with what the other devices signed.
extension NoteBook {
    /// Fetches and judges the account's heads, and looks for every note where the newest says it stands.
    ///
    /// - Returns: the notes of which something came while looking, and those that the server holds back.
    /// - Throws: ``NotesError/accountHead(_:)``: the server shows two histories, or an old one.
    func checkAccountHead() async throws(NotesError) -> Set<NoteID> {
        withheld = []
        guard let notes = try await newestHeads() else { return [] }
        guard !missing(of: notes).isEmpty else { return [] }
        // Another device may have been quicker than the last pull.
        let received = try await pull()
        withheld = Set(missing(of: notes))
        for note in withheld { if held[note] == nil { broken[note] = .withheld } else { try load(note) } }
        return received.union(withheld)
    }

    /// Signs where the notes stand now, unless the newest head says so already.
    func advanceAccountHead() async throws(NotesError) {
        for _ in 0..<8 {
            let row = try read { try $0.account() }
            let notes = NoteHeads(standing(at: row.heads))
            if notes == row.heads, try await isStanding(row.head, notes) { return }
            let (number, overflow) = (row.head?.number ?? 0).addingReportingOverflow(1)
            guard !overflow else { throw .accountHead(.gap(after: row.head?.number ?? 0)) }
            let head = try record { () throws(NoteRecordError) in
                try AccountHead(
                    author: author, number: number, previous: row.head?.hash ?? .none, notes: notes.hash,
                    with: secrets.sign)
            }
            let answer: AccountHeadOutcome = try await calls.call(
                .putAccountHead, AccountHeadChange(head: head, notes: notes))
            switch answer {
            case .applied: return try keep(head, notes)
            case .conflict: _ = try await checkAccountHead()
            case .forbidden: throw .refused(.forbidden)
            case .overLimit: throw .noRoom(.bytes)
            }
        }
        throw .keepsMoving
    }

    /// Whether the newest head is one that every device of the account believes, or none is needed.
    private func isStanding(_ head: AccountHead?, _ notes: NoteHeads) async throws(NotesError) -> Bool {
        guard let head else { return notes.heads.isEmpty }
        return try await ownLookup().state.devices.contains { $0.keys.signing == head.author.device }
    }

    /// Where the notes stand that this account has and the server has been shown. What it holds back from this device stands
    /// where another has seen it: this device never signs less, or it would be taken for the server's word.
    private func standing(at newest: NoteHeads) -> [NoteID: NoteHeads.Head] {
        var standing = held.compactMapValues { held -> NoteHeads.Head? in
            guard held.fault != .erased, held.role(of: author.handle) != nil, !held.control.state.isDeleted else {
                return nil
            }
            return held.sentHead
        }
        for (note, head) in newest.heads where withheld.contains(note) || broken[note] == .withheld {
            standing[note] = head
        }
        return standing
    }

    /// Notes that are not here as another device has seen them.
    private func missing(of notes: NoteHeads) -> [NoteID] {
        notes.heads.filter { note, head in
            guard let held = held[note] else { return broken[note] == nil }
            guard held.control.holds(head.control) else { return true }
            return head.revision.map { !held.revisions.holds($0) } ?? false
        }.map(\.key).sorted()
    }

    /// What the newest head commits to; nil before the first.
    private func newestHeads() async throws(NotesError) -> NoteHeads? {
        let row = try read { try $0.account() }
        guard let (heads, notes) = try await fetchHeads() else { return nil }
        return try await accept(try news(heads, row.head), notes, row)
    }

    /// The heads from the known one on, as the server shows them, and what the newest commits to; nil before the first.
    func fetchHeads() async throws(NotesError) -> (heads: [AccountHead], notes: NoteHeads)? {
        let known = try read { try $0.account() }.head
        // The known head is asked for again: a server that was put back does not have it.
        var after = (known?.number ?? 1) - 1
        var heads: [AccountHead] = []
        while true {
            let answer: AccountHeadsAnswer = try await calls.call(
                .accountHeads, AccountHeadsRequest(after: after))
            heads += answer.heads
            guard heads.count <= bounds.heads else { throw .endlessFeed }
            if let notes = answer.notes { return (heads, notes) }
            guard let last = answer.heads.last, last.number > after else {
                guard known == nil, heads.isEmpty else { throw .serverWentBack }
                return nil
            }
            after = last.number
        }
    }

    /// The heads after the known one, which comes first.
    private func news(_ heads: [AccountHead], _ known: AccountHead?) throws(NotesError) -> [AccountHead] {
        guard let known else { return heads }
        guard let first = heads.first, first.number == known.number else { throw .serverWentBack }
        guard first == known else { throw .accountHead(.fork(number: known.number)) }
        return Array(heads.dropFirst())
    }

    private func accept(
        _ heads: [AccountHead], _ notes: NoteHeads, _ row: NotesAccountRow
    ) async throws(NotesError) -> NoteHeads {
        // What was accepted before needs no authority again.
        let own = heads.isEmpty ? AuthorKeys(pinned: [], of: author.handle) : keys(try await ownLookup())
        let newest: AccountHead
        do {
            newest = try AccountHeadVerifier.verify(heads, committingTo: notes, knowing: row.head, keys: own)
        } catch { throw .accountHead(error) }
        if newest != row.head { try keep(newest, notes) }
        return notes
    }

    private func keep(_ head: AccountHead, _ notes: NoteHeads) throws(NotesError) {
        try write { tables in
            var row = try tables.account()
            (row.head, row.heads) = (head, notes)
            try tables.set(row)
        }
    }
}
