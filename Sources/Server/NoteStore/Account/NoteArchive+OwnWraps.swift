// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import NoteLog
public import NotesAPI
import SQLStores

extension NoteArchive {
    /// Puts keys of notes for the own devices in the place of others, each for itself, all in one transaction.
    ///
    /// - Throws: ``NoteStoreError``; sending it again is safe.
    public func put(
        _ changes: OwnWrapChanges, by handle: Handle
    ) async throws(NoteStoreError) -> OwnWrapOutcomes {
        let (limits, states) = (limits, states)
        return try await write { transaction in
            guard let account = try transaction.database.account(handle) else {
                return OwnWrapOutcomes(changes.changes.map { _ in .unknown })
            }
            return OwnWrapOutcomes(
                try changes.changes.map { try transaction.put($0, of: account, limits, states) })
        }
    }
}

extension NoteTransaction {
    fileprivate func put(
        _ change: OwnWrapChange, of account: Int64, _ limits: NoteLimits, _ states: ControlStates
    ) throws -> OwnWrapOutcome {
        guard let note = try NoteRow(change.note, readableBy: account, in: database), change.epoch > 0,
            change.epoch <= (try note.control(in: database, states).epoch)
        else { return .unknown }
        let before = try database.row(
            "SELECT hash FROM records WHERE note = ? AND recipient = ? AND number = ? AND kind = 5",
            [note.id, account, Int64(change.epoch)])
        let (known, hash) = (try before?.recordHash(0) ?? .none, RecordHash(of: change.wrap))
        guard known != hash else { return .applied }
        guard known == change.replaced else { return .conflict }
        let item = FeedItem.ownWrap(change.note, epoch: change.epoch, change.wrap).encoded
        if let shortage = try shortage(of: item.count, for: account, limits) {
            return shortage == .disk ? .serverFull : .overLimit
        }
        try run(
            "DELETE FROM records WHERE note = ? AND recipient = ? AND number = ? AND kind = 5",
            [note.id, account, Int64(change.epoch)])
        let record = try insert(
            """
            INSERT INTO records (note, kind, number, hash, recipient, payer, item)
            VALUES (?, 5, ?, ?, ?, ?, ?) RETURNING id
            """, [note.id, Int64(change.epoch), hash.bytes, account, account, item])
        try append(record: record, to: account, payer: account)
        return .applied
    }
}
