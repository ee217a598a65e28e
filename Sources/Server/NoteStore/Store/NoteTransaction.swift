// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import NoteLog
import SQLStores

/// One run of one transaction that writes. Every statement of it goes through here, so that a test can make each fail.
final class NoteTransaction {
    let database: SQLTransaction
    /// Seconds since 1970.
    let now: UInt64
    /// Whose feed has got longer.
    private(set) var changed: Set<Int64> = []
    private let beforeStatement: () throws -> Void
    private let isClosed: (Handle) -> Bool
    /// How much of the room is used that is the directory's.
    let reserve: DiskReserve.Use
    /// Whether the disk is as full as notes may make it.
    var isFull: Bool { reserve > .none }

    init(
        _ database: SQLTransaction, at now: UInt64, reserve: DiskReserve.Use, isClosed: @escaping (Handle) -> Bool,
        beforeStatement: @escaping () throws -> Void
    ) {
        self.reserve = reserve
        self.isClosed = isClosed
        self.database = database
        self.now = now
        self.beforeStatement = beforeStatement
    }

    /// Runs a statement that is prepared once.
    ///
    /// - Returns: how many rows it has changed.
    @discardableResult
    func run(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try beforeStatement()
        return try database.run(sql, arguments)
    }

    /// Runs a statement that makes a row and returns its number.
    ///
    /// It is run to its end: SQLite looks for broken references after the last row.
    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        try beforeStatement()
        guard let row = try database.rows(sql, arguments).first else { throw DamagedRow() }
        return try row.integer(0)
    }

    /// Makes rows of the same columns.
    func insert(into target: String, _ rows: [SQLArguments]) throws {
        try beforeStatement()
        try database.insert(into: target, rows)
    }

    var time: Int64 { Int64(clamping: now) }

    /// The account's number, given on first use, but not to an account that was erased while the request was on its way.
    func account(_ handle: Handle) throws -> Int64 {
        if let id = try database.account(handle) { return id }
        guard !isClosed(handle) else { throw NoteStoreError.unavailable }
        return try insert("INSERT INTO accounts (handle, since) VALUES (?, ?) RETURNING id", [handle.bytes, time])
    }

    // Positions of a feed are given by an update of the account's row, before anything is put there. Whoever changes the row waits for who
    // changed it before, or begins anew, so changes of one feed are committed in the order of their positions: a device that has read up to
    // one will never find a new entry below it.

    /// Adds a record to a feed, at the expense of `payer`.
    func append(record: Int64, to account: Int64, payer: Int64) throws {
        try advance(account)
        try run(
            """
            INSERT INTO feed (account, position, record, time, payer)
            SELECT id, newest, ?, ?, ? FROM accounts WHERE id = ?
            """, [record, time, payer, account])
    }

    /// Adds a record to the feed of every member who may read its note, at the expense of `payer`.
    func append(record: Int64, toMembersOf note: Int64, payer: Int64) throws {
        let members = "SELECT account FROM members WHERE note = ?"
        try run("UPDATE accounts SET newest = newest + 1 WHERE id IN (\(members))", [note])
        try run(
            """
            INSERT INTO feed (account, position, record, time, payer)
            SELECT id, newest, ?, ?, ? FROM accounts WHERE id IN (\(members))
            """, [record, time, payer, note])
        for row in try database.rows(members, [note]) { changed.insert(try row.integer(0)) }
    }

    /// Adds all that every member of a note has learned to a feed: the log, the revisions, the children.
    func appendHistory(of note: Int64, to account: Int64, payer: Int64) throws {
        try run(
            """
            UPDATE accounts SET newest = newest + (SELECT COUNT(*) FROM records WHERE note = ? AND kind <= 3)
            WHERE id = ?
            """, [note, account])
        try run(
            """
            INSERT INTO feed (account, position, record, time, payer)
            SELECT accounts.id, accounts.newest + 1
                - ROW_NUMBER() OVER (ORDER BY records.kind DESC, records.number DESC, records.id DESC),
                records.id, ?, ?
            FROM records JOIN accounts ON accounts.id = ? WHERE records.note = ? AND records.kind <= 3
            """, [time, payer, account, note])
        changed.insert(account)
    }

    /// Adds something to a feed that is not a record, at the expense of `payer` if there is one; of what only the last counts, older ones go.
    func append(_ item: FeedNotice, to account: Int64, payer: Int64? = nil) throws {
        if item.onlyLastCounts {
            try run("DELETE FROM feed WHERE account = ? AND kind = ?", [account, item.kind])
        }
        try advance(account)
        try run(
            """
            INSERT INTO feed (account, position, kind, item, time, payer)
            SELECT id, newest, ?, ?, ?, ? FROM accounts WHERE id = ?
            """, [item.kind, item.encoded, time, payer, account])
    }

    private func advance(_ account: Int64) throws {
        try run("UPDATE accounts SET newest = newest + 1 WHERE id = ?", [account])
        changed.insert(account)
    }
}

extension SQLTransaction {
    /// The number of an account that has used the notes, or with which a note was shared.
    func account(_ handle: Handle) throws -> Int64? {
        try row("SELECT id FROM accounts WHERE handle = ?", [handle.bytes])?.integer(0)
    }

    /// The last position of a feed; 0 if there is none.
    func newest(of account: Int64) throws -> UInt64 {
        try row("SELECT newest FROM accounts WHERE id = ?", [account])?.count(0) ?? 0
    }
}

extension SQLRow {
    func recordHash(_ column: Int) throws -> RecordHash {
        guard let hash = RecordHash(try bytes(column)) else { throw DamagedRow() }
        return hash
    }
}
