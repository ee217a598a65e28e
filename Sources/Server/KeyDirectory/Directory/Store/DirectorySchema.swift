// SPDX-License-Identifier: Apache-2.0

package import SQLStores

/// The tables of the directory's database.
///
/// Everything personal hangs on a row of `accounts` and goes with it. Where a record stands in the log is not here: it
/// is found by its leaf hash, so that nothing has to be written after the log has it.
package enum DirectorySchema {
    /// The steps, in order.
    package static let schema = SQLSchema(
        "directory",
        [
            SQLSchema.Step("1: accounts, states, devices, friends", first),
            SQLSchema.Step("2: what earlier logs held last", second),
            SQLSchema.Step("3: what friends signed to each other", third),
            SQLSchema.Step("4: whence and when friends asked", fourth),
            SQLSchema.Step("5: when the quorum saw steps of recoveries", fifth),
            SQLSchema.Step("6: suspensions and invitations", sixth),
            SQLSchema.Step("7: released handles", seventh),
            SQLSchema.Step("8: what another process is to log", eighth),
            SQLSchema.Step("9: states that were lost", ninth),
            SQLSchema.Step("10: whose audit trail is an erased account's", tenth),
            SQLSchema.Step("11: whose act it was, and how much", eleventh, minimumReader: 10),
        ])

    private static let first = """
        CREATE TABLE meta (              -- one row: which directory this is, and how far it was compared with its log
            id INTEGER PRIMARY KEY CHECK (id = 1),
            origin BLOB NOT NULL,
            vrf_key BLOB NOT NULL,       -- 32 bytes, public
            checked_size INTEGER NOT NULL,
            checked_state INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE accounts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            handle BLOB NOT NULL UNIQUE,
            vrf_hash BLOB NOT NULL,      -- 64 bytes
            vrf_proof BLOB NOT NULL,     -- 80 bytes
            label BLOB NOT NULL UNIQUE   -- 32 bytes, as state records show it
        ) STRICT;
        CREATE TABLE states (            -- every state ever accepted, with the signed request that brought it
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            version INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            encoding BLOB NOT NULL,
            opening BLOB NOT NULL,       -- 32 bytes
            leaf BLOB NOT NULL,          -- 32 bytes: leaf hash of the state record
            statement BLOB NOT NULL,     -- value of the request's signature header
            cards BLOB NOT NULL,         -- with the state in encoding and opening, the body that the statement covers
            time INTEGER NOT NULL,       -- seconds since 1970
            UNIQUE (account, version)
        ) STRICT;
        CREATE TABLE devices (           -- active at version v: added <= v, and revoked is null or > v
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            number INTEGER NOT NULL,
            signing_key BLOB NOT NULL,   -- 32 bytes
            key_hash BLOB NOT NULL,      -- SHA-256 of it
            leaf BLOB NOT NULL,          -- 32 bytes: leaf hash of the device leaf
            added INTEGER NOT NULL,
            revoked INTEGER,
            PRIMARY KEY (account, number)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX devices_active ON devices (signing_key) WHERE revoked IS NULL;
        CREATE INDEX devices_by_key ON devices (signing_key);
        CREATE INDEX devices_by_hash ON devices (key_hash);
        CREATE TABLE friends (
            requester INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            invitee INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            accepted INTEGER NOT NULL,   -- 0 or 1
            PRIMARY KEY (requester, invitee)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX friends_by_invitee ON friends (invitee);
        CREATE TABLE erased (            -- labels whose history in the log is over: they cannot begin again
            label BLOB PRIMARY KEY,
            version INTEGER NOT NULL     -- of the record that closes it
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            event TEXT NOT NULL,
            account INTEGER NOT NULL
        ) STRICT;
        """

    private static let second = """
        CREATE TABLE former (            -- what a log that ended held last for an account, proofs and all
            account INTEGER NOT NULL REFERENCES accounts ON DELETE CASCADE,
            log INTEGER NOT NULL,        -- number of the change of keys that ended it
            answer BLOB NOT NULL,        -- the history under the log's last checkpoint
            PRIMARY KEY (account, log)
        ) STRICT, WITHOUT ROWID;
        """

    /// Encoded `SignedFriendRequest`, for the other of the two: of who asked, and of who agreed. NULL where nothing was kept.
    private static let third = """
        ALTER TABLE friends ADD COLUMN asked BLOB;
        ALTER TABLE friends ADD COLUMN agreed BLOB;
        """

    /// `accepted` can be 2 from now on: the person who was asked rejected the request for good.
    private static let fourth = """
        ALTER TABLE friends ADD COLUMN network BLOB NOT NULL DEFAULT x'';      -- whence the request came
        ALTER TABLE friends ADD COLUMN asked_at INTEGER NOT NULL DEFAULT 0;   -- seconds since 1970
        """

    private static let fifth = """
        CREATE TABLE seen (              -- published checkpoints from right before steps of recoveries, and the first ones after
            id INTEGER PRIMARY KEY,      -- in the order of their cosignatures
            size INTEGER NOT NULL,       -- of the log
            note BLOB NOT NULL           -- with the quorum's cosignatures of then
        ) STRICT;
        CREATE INDEX seen_by_size ON seen (size);
        """

    private static let sixth = """
        ALTER TABLE accounts ADD COLUMN suspended INTEGER;   -- seconds since 1970; NULL: its requests are taken
        CREATE INDEX audit_by_account ON audit (account);
        CREATE TABLE invitations (       -- who may register, where that needs one; a row goes when it is used
            handle BLOB PRIMARY KEY,
            code_hash BLOB NOT NULL,     -- SHA-256 of the code
            until INTEGER NOT NULL       -- seconds since 1970
        ) STRICT, WITHOUT ROWID;
        """

    private static let seventh = """
        ALTER TABLE accounts ADD COLUMN released INTEGER;    -- seconds since 1970; NULL: the handle is its holder's
        CREATE TABLE taken_over (        -- labels whose first records are a former holder's, of whom nothing is kept
            label BLOB PRIMARY KEY,
            version INTEGER NOT NULL     -- of the last of these records
        ) STRICT, WITHOUT ROWID;
        """

    /// Rows only after a repair; each goes when the owner has brought the states again.
    private static let ninth = """
        CREATE TABLE lost (              -- labels of which the log has newer records than the database has states
            label BLOB PRIMARY KEY,
            version INTEGER NOT NULL     -- of the last of these records
        ) STRICT, WITHOUT ROWID;
        """

    /// The number leads to the account's lines in `audit`. The label leads to a person only for who has the VRF key and their handle.
    private static let tenth = """
        ALTER TABLE erased ADD COLUMN account INTEGER;       -- the number that the account had; NULL: erased by an older program
        """

    /// An older program reads none of these. In the rows that it makes, as in those from before this step, they are NULL; where it replaces an
    /// invitation, they are those of the one before (`UsedInvitation`).
    private static let eleventh = """
        ALTER TABLE audit ADD COLUMN quota_before INTEGER;   -- bytes; NULL: the quota of all
        ALTER TABLE audit ADD COLUMN quota_after INTEGER;    -- the same
        ALTER TABLE audit ADD COLUMN until INTEGER;          -- seconds since 1970: of an invitation
        ALTER TABLE audit ADD COLUMN uid INTEGER;            -- of the process that asked for it; NULL: the account's own devices did
        ALTER TABLE audit ADD COLUMN user_name TEXT;         -- of this user on the server's machine then
        ALTER TABLE audit ADD COLUMN claim TEXT;             -- for whom the process says that it acted
        ALTER TABLE invitations ADD COLUMN made INTEGER;     -- seconds since 1970
        ALTER TABLE invitations ADD COLUMN uid INTEGER;      -- as in audit, and so are the next two
        ALTER TABLE invitations ADD COLUMN user_name TEXT;
        ALTER TABLE invitations ADD COLUMN claim TEXT;
        """

    /// Rows only where another process writes the log; each goes when that process has logged it.
    private static let eighth = """
        CREATE TABLE waiting (           -- a state, or the end of an account whose states are gone
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            state INTEGER REFERENCES states ON DELETE CASCADE,
            label BLOB,                  -- 32 bytes, of an account that was erased
            version INTEGER              -- of the record that closes it
        ) STRICT;
        CREATE INDEX waiting_by_state ON waiting (state);
        """
}
