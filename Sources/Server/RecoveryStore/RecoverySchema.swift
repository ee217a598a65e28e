// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables of the recovery store.
enum RecoverySchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: files, letters, requests, answers") { database in
            try database.execute(sql: first)
        }
        migrator.registerMigration("2: letters of 4096 bytes, several requests of an account, friends apart") {
            database in
            try database.execute(sql: second)
        }
        migrator.registerMigration("3: one request of a number, numbers revealed to guardians by name") { database in
            try database.execute(sql: third)
        }
        migrator.registerMigration("4: letters by sender") { database in
            try database.execute(sql: "CREATE INDEX letters_by_sender ON letters (sender, friend)")
        }
        return migrator
    }

    private static let first = """
        CREATE TABLE files (             -- what a new device needs besides guardians: opaque
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            owner BLOB NOT NULL,         -- handle
            commitment BLOB NOT NULL,    -- 32 bytes: as the account's state names it
            bytes BLOB NOT NULL,
            time INTEGER NOT NULL,       -- seconds since 1970
            UNIQUE (owner, commitment)
        ) STRICT;
        CREATE TABLE letters (           -- sealed by an account to another
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            recipient BLOB NOT NULL,
            sender BLOB NOT NULL,
            time INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX letters_by_recipient ON letters (recipient, sender);
        CREATE TABLE requests (          -- of new devices, one for each account
            owner BLOB PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,   -- 32 bytes: SHA-256 of the request
            box BLOB NOT NULL,           -- 32 bytes: SHA-256 of the secret by which answers are collected
            start BLOB NOT NULL,
            request BLOB NOT NULL,
            reveal BLOB,                 -- the numbers shown to guardians so far
            time INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE answers (           -- of guardians
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            request BLOB NOT NULL,
            sender BLOB NOT NULL,
            time INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX answers_by_request ON answers (request, sender);
        """

    /// Letters, requests and answers of before have another form, which no program reads any more, and requests name no ask key.
    /// Owners send packets again (`signet guardians refresh`), new devices ask again; files stay.
    private static let second = """
        ALTER TABLE letters ADD COLUMN friend INTEGER NOT NULL DEFAULT 0;  -- whether both had accepted each other
        DROP TABLE requests;
        DELETE FROM answers;
        DELETE FROM letters;
        CREATE TABLE requests (          -- of new devices, side by side
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            owner BLOB NOT NULL,
            hash BLOB NOT NULL UNIQUE,   -- 32 bytes: SHA-256 of the request
            number INTEGER NOT NULL,     -- that the person reads to a guardian
            box BLOB NOT NULL,           -- 32 bytes: SHA-256 of the secret by which answers are collected
            commitment BLOB NOT NULL,    -- 104 bytes
            start BLOB,                  -- of the one that the log shows
            request BLOB NOT NULL,
            network BLOB NOT NULL,       -- whence it came
            reveal BLOB,                 -- the numbers shown to guardians so far
            time INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX requests_by_owner ON requests (owner, number);
        """

    /// If two requests had one number, neither could be found: a repeated request gets a number of its own. What
    /// devices revealed has another form now; they reveal it again when they look for answers.
    private static let third = """
        DELETE FROM requests WHERE id NOT IN (SELECT min(id) FROM requests GROUP BY owner, number);
        UPDATE requests SET reveal = NULL;
        DROP INDEX requests_by_owner;
        CREATE UNIQUE INDEX requests_by_number ON requests (owner, number);
        """
}
