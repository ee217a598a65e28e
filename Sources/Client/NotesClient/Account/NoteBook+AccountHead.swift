// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SignetClient

/// Each device signs the state of all notes, and compares what the server shows it with what the other devices signed.
extension NoteBook {
    /// Fetches and judges the account's heads, and checks that this device has the state of every note that the newest
    /// head names.
    ///
    /// - Returns: the notes for which something came during the check, and those that the server withholds.
    /// - Throws: ``NotesError/accountHead(_:)``: the server shows two histories, or an old one.
    func checkAccountHead() async throws(NotesError) -> Set<NoteID> {
        heads.forget()
        guard let newest = try await newestHeads() else { return [] }
        guard !AccountHeads.missing(of: newest, in: opened).isEmpty else { return [] }
        // Another device may have changed a note after the last pull.
        let received = try await pull()
        heads.compare(newest, with: opened)
        for note in heads.withheld { if held[note] == nil { opened.lock(note, .withheld) } else { try load(note) } }
        return received.union(heads.withheld)
    }

    /// Signs the current state of the notes, unless the newest head has it already.
    func advanceAccountHead() async throws(NotesError) {
        for _ in 0..<8 {
            let row = try read { try $0.account() }
            let notes = heads.standing(of: opened, for: author.handle, at: row.heads)
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
            case .serverFull: throw .noRoom(.disk)
            }
        }
        throw .keepsMoving
    }

    /// Whether every device of the account believes the newest head, or no head is needed.
    private func isStanding(_ head: AccountHead?, _ notes: NoteHeads) async throws(NotesError) -> Bool {
        guard let head else { return notes.heads.isEmpty }
        return try await ownLookup().state.devices.contains { $0.keys.signing == head.author.device }
    }

    /// The states that the newest head commits to; nil before the first head.
    private func newestHeads() async throws(NotesError) -> NoteHeads? {
        let row = try read { try $0.account() }
        guard let (heads, notes) = try await fetchHeads() else { return nil }
        return try await accept(try AccountHeads.news(heads, after: row.head), notes, row)
    }

    /// The heads from the known one on, as the server shows them, and what the newest commits to; nil before the first.
    func fetchHeads() async throws(NotesError) -> (heads: [AccountHead], notes: NoteHeads)? {
        try await calls.heads(from: try read { try $0.account() }.head, atMost: news.bounds.heads)
    }

    private func accept(
        _ heads: [AccountHead], _ notes: NoteHeads, _ row: NotesAccountRow
    ) async throws(NotesError) -> NoteHeads {
        // The known head was verified when it was accepted, so without new heads no keys are needed.
        let own = heads.isEmpty ? AuthorKeys(pinned: [], of: author.handle) : people.keys(try await ownLookup())
        let newest: AccountHead
        do {
            newest = try AccountHeadVerifier.verify(heads, committingTo: notes, knowing: row.head, keys: own)
        } catch { throw .accountHead(error) }
        if newest != row.head { try keep(newest, notes) }
        return notes
    }

    private func keep(_ head: AccountHead, _ notes: NoteHeads) throws(NotesError) {
        try files.changeAccount { ($0.head, $0.heads) = (head, notes) }
    }
}

extension NoteCalls {
    /// The account's heads from the known one on, as the server shows them, and what the newest commits to; nil before the first.
    func heads(
        from known: AccountHead?, atMost maximum: Int
    ) async throws(NotesError) -> (heads: [AccountHead], notes: NoteHeads)? {
        // The known head is requested again, because a server that was restored to an old state does not have it.
        var after = (known?.number ?? 1) - 1
        var heads: [AccountHead] = []
        while true {
            let answer: AccountHeadsAnswer = try await call(.accountHeads, AccountHeadsRequest(after: after))
            heads += answer.heads
            guard heads.count <= maximum else { throw .endlessFeed }
            if let notes = answer.notes { return (heads, notes) }
            guard let last = answer.heads.last, last.number > after else {
                guard known == nil, heads.isEmpty else { throw .serverWentBack }
                return nil
            }
            after = last.number
        }
    }
}
