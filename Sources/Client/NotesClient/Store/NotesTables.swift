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

    // MARK: The account

    func account() throws -> AccountRow {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM account") else { return AccountRow() }
        return AccountRow(
            cursor: UInt64(bitPattern: row["cursor"] as Int64),
            head: try (row["head"] as Data?).map { try AccountHead(decoding: Array($0)) },
            heads: try (row["heads"] as Data?).map { try NoteHeads(decoding: Array($0)) } ?? NoteHeads(),
            isLocked: row["is_locked"])
    }

    func set(_ account: AccountRow) throws {
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
        let sql = "SELECT DISTINCT note FROM record WHERE is_accepted = 0 AND kind IN (\(judged))"
        return try Data.fetchAll(db, sql: sql).map { try Self.note($0) }
    }

    func file(of note: NoteID) throws -> NoteFile {
        var file = NoteFile(note: note)
        let rows = try Row.fetchCursor(
            db, sql: "SELECT kind, bytes, is_accepted FROM record WHERE note = ? ORDER BY kind, number",
            arguments: [Data(note.bytes)])
        while let row = try rows.next() {
            guard let kind = RecordKind(rawValue: row["kind"]) else { throw StoreError.damaged }
            let record = try HeldRecord(kind, decoding: Array(row["bytes"] as Data))
            file.add(record, isAccepted: row["is_accepted"])
        }
        file.outbox = try outbox(of: note)
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
            sql: "INSERT OR IGNORE INTO record VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                Data(note.bytes), record.kind.rawValue, Int64(bitPattern: record.number),
                Data(RecordHash(of: record.encoded).bytes), Data(record.encoded), isAccepted,
            ])
        if isAccepted { try accept(record, of: note) }
    }

    func accept(_ record: HeldRecord, of note: NoteID) throws {
        try db.execute(
            sql: "UPDATE record SET is_accepted = 1 WHERE note = ? AND kind = ? AND number = ? AND hash = ?",
            arguments: [
                Data(note.bytes), record.kind.rawValue, Int64(bitPattern: record.number),
                Data(RecordHash(of: record.encoded).bytes),
            ])
    }

    /// Takes a record out of what is judged and keeps it: it shows what the server delivered.
    func setAside(_ record: HeldRecord, of note: NoteID) throws {
        let hash = Data(RecordHash(of: record.encoded).bytes)
        try db.execute(
            sql: "INSERT OR IGNORE INTO refuted VALUES (?, ?, ?, ?)",
            arguments: [Data(note.bytes), record.kind.rawValue, hash, Data(record.encoded)])
        try db.execute(
            sql: "DELETE FROM record WHERE note = ? AND kind = ? AND hash = ? AND is_accepted = 0",
            arguments: [Data(note.bytes), record.kind.rawValue, hash])
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
        try Row.fetchAll(db, sql: "SELECT * FROM outbox ORDER BY sequence").map(Self.item)
    }

    private func outbox(of note: NoteID) throws -> [OutboxItem] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM outbox WHERE note = ? ORDER BY sequence", arguments: [Data(note.bytes)]
        ).map(Self.item)
    }

    func enqueue(_ record: HeldRecord, of note: NoteID, ownWrap: OwnWrap? = nil) throws {
        try db.execute(
            sql: "INSERT INTO outbox (note, kind, bytes, own_wrap) VALUES (?, ?, ?, ?)",
            arguments: [
                Data(note.bytes), record.kind.rawValue, Data(record.encoded), ownWrap.map { Data($0.encoded) },
            ])
    }

    func dequeue(_ item: OutboxItem) throws {
        try db.execute(sql: "DELETE FROM outbox WHERE sequence = ?", arguments: [item.sequence])
    }

    private static func item(_ row: Row) throws -> OutboxItem {
        guard let kind = RecordKind(rawValue: row["kind"]) else { throw StoreError.damaged }
        return OutboxItem(
            sequence: row["sequence"], note: try note(row["note"]),
            record: try HeldRecord(kind, decoding: Array(row["bytes"] as Data)),
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
struct AccountRow {
    /// The last position of the feed that was read; 0 before the first.
    var cursor: UInt64 = 0
    /// The newest account head that was accepted.
    var head: AccountHead?
    /// What it commits to.
    var heads = NoteHeads()
    /// Whether the user locked the notes on this device.
    var isLocked = false
}
