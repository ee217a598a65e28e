// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import NotesAPI
import SQLStores

extension NoteArchive {
    /// Puts the next head behind the last one.
    ///
    /// - Throws: ``NoteStoreError``; sending it again is safe.
    public func put(
        _ change: AccountHeadChange, by requester: Author
    ) async throws(NoteStoreError) -> AccountHeadOutcome {
        let (head, limits) = (change.head, limits)
        guard head.author == requester, head.notes == change.notes.hash else { return .forbidden }
        return try await write { transaction in
            let account = try transaction.account(requester.handle)
            let last = try transaction.database.lastHead(of: account)
            guard last != head else { return .applied }
            let (number, hash) = (last?.number ?? 0, last?.hash ?? .none)
            guard head.number > 0, head.number - 1 == number, head.previous == hash else { return .conflict(last) }
            let notes = change.notes.encoded
            let before = try transaction.database.row(
                "SELECT COALESCE(length(head_notes), 0) FROM accounts WHERE id = ?", [account])
            let more = head.encoded.count + max(0, notes.count - Int(try before?.integer(0) ?? 0))
            if let shortage = try transaction.shortage(of: more, for: account, limits) {
                return shortage == .disk ? .serverFull : .overLimit
            }
            try transaction.run(
                "INSERT INTO heads (account, number, head) VALUES (?, ?, ?)",
                [account, Int64(clamping: head.number), head.encoded])
            try transaction.run(
                "UPDATE accounts SET head_notes = ? WHERE id = ?", [notes, account])
            try transaction.append(.head(head), to: account)
            return .applied
        }
    }

    /// The heads after a number; with the last one what it commits to.
    ///
    /// - Throws: ``NoteStoreError``.
    public func heads(
        _ request: AccountHeadsRequest, of handle: Handle
    ) async throws(NoteStoreError) -> AccountHeadsAnswer {
        try await database.read { database in
            guard let account = try database.account(handle) else { return AccountHeadsAnswer(heads: [], notes: nil) }
            let heads = try database.rows(
                "SELECT head FROM heads WHERE account = ? AND number > ? ORDER BY number LIMIT ?",
                [account, Int64(clamping: request.after), AccountHeadsAnswer.maximumCount]
            ).map { try AccountHead(decoding: $0.bytes(0)) }
            guard let newest = heads.last, newest == (try database.lastHead(of: account)) else {
                return AccountHeadsAnswer(heads: heads, notes: nil)
            }
            let notes = try database.row("SELECT head_notes FROM accounts WHERE id = ?", [account])?.optionalBytes(0)
            return AccountHeadsAnswer(heads: heads, notes: try notes.map { try NoteHeads(decoding: $0) })
        }
    }
}

extension SQLTransaction {
    fileprivate func lastHead(of account: Int64) throws -> AccountHead? {
        try row("SELECT head FROM heads WHERE account = ? ORDER BY number DESC LIMIT 1", [account]).map {
            try AccountHead(decoding: $0.bytes(0))
        }
    }
}
