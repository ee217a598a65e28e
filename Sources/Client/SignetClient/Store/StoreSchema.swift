// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import GRDB
import KeyTransparency

/// The tables of the client's store, and how they are opened.
enum StoreSchema {
    /// Marks the file as Signet's: "SGNT".
    private static let applicationID = 0x5347_4E54
    private static let version = 5

    static func open(_ path: String) throws -> DurableQueue {
        var options = DurableDatabase.Options()
        options.busyTimeout = 10
        let queue = try DurableDatabase.queue(at: path, nil, options: options)
        try queue.write(check)
        return queue
    }

    private static func check(_ db: Database) throws {
        guard let found = try Int.fetchOne(db, sql: "PRAGMA user_version"),
            let application = try Int.fetchOne(db, sql: "PRAGMA application_id")
        else { throw StoreError.damaged }
        switch (application, found) {
        case (0, 0) where try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0:
            try db.execute(sql: tables)
            for table in addedInVersion3 { try db.execute(sql: table) }
            try db.execute(sql: addedInVersion4)
            try db.execute(sql: addedInVersion5)
            try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        case (applicationID, version): break
        case (applicationID, 1...4):
            if found == 1 { try StoreMigration.fromVersion1(db) }
            if found < 3 { for table in addedInVersion3 { try db.execute(sql: table) } }
            if found < 4 { try db.execute(sql: addedInVersion4) }
            try db.execute(sql: addedInVersion5)
            try db.execute(sql: "PRAGMA user_version = \(version)")
        case (applicationID, let newer) where newer > version: throw StoreError.newerVersion(newer)
        default: throw StoreError.damaged
        }
    }

    private static let tables = """
        CREATE TABLE pinned_peer (
            handle BLOB PRIMARY KEY NOT NULL, identity_key BLOB NOT NULL, version INTEGER NOT NULL,
            state_hash BLOB NOT NULL, devices BLOB NOT NULL, pinned_at INTEGER NOT NULL,
            history BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE log_view (origin BLOB PRIMARY KEY NOT NULL, view BLOB NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE evidence (
            number INTEGER PRIMARY KEY AUTOINCREMENT, kept_at INTEGER NOT NULL, fault BLOB NOT NULL,
            known BLOB NOT NULL, received BLOB NOT NULL, UNIQUE (fault, known, received)
        ) STRICT;
        CREATE TABLE person (handle BLOB PRIMARY KEY NOT NULL, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE own_record (
            one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1), pending BLOB,
            highest_device_number INTEGER NOT NULL, acts BLOB NOT NULL, watch BLOB
        ) STRICT;
        """

    /// What a new store and a store of version 2 get in addition.
    private static let addedInVersion3 = [
        // People whose identity key the user compared: which key, how, when, and on which day they met.
        """
        CREATE TABLE comparison (
            handle BLOB PRIMARY KEY NOT NULL, identity_key BLOB NOT NULL, kind INTEGER NOT NULL,
            compared_at INTEGER NOT NULL, met_on INTEGER
        ) STRICT, WITHOUT ROWID;
        """,
        // Forks that a contact's checkpoint showed, kept permanently.
        """
        CREATE TABLE met_fork (
            number INTEGER PRIMARY KEY AUTOINCREMENT, kept_at INTEGER NOT NULL, evidence BLOB NOT NULL UNIQUE
        ) STRICT;
        """,
        // The card with which this device asked to be added to its account, until the user has confirmed the account.
        """
        CREATE TABLE pending_link (
            one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1), card BLOB NOT NULL
        ) STRICT;
        """,
        // When the last check of the user's own account and of shown keys ended without an alarm.
        """
        CREATE TABLE last_check (
            one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1), ended_at INTEGER NOT NULL
        ) STRICT;
        """,
        // Keys of other people that were used, until they have been looked for at a later milestone.
        """
        CREATE TABLE shown_keys (
            origin BLOB NOT NULL, handle BLOB NOT NULL, history BLOB NOT NULL, epoch_day INTEGER NOT NULL,
            epoch_index INTEGER NOT NULL, shown_at INTEGER NOT NULL, response BLOB NOT NULL,
            PRIMARY KEY (origin, handle, history, epoch_day)
        ) STRICT;
        """,
        // When a person was last seen without a recovery under way.
        """
        CREATE TABLE peer_look (handle BLOB PRIMARY KEY NOT NULL, epoch_time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        """,
        // X-Wing keys of devices, of which a state has only the hashes, so that each key is sent once.
        """
        CREATE TABLE device_key (
            handle BLOB NOT NULL, keys_hash BLOB NOT NULL, kem BLOB NOT NULL, PRIMARY KEY (handle, keys_hash)
        ) STRICT, WITHOUT ROWID;
        """,
        // Ended logs, in their order: what they were trusted by, and their last checkpoint.
        """
        CREATE TABLE former_log (
            number INTEGER PRIMARY KEY AUTOINCREMENT, origin BLOB NOT NULL UNIQUE, vrf_key BLOB NOT NULL,
            policy BLOB NOT NULL, maximum_age INTEGER NOT NULL, warning_age INTEGER NOT NULL,
            clock_skew INTEGER NOT NULL, note BLOB NOT NULL
        ) STRICT;
        """,
        // What was known of people in an ended log, until it is compared with the end of that log.
        """
        CREATE TABLE former_history (
            handle BLOB PRIMARY KEY NOT NULL, origin BLOB NOT NULL, history BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """,
        // The same for the user's own account.
        """
        CREATE TABLE former_watch (
            one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1), origin BLOB NOT NULL, watch BLOB NOT NULL
        ) STRICT;
        """,
        // Friends whose signed request or agreement was compared.
        "CREATE TABLE met_friend (handle BLOB PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID;",
        // The time of that look by this device's clock.
        "ALTER TABLE peer_look ADD COLUMN seen_at INTEGER;",
    ]

    /// What a new store and a store of version 3 get in addition: the last meeting with each person, sealed. A program of before knows
    /// neither the table nor the kind of comparison that comes with it, so it must not open the store.
    private static let addedInVersion4 =
        "CREATE TABLE meeting (handle BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL) STRICT, WITHOUT ROWID;"

    /// What a new store and a store of version 4 get in addition: what this device brought of its own account, to bring it again.
    private static let addedInVersion5 = """
        ALTER TABLE own_record ADD COLUMN signature BLOB;
        CREATE TABLE kept_submission (
            origin BLOB NOT NULL, version INTEGER NOT NULL, log_index INTEGER NOT NULL, submission BLOB NOT NULL,
            signature BLOB NOT NULL, PRIMARY KEY (origin, version)
        ) STRICT, WITHOUT ROWID;
        """
}

extension StoreError {
    /// The error that corresponds to an error of the database library.
    package init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error.extendedResultCode)
        case DurableOpenError.database(let code): self.init(ResultCode(rawValue: code))
        case DurableOpenError.file(let code): self = .file(FileFault(errno: code))
        case is DurableOpenError: self = .damaged
        case is HandleError: self = .damaged
        default: self = .failed(0)
        }
    }

    private init(_ code: ResultCode) {
        switch code.primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_FULL: self = .noSpace
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_MISMATCH, .SQLITE_CONSTRAINT: self = .damaged
        case .SQLITE_CANTOPEN: self = .file(.notPermitted)
        default: self = .failed(code.rawValue)
        }
    }
}
