// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import GRDB
public import SignetClient

/// The notes of one account on this device, in one SQLite file of mode 0600: everything as it is sent, sealed. Nothing in
/// it can be read without the keys of the device.
///
/// One book at a time has the file; another program waits ten seconds for it, and is told then.
public final class NotesStore: Sendable {
    private let queue: DurableQueue
    /// Called before every transaction that writes; tests make it throw.
    private let hook: @Sendable () throws(StoreError) -> Void

    /// Opens the file, or makes it.
    ///
    /// - Throws: `StoreError`; `StoreError.busy`: another program has it.
    public static func open(at path: String) throws(StoreError) -> NotesStore {
        try open(at: path) { () throws(StoreError) in }
    }

    package static func open(
        at path: String, hook: @escaping @Sendable () throws(StoreError) -> Void
    ) throws(StoreError) -> NotesStore {
        do { try DurableFile(path: path).makeEmptyUnlessThere() } catch { throw .file(error) }
        do { return NotesStore(queue: try NotesSchema.open(path), hook: hook) } catch { throw StoreError(error) }
    }

    private init(queue: DurableQueue, hook: @escaping @Sendable () throws(StoreError) -> Void) {
        self.queue = queue
        self.hook = hook
    }

    /// Ends all use of the file.
    ///
    /// - Throws: `StoreError`.
    public func close() throws(StoreError) {
        do { try queue.close() } catch { throw StoreError(error) }
    }

    /// Removes the file of an attempt that was interrupted, if there is one. Nobody has it open.
    package static func remove(at path: String) throws(StoreError) {
        do throws(FileFault) {
            for name in [path, path + "-journal"] { try DurableFile(path: name).remove() }
        } catch { throw .file(error) }
    }

    /// - Parameter seal: what this device has remembered of signatures; nil checks each.
    func read<Value>(_ seal: StoreSeal?, _ body: (NotesTables) throws -> Value) throws(StoreError) -> Value {
        do { return try queue.read { try body(NotesTables(db: $0, seal: seal)) } } catch {
            throw StoreError(stored: error)
        }
    }

    /// One transaction.
    func write<Value>(_ seal: StoreSeal?, _ body: (NotesTables) throws -> Value) throws(StoreError) -> Value {
        try hook()
        do { return try queue.write { try body(NotesTables(db: $0, seal: seal)) } } catch {
            throw StoreError(stored: error)
        }
    }
}

extension StoreError {
    /// What cannot be read of what this program wrote is damaged.
    fileprivate init(stored error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case is DatabaseError, is DurableOpenError: self.init(error)
        default: self = .damaged
        }
    }
}

/// The tables, and how they are opened.
enum NotesSchema {
    /// Marks the file as ours: "SGNN".
    private static let applicationID = 0x5347_4E4E
    /// 2: records of a leaving, which a program of before would take for damage. 3: keys and lists are marked once they are
    /// believed, and beside records stands that their signature was checked.
    private static let version = 3

    static func open(_ path: String) throws -> DurableQueue {
        var options = DurableDatabase.Options()
        options.busyTimeout = 10
        options.settings = "PRAGMA temp_store = MEMORY; PRAGMA locking_mode = EXCLUSIVE"
        let queue = try DurableDatabase.queue(at: path, nil, options: options)
        try queue.write(check)
        return queue
    }

    private static func check(_ db: Database) throws {
        let application = try Int.fetchOne(db, sql: "PRAGMA application_id")
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        switch (application, found) {
        case (0, 0) where try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0:
            try db.execute(sql: tables + third + later)
            try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        // Tables that came later; a program that does not know them does without them.
        case (applicationID, 1...version):
            // What a program of before kept, it used: it counts as believed.
            if found < 3 { try db.execute(sql: third) }
            try db.execute(sql: later + "PRAGMA user_version = \(version)")
        case (applicationID, let newer) where newer > version: throw StoreError.newerVersion(newer)
        default: throw StoreError.damaged
        }
    }

    private static let third = """
        UPDATE record SET is_accepted = 1 WHERE kind IN (4, 5, 6, 7);
        ALTER TABLE record ADD COLUMN code BLOB; -- StoreSeal: this device has checked the signature
        ALTER TABLE outbox ADD COLUMN code BLOB;

        """

    private static let later = """
        CREATE TABLE IF NOT EXISTS refuted (
            note BLOB NOT NULL, kind INTEGER NOT NULL, hash BLOB NOT NULL, bytes BLOB NOT NULL, UNIQUE (note, kind, hash)
        ) STRICT;
        CREATE TABLE IF NOT EXISTS unlogged (
            note BLOB NOT NULL, hash BLOB NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (note, hash)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS removal (
            device BLOB PRIMARY KEY NOT NULL, account_epoch INTEGER NOT NULL, keeps_keys INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS record_unbelieved ON record (note) WHERE is_accepted <> 1;
        CREATE TABLE IF NOT EXISTS overfull (note BLOB PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS own_device (device BLOB PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID;
        """

    private static let tables = """
        CREATE TABLE account (
            one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1), cursor INTEGER NOT NULL, head BLOB, heads BLOB,
            is_locked INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE account_key (epoch INTEGER PRIMARY KEY NOT NULL, wrap BLOB NOT NULL) STRICT;
        CREATE TABLE record (
            note BLOB NOT NULL, kind INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL,
            bytes BLOB NOT NULL,
            is_accepted INTEGER NOT NULL, -- 0: not, or not yet; 1: believed; 2: counts nowhere, which is settled
            UNIQUE (note, kind, number, hash)
        ) STRICT;
        CREATE TABLE outbox (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, note BLOB NOT NULL, kind INTEGER NOT NULL,
            bytes BLOB NOT NULL, own_wrap BLOB
        ) STRICT;
        CREATE INDEX outbox_of_note ON outbox (note);
        """
}
