// SPDX-License-Identifier: Apache-2.0

import SQLStores

/// The tables of the notes' database. Nothing in them opens anything.
///
/// What hangs on an account or on a note goes with it. `accounts.bytes` is kept by triggers, so that it is exact
/// however rows are removed.
enum NoteSchema {
    static let schema = SQLSchema(
        "notes",
        [
            SQLSchema.Step(
                "1: accounts, notes, records, feed, files, heads, pushes", accounts + notes + feed,
                sqlite: NotePayments.recordsOnSQLite, postgres: NotePayments.recordsOnPostgres),
            SQLSchema.Step(
                "2: age of accounts; feeds and names of pushes are paid for", payments,
                sqlite: NotePayments.feedOnSQLite, postgres: NotePayments.feedOnPostgres),
            SQLSchema.Step(
                "3: what an account's head commits to is paid for", headPayments,
                sqlite: NotePayments.headNotesOnSQLite, postgres: NotePayments.headNotesOnPostgres),
            // Bytes; NULL: the quota of all.
            SQLSchema.Step("4: quotas of single accounts", "ALTER TABLE accounts ADD COLUMN quota INTEGER;"),
            SQLSchema.Step("5: up to which record everything is written", marks, postgres: waitingForWriters),
            SQLSchema.Step("6: roots that were logged, for those that did not log them", roots),
            SQLSchema.Step(
                "7: bodies of files in an object store", objects, sqlite: NotePayments.objectsOnSQLite,
                postgres: NotePayments.objectsOnPostgres + bodiesHere),
            SQLSchema.Step("8: under which secrets people log in", SecretDigests.table, minimumReader: 7),
            // An older program that logs roots puts down none of it, and one that follows makes its map from the notes.
            SQLSchema.Step("9: the maps of the roots, for those that did not log them", positions, minimumReader: 7),
        ])

    private static let accounts = """
        CREATE TABLE accounts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            handle BLOB NOT NULL UNIQUE,
            newest INTEGER NOT NULL DEFAULT 0,     -- last position of the feed
            trimmed INTEGER NOT NULL DEFAULT 0,    -- the feed up to here is not whole any more
            bytes INTEGER NOT NULL DEFAULT 0,      -- of what it has stored
            keys_version INTEGER NOT NULL DEFAULT 0,
            login BLOB,                            -- OPAQUE record, 192 bytes
            password BLOB,                         -- account master key by password
            recovery BLOB,                         -- account master key by recovery key
            head_notes BLOB                        -- what the newest account head commits to
        ) STRICT;
        CREATE TABLE device_wraps (                -- account master key by device
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            device BLOB NOT NULL,
            wrap BLOB NOT NULL,
            PRIMARY KEY (account, device)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE heads (
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            number INTEGER NOT NULL,
            head BLOB NOT NULL,
            PRIMARY KEY (account, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE pushes (                      -- applied lately, by the name their client gave them
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            name BLOB NOT NULL,
            hash BLOB NOT NULL,
            cursor INTEGER NOT NULL,
            time INTEGER NOT NULL,
            PRIMARY KEY (account, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX pushes_by_time ON pushes (time);

        """

    private static let notes = """
        CREATE TABLE notes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name BLOB NOT NULL UNIQUE,             -- 16 bytes
            owner INTEGER NOT NULL REFERENCES accounts,
            creator INTEGER REFERENCES accounts ON DELETE SET NULL,
            deleted INTEGER                        -- when, in seconds since 1970
        ) STRICT;
        CREATE INDEX notes_by_owner ON notes (owner);
        CREATE INDEX notes_by_creator ON notes (creator);
        CREATE INDEX notes_deleted ON notes (deleted) WHERE deleted IS NOT NULL;
        CREATE TABLE members (                     -- who may read, the owner too
            note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            PRIMARY KEY (note, account)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX members_by_account ON members (account);
        CREATE TABLE records (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
            kind INTEGER NOT NULL,                 -- as in FeedItem: 1 control, 2 revision, 3 child, 4 wrap, 5 own wrap
            number INTEGER NOT NULL,               -- of control entries and revisions; the epoch of the others
            hash BLOB NOT NULL,                    -- SHA-256 of the record
            recipient INTEGER REFERENCES accounts ON DELETE CASCADE,
            payer INTEGER REFERENCES accounts ON DELETE SET NULL,
            item BLOB NOT NULL                     -- the FeedItem
        ) STRICT;
        CREATE UNIQUE INDEX records_chains ON records (note, kind, number) WHERE kind <= 2;
        CREATE UNIQUE INDEX records_children ON records (note, hash) WHERE kind = 3;
        CREATE INDEX records_wraps ON records (note, recipient) WHERE kind = 4;
        CREATE UNIQUE INDEX records_own ON records (note, recipient, number) WHERE kind = 5;
        CREATE INDEX records_by_recipient ON records (recipient) WHERE recipient IS NOT NULL;
        CREATE INDEX records_by_payer ON records (payer);
        CREATE TABLE chunks (
            id INTEGER PRIMARY KEY,
            note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
            blob BLOB NOT NULL,                    -- 16 bytes
            number INTEGER NOT NULL,
            payer INTEGER REFERENCES accounts ON DELETE SET NULL,
            body BLOB NOT NULL,
            UNIQUE (note, blob, number)
        ) STRICT;
        CREATE INDEX chunks_by_payer ON chunks (payer);

        """

    private static let feed = """
        CREATE TABLE feed (                        -- what each account learns, in order
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            position INTEGER NOT NULL,
            record INTEGER REFERENCES records ON DELETE CASCADE,
            kind INTEGER,                          -- of an item that is no record
            item BLOB,
            time INTEGER NOT NULL,
            PRIMARY KEY (account, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX feed_by_record ON feed (record) WHERE record IS NOT NULL;
        CREATE INDEX feed_by_kind ON feed (account, kind) WHERE kind IS NOT NULL;
        CREATE INDEX feed_by_time ON feed (time) WHERE kind IS NOT NULL;

        """

    /// Existing accounts count as old. Existing entries of feeds were charged to no account and stay so; names of
    /// pushes are counted.
    private static let payments = """
        ALTER TABLE accounts ADD COLUMN since INTEGER NOT NULL DEFAULT 0;  -- seconds since 1970
        ALTER TABLE feed ADD COLUMN payer INTEGER;                        -- the account that caused it
        UPDATE accounts SET bytes = bytes
            + \(NoteLimits.nameByteCount) * (SELECT COUNT(*) FROM pushes WHERE pushes.account = accounts.id);

        """

    private static let headPayments = """
        UPDATE accounts SET bytes = bytes + COALESCE(length(head_notes), 0);

        """

    private static let marks = """
        CREATE TABLE marks (                       -- one row at most
            id INTEGER PRIMARY KEY CHECK (id = 1),
            record INTEGER NOT NULL                -- up to this number, every record is written or never will be
        ) STRICT;

        """

    private static let roots = """
        CREATE TABLE roots (
            number INTEGER PRIMARY KEY,            -- version under the label of the notes
            root BLOB NOT NULL,                    -- of the map that was logged, 32 bytes
            time INTEGER NOT NULL,                 -- that was logged with it, in seconds since 1970
            record INTEGER NOT NULL                -- the mark that it belongs to
        ) STRICT;

        """

    private static let positions = """
        CREATE TABLE positions (                   -- the map of a root is, of each key, the newest row up to its number
            map_key BLOB NOT NULL,                 -- SHA-256 of a note's name, 32 bytes
            number INTEGER NOT NULL,               -- of the root from which on this holds
            map_value BLOB NOT NULL,               -- SHA-256 of where the note stands; empty: the map is without it
            PRIMARY KEY (map_key, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX positions_by_number ON positions (number);

        """

    /// A name is in `coming_objects` before its object is put, in `chunks` once that is there, and in `going_objects` from the moment at which
    /// no row needs it: so there is no object without a name in one of the three, but for one that arrives after it was removed for good.
    private static let objects = """
        ALTER TABLE chunks ADD COLUMN object BLOB;                       -- 16 bytes: where the body is; NULL: here
        ALTER TABLE chunks ADD COLUMN hash BLOB;                         -- SHA-256 of a body that is in an object
        ALTER TABLE chunks ADD COLUMN size INTEGER NOT NULL DEFAULT 0;   -- of a body that is in an object, in bytes
        CREATE TABLE coming_objects (
            name BLOB PRIMARY KEY,                 -- 16 random bytes
            time INTEGER NOT NULL                  -- seconds since 1970
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX coming_objects_by_time ON coming_objects (time);
        CREATE TABLE going_objects (
            name BLOB PRIMARY KEY,
            removed INTEGER                        -- when it was removed for the first time, in seconds since 1970
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX going_objects_by_removal ON going_objects (removed);

        """

    /// Those that came with a directory of one machine, and get their objects by and by.
    private static let bodiesHere = "CREATE INDEX chunks_here ON chunks (id) WHERE object IS NULL;"

    /// On a server, several transactions write records at the same time, and a lower number may be committed after a higher one. So whoever
    /// sets the mark waits until all that have begun to write records have ended, and then takes the last number that was given. The lock
    /// keeps new ones waiting for as long as that transaction takes.
    private static let waitingForWriters = """
        CREATE FUNCTION marks_wait() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            LOCK TABLE records IN SHARE MODE;
            NEW.record := COALESCE(pg_sequence_last_value(pg_get_serial_sequence('records', 'id')::regclass), 0);
            RETURN NEW;
        END $$;
        CREATE TRIGGER marks_wait BEFORE INSERT ON marks FOR EACH ROW EXECUTE FUNCTION marks_wait();
        """
}
