// SPDX-License-Identifier: Apache-2.0

package import SQLStores

/// The tables of the recovery store.
package enum RecoverySchema {
    /// The tables that have a row from the moment they are made.
    package static let seeded: Set<String> = ["mailboxes"]

    /// The steps, in order.
    package static let schema = SQLSchema(
        "recovery",
        [
            SQLSchema.Step("1: files, letters, requests, answers", first),
            SQLSchema.Step("2: letters of 4096 bytes, several requests of an account, friends apart", second),
            SQLSchema.Step("3: one request of a number, numbers revealed to guardians by name", third),
            SQLSchema.Step("4: letters by sender", "CREATE INDEX letters_by_sender ON letters (sender, friend)"),
            SQLSchema.Step(
                "5: letters and answers numbered in the order in which they can be read", fifth, sqlite: fifthOfFiles),
        ])

    /// In the table `mailboxes`: from where on a mailbox without a row is numbered.
    static let nobody: [UInt8] = []

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

    /// What is there keeps its number, and what comes has a higher one, because a recipient goes on from the last that it saw.
    private static let fifth = """
        CREATE TABLE mailboxes (         -- how far the letters to an account are numbered
            recipient BLOB PRIMARY KEY,  -- empty: how far they are where there is no row
            last INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE letters ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        UPDATE letters SET number = id;
        INSERT INTO mailboxes (recipient, last) SELECT x'', COALESCE(MAX(id), 0) FROM letters;
        CREATE UNIQUE INDEX letters_by_number ON letters (recipient, number);
        CREATE INDEX letters_by_time ON letters (time);
        ALTER TABLE requests ADD COLUMN last_answer INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE answers ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        UPDATE answers SET number = id;
        UPDATE requests SET last_answer = COALESCE((SELECT MAX(id) FROM answers), 0);
        CREATE UNIQUE INDEX answers_by_number ON answers (request, number);
        CREATE INDEX requests_by_time ON requests (time);
        """

    /// Those that were dropped had numbers, too.
    private static let fifthOfFiles = """

        UPDATE mailboxes SET last = COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'letters'), last);
        UPDATE requests SET last_answer = COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'answers'), last_answer);
        """
}
