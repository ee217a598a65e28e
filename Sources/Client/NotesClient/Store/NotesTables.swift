// SPDX-License-Identifier: Apache-2.0

import GRDB
import NoteLog
import SealedNotes
import SignetClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The tables within one transaction.
struct NotesTables {
    let db: Database
    let seal: StoreSeal?

    // MARK: The account

    func account() throws -> NotesAccountRow {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM account") else { return NotesAccountRow() }
        return NotesAccountRow(
            cursor: UInt64(bitPattern: row["cursor"] as Int64),
            head: try (row["head"] as Data?).map { try AccountHead(decoding: Array($0)) },
            heads: try (row["heads"] as Data?).map { try NoteHeads(decoding: Array($0)) } ?? NoteHeads(),
            isLocked: row["is_locked"])
    }

    func set(_ account: NotesAccountRow) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO account VALUES (1, ?, ?, ?, ?)",
            arguments: [
                Int64(bitPattern: account.cursor), account.head.map { Data($0.encoded) },
                Data(account.heads.encoded), account.isLocked,
            ])
    }

    /// The account master keys of all epochs, each encrypted to this device.
    func accountKeys() throws -> [AccountDeviceWrap] {
        try Data.fetchAll(db, sql: "SELECT wrap FROM account_key ORDER BY epoch").map {
            try AccountDeviceWrap(decoding: Array($0))
        }
    }

    func keep(_ wrap: AccountDeviceWrap) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO account_key VALUES (?, ?)",
            arguments: [Int64(wrap.epoch), Data(wrap.encoded)])
    }

    func forgetAccountKeys() throws { try db.execute(sql: "DELETE FROM account_key") }

    // MARK: Devices that are removed

    func removals() throws -> [DeviceRemoval] {
        try Row.fetchAll(db, sql: "SELECT * FROM removal ORDER BY device").map { row in
            guard let epoch = UInt32(exactly: row["account_epoch"] as Int64) else { throw StoreError.damaged }
            return DeviceRemoval(
                device: Array(row["device"] as Data), accountEpoch: epoch, isKeepingKeys: row["keeps_keys"])
        }
    }

    func set(_ removal: DeviceRemoval) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO removal VALUES (?, ?, ?)",
            arguments: [Data(removal.device), Int64(removal.accountEpoch), removal.isKeepingKeys])
    }

    func forget(_ removal: DeviceRemoval) throws {
        try db.execute(sql: "DELETE FROM removal WHERE device = ?", arguments: [Data(removal.device)])
    }

    /// Ed25519 keys of the account's devices when they were last looked up; empty before the first time.
    func ownDevices() throws -> Set<[UInt8]> {
        Set(try Data.fetchAll(db, sql: "SELECT device FROM own_device").map { Array($0) })
    }

    func set(ownDevices devices: Set<[UInt8]>) throws {
        try db.execute(sql: "DELETE FROM own_device")
        for device in devices {
            try db.execute(sql: "INSERT INTO own_device VALUES (?)", arguments: [Data(device)])
        }
    }

    // MARK: Records

    /// Every note of which anything is held.
    func notes() throws -> [NoteID] {
        let sql = "SELECT note FROM record UNION SELECT note FROM outbox ORDER BY note"
        return try Data.fetchAll(db, sql: sql).map { try Self.note($0) }
    }

    /// Notes of which something came that was not accepted, or not yet.
    func notesWithNews() throws -> [NoteID] {
        let judged = [RecordKind.control, .revision, .child].map { String($0.rawValue) }.joined(separator: ", ")
        let sql = "SELECT DISTINCT note FROM record WHERE is_accepted <> 1 AND is_accepted = 0 AND kind IN (\(judged))"
        return try Data.fetchAll(db, sql: sql).map { try Self.note($0) }
    }

    func file(of note: NoteID) throws -> NoteFile {
        var file = NoteFile(note: note)
        let sql = "SELECT kind, bytes, is_accepted, code FROM record WHERE note = ? ORDER BY kind, number"
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: [Data(note.bytes)])
        while let row = try rows.next() {
            let record = try record(row)
            file.add(record, isAccepted: row["is_accepted"] != 0)
        }
        file.outbox = try outbox(of: note)
        file.isOverfull = try isOverfull(note)
        return file
    }

    /// Keeps a record; what is there, or was set aside, stays as it is.
    func keep(_ record: HeldRecord, of note: NoteID, isAccepted: Bool = false) throws {
        let isAside = try Row.fetchOne(
            db, sql: "SELECT 1 FROM refuted WHERE note = ? AND kind = ? AND hash = ?",
            arguments: [
                Data(note.bytes), record.kind.rawValue, Data(RecordHash(of: record.encoded).bytes),
            ])
        guard isAside == nil else { return }
        try db.execute(
            sql: "INSERT OR IGNORE INTO record VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                Data(note.bytes), record.kind.rawValue, Int64(bitPattern: record.number),
                Data(RecordHash(of: record.encoded).bytes), Data(record.encoded), isAccepted, code(of: record),
            ])
        if isAccepted { try accept(record, of: note) }
    }

    func accept(_ record: HeldRecord, of note: NoteID) throws {
        try db.execute(
            sql: "UPDATE record SET is_accepted = 1, code = ? WHERE note = ? AND kind = ? AND number = ? AND hash = ?",
            arguments: [
                code(of: record), Data(note.bytes), record.kind.rawValue, Int64(bitPattern: record.number),
                Data(RecordHash(of: record.encoded).bytes),
            ])
    }

    // MARK: What is not believed

    /// Keeps a record that is not believed and needs no judging any more. It stays among what is too much.
    func settle(_ record: HeldRecord, of note: NoteID) throws {
        try keep(record, of: note)
        try db.execute(
            sql: """
                UPDATE record SET is_accepted = 2
                WHERE note = ? AND kind = ? AND number = ? AND hash = ? AND is_accepted = 0
                """,
            arguments: [
                Data(note.bytes), record.kind.rawValue, Int64(bitPattern: record.number),
                Data(RecordHash(of: record.encoded).bytes),
            ])
    }

    /// Bytes of each note that are not believed: notes of which something is come first, then the others, as they came.
    func unbelievedByteCounts() throws -> [(NoteID, Int)] {
        let sql = """
            SELECT note, SUM(length(bytes) + \(FeedBounds.recordByteCount)),
                EXISTS (SELECT 1 FROM record known WHERE known.note = record.note AND kind = 1 AND is_accepted = 1)
            FROM record WHERE is_accepted <> 1 GROUP BY note ORDER BY 3 DESC, MIN(rowid)
            """
        return try Row.fetchAll(db, sql: sql).map { (try Self.note($0[0]), $0[1]) }
    }

    /// Keys, lists and words of the server's about a note that nothing has confirmed yet.
    func unsettled(of note: NoteID) throws -> [HeldRecord] {
        let sql = "SELECT kind, bytes, code FROM record WHERE note = ? AND is_accepted = 0 AND kind IN (4, 5, 6, 7)"
        return try Row.fetchAll(db, sql: sql, arguments: [Data(note.bytes)]).map(record)
    }

    /// A record whose signature is checked unless this device did that before.
    private func record(_ row: Row) throws -> HeldRecord {
        guard let kind = RecordKind(rawValue: row["kind"]) else { throw StoreError.damaged }
        let bytes = Array(row["bytes"] as Data)
        let isChecked = (row["code"] as Data?).map { seal?.isCode(Array($0), of: bytes, kind) ?? false } ?? false
        return try HeldRecord(kind, decoding: bytes, isChecked: isChecked)
    }

    /// nil where no signature was checked.
    private func code(of record: HeldRecord) -> Data? {
        record.isSigned ? seal.map { Data($0.code(of: record.encoded, record.kind)) } : nil
    }

    /// Drops what of a note is not believed behind the first so many bytes, in the order in which it came, and remembers that unless
    /// nothing is left of the note.
    ///
    /// - Returns: whether something is left.
    func dropUnbelieved(of note: NoteID, behind byteCount: Int) throws -> Bool {
        let sql = "SELECT rowid, length(bytes) FROM record WHERE note = ? AND is_accepted <> 1 ORDER BY rowid"
        var left = byteCount
        for row in try Row.fetchAll(db, sql: sql, arguments: [Data(note.bytes)]) {
            left -= row[1] + FeedBounds.recordByteCount
            guard left < 0 else { continue }
            try db.execute(sql: "DELETE FROM record WHERE rowid = ?", arguments: [row[0] as Int64])
        }
        try db.execute(
            sql: "INSERT OR IGNORE INTO overfull SELECT note FROM record WHERE note = ? LIMIT 1",
            arguments: [Data(note.bytes)])
        return try isOverfull(note)
    }

    private func isOverfull(_ note: NoteID) throws -> Bool {
        let sql = "SELECT 1 FROM overfull WHERE note = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [Data(note.bytes)]) != nil
    }

    /// All that was dropped is fetched again.
    func forgetOverfull() throws { try db.execute(sql: "DELETE FROM overfull") }

    /// Bytes that were set aside.
    func refutedByteCount() throws -> Int {
        try Int.fetchOne(db, sql: "SELECT SUM(length(bytes) + \(FeedBounds.recordByteCount)) FROM refuted") ?? 0
    }

    /// Takes a record out of what is judged and does not keep it.
    func drop(_ record: HeldRecord, of note: NoteID) throws {
        try db.execute(
            sql: "DELETE FROM record WHERE note = ? AND kind = ? AND hash = ? AND is_accepted = 0",
            arguments: [
                Data(note.bytes), record.kind.rawValue, Data(RecordHash(of: record.encoded).bytes),
            ])
    }

    /// Takes a record out of what is judged and keeps it: it shows what the server delivered.
    func setAside(_ record: HeldRecord, of note: NoteID) throws {
        let hash = Data(RecordHash(of: record.encoded).bytes)
        try db.execute(
            sql: "INSERT OR IGNORE INTO refuted VALUES (?, ?, ?, ?)",
            arguments: [Data(note.bytes), record.kind.rawValue, hash, Data(record.encoded)])
        try drop(record, of: note)
    }

    // MARK: What the log does not say yet

    func unlogged(of note: NoteID) throws -> UnloggedRecords {
        let rows = try Row.fetchAll(
            db, sql: "SELECT hash, since FROM unlogged WHERE note = ?", arguments: [Data(note.bytes)])
        let since = try rows.map { row in
            guard let hash = RecordHash(row["hash"] as Data) else { throw StoreError.damaged }
            return (hash, UInt64(bitPattern: row["since"] as Int64))
        }
        return UnloggedRecords(since: Dictionary(since) { first, _ in first })
    }

    func set(_ unlogged: UnloggedRecords, of note: NoteID) throws {
        try db.execute(sql: "DELETE FROM unlogged WHERE note = ?", arguments: [Data(note.bytes)])
        for (hash, since) in unlogged.since {
            try db.execute(
                sql: "INSERT INTO unlogged VALUES (?, ?, ?)",
                arguments: [Data(note.bytes), Data(hash.bytes), Int64(bitPattern: since)])
        }
    }

    // MARK: Outbox

    /// Everything that waits to be sent, the oldest first.
    func outbox() throws -> [OutboxItem] {
        try Row.fetchAll(db, sql: "SELECT * FROM outbox ORDER BY sequence").map(item)
    }

    private func outbox(of note: NoteID) throws -> [OutboxItem] {
        let sql = "SELECT * FROM outbox WHERE note = ? ORDER BY sequence"
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [Data(note.bytes)]).map(item)
    }

    func enqueue(_ record: HeldRecord, of note: NoteID, ownWrap: OwnWrap? = nil) throws {
        try db.execute(
            sql: "INSERT INTO outbox (note, kind, bytes, own_wrap, code) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                Data(note.bytes), record.kind.rawValue, Data(record.encoded), ownWrap.map { Data($0.encoded) },
                code(of: record),
            ])
    }

    func dequeue(_ item: OutboxItem) throws {
        try db.execute(sql: "DELETE FROM outbox WHERE sequence = ?", arguments: [item.sequence])
    }

    private func item(_ row: Row) throws -> OutboxItem {
        OutboxItem(
            sequence: row["sequence"], note: try Self.note(row["note"]), record: try record(row),
            ownWrap: try (row["own_wrap"] as Data?).map { try OwnWrap(decoding: Array($0)) })
    }

    private static func note(_ bytes: Data) throws -> NoteID {
        guard let note = NoteID(bytes) else { throw StoreError.damaged }
        return note
    }
}

/// A device that the user takes from the account, from before the directory is asked until its notes have settled that.
struct DeviceRemoval: Hashable {
    /// Its Ed25519 key, 32 bytes.
    let device: [UInt8]
    /// Of the newest account key that it may know; 0 until this device has seen that it is gone.
    var accountEpoch: UInt32 = 0
    /// Whether the notes keep their keys.
    let isKeepingKeys: Bool
}

/// What is remembered of the account as a whole.
struct NotesAccountRow {
    /// The last position of the feed that was read; 0 before the first.
    var cursor: UInt64 = 0
    /// The newest account head that was accepted.
    var head: AccountHead?
    /// What it commits to.
    var heads = NoteHeads()
    /// Whether the user locked the notes on this device.
    var isLocked = false
}
