// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import LogEngine
import LogFencing
package import SQLStores
import TransparencyLog

/// The tables of a log in a database that several machines share.
package enum SharedLogTables {
    /// The schema.
    package static let schema = SQLSchema(
        "log",
        [
            SQLSchema.Step(
                "1: the log's row, its lease and its frames",
                """
                CREATE TABLE log (                -- one row: how far the log is, and who may write it
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    origin BLOB NOT NULL,
                    generation INTEGER NOT NULL,  -- how often the leadership was claimed
                    size INTEGER NOT NULL,        -- of what is in frames
                    root BLOB NOT NULL,           -- 32 bytes
                    published_size INTEGER NOT NULL,
                    published_root BLOB NOT NULL, -- 32 bytes
                    note BLOB NOT NULL            -- the published checkpoint with its cosignatures
                ) STRICT;
                CREATE TABLE lease (              -- who should try to lead; nothing but courtesy rests on it
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    holder TEXT NOT NULL,
                    expires INTEGER NOT NULL      -- milliseconds since 1970, by the database's clock
                ) STRICT;
                CREATE TABLE frames (
                    first INTEGER PRIMARY KEY,    -- log index of the first entry
                    count INTEGER NOT NULL,
                    generation INTEGER NOT NULL,  -- of its writer
                    payload BLOB NOT NULL,        -- per entry its length in two bytes, and its bytes
                    digest BLOB NOT NULL          -- 32 bytes: SHA-256 of first, count and payload
                ) STRICT;
                """),
            SQLSchema.Step(
                "2: a log that went back to the files of one machine",
                """
                CREATE TABLE moved (              -- one row at most: while there is none in log, nobody leads here
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    origin BLOB NOT NULL,
                    generation INTEGER NOT NULL,  -- of whoever took it away; a log that comes back goes on from it
                    size INTEGER NOT NULL,
                    root BLOB NOT NULL,           -- 32 bytes
                    copy BLOB NOT NULL            -- 32 bytes: which copy goes on
                ) STRICT;
                """, minimumReader: 1),
        ])

    /// SHA-256 over the index of the first entry and the number of entries, 8 bytes each, big-endian, and the payload.
    package static func digest(first: UInt64, count: UInt64, payload: some Collection<UInt8>) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(first)
        writer.write(count)
        var hash = SHA256()
        hash.update(data: writer.bytes)
        hash.update(data: Array(payload))
        return Array(hash.finalize())
    }
}

/// The log's row, with what it says beside ``LogRow``.
struct SharedLogRow: Sendable {
    let row: LogRow
    let origin: [UInt8]
    /// The published checkpoint.
    let note: [UInt8]

    static let columns = "origin, generation, size, root, published_size, published_root, note"

    /// - Throws: `DamagedRow`.
    init(_ columns: SQLRow) throws {
        origin = try columns.bytes(0)
        row = LogRow(
            generation: try columns.count(1), head: try columns.treeHead(2), published: try columns.treeHead(4))
        note = try columns.bytes(6)
    }

    /// - Throws: ``SharedLogFault/noLog``, ``SharedLogFault/movedAway``.
    static func read(_ transaction: SQLTransaction) throws -> SharedLogRow {
        guard let row = try transaction.row("SELECT \(columns) FROM log WHERE id = 1") else {
            throw try transaction.missingLog()
        }
        return try SharedLogRow(row)
    }
}

extension SQLRow {
    /// The size in a column and the root in the next.
    fileprivate func treeHead(_ column: Int) throws -> TreeHead {
        guard let root = TreeHash(try bytes(column + 1)) else { throw SharedLogFault.rowDamaged }
        return TreeHead(size: try count(column), root: root)
    }
}

extension SQLTransaction {
    /// Takes the lease, if nobody else has it.
    ///
    /// One that ends later than `LeaseWatch.longest` from now counts as free.
    ///
    /// - Parameter now: the engine's own expression for its time.
    /// - Returns: the engine's time, in milliseconds since 1970; nil if another one has it.
    func takeLease(_ holder: String, now: String) throws -> Int64? {
        let (term, longest) = (LeaseWatch.term.milliseconds, LeaseWatch.longest.milliseconds)
        if let row = try row(
            """
            UPDATE lease SET holder = ?1, expires = \(now) + \(term)
            WHERE id = 1 AND (holder = ?1 OR expires < \(now) OR expires > \(now) + \(longest))
            RETURNING expires
            """, [holder])
        {
            return try row.integer(0) - term
        }
        guard try row("SELECT 1 FROM lease WHERE id = 1") == nil else { return nil }
        let new = try row(
            "INSERT INTO lease (id, holder, expires) VALUES (1, ?, \(now) + \(term)) RETURNING expires", [holder])
        return try new.map { try $0.integer(0) - term }
    }

    /// Whether somebody else has a lease that runs, and the engine's time, in milliseconds since 1970.
    func lease(but holder: String, now: String) throws -> (isTaken: Bool, time: Int64) {
        let longest = LeaseWatch.longest.milliseconds
        guard
            let row = try row(
                """
                SELECT (SELECT COUNT(*) FROM lease
                WHERE id = 1 AND holder <> ? AND expires BETWEEN \(now) AND \(now) + \(longest)), \(now)
                """, [holder])
        else { throw SharedLogFault.rowDamaged }
        return (try row.integer(0) > 0, try row.integer(1))
    }

    /// Makes the lease longer, if it is still this holder's.
    ///
    /// - Returns: the engine's time, in milliseconds since 1970; nil if it is another one's.
    func renewLease(_ holder: String, now: String) throws -> Int64? {
        let term = LeaseWatch.term.milliseconds
        let renewed = try row(
            "UPDATE lease SET expires = \(now) + \(term) WHERE id = 1 AND holder = ? RETURNING expires", [holder])
        return try renewed.map { try $0.integer(0) - term }
    }

    /// Gives the lease back, so that the next one need not wait.
    func endLease(_ holder: String) throws {
        try run("UPDATE lease SET expires = 0 WHERE id = 1 AND holder = ?", [holder])
    }

    /// ``LogRow/claimed()``.
    ///
    /// - Throws: ``SharedLogFault/noLog``, ``SharedLogFault/movedAway``.
    func claim() throws -> SharedLogRow {
        guard
            let row = try row(
                "UPDATE log SET generation = generation + 1 WHERE id = 1 RETURNING \(SharedLogRow.columns)")
        else { throw try missingLog() }
        return try SharedLogRow(row)
    }

    /// Why there is no row of a log.
    func missingLog() throws -> SharedLogFault {
        try row("SELECT 1 FROM moved WHERE id = 1") == nil ? .noLog : .movedAway
    }

    /// ``LogRow/confirming(_:)``.
    func confirm(_ generation: UInt64) throws -> Bool {
        try run("UPDATE log SET generation = generation WHERE id = 1 AND generation = ?", [Int64(clamping: generation)])
            == 1
    }

    /// ``LogRow/committing(_:)``, with the frame.
    func commit(_ request: CommitRequest, payload: [UInt8]) throws -> Bool {
        let (first, count) = (request.after.size, request.next.size - request.after.size)
        let isOurs = try run(
            "UPDATE log SET size = ?, root = ? WHERE id = 1 AND generation = ? AND size = ?",
            [
                Int64(clamping: request.next.size), request.next.root.bytes, Int64(clamping: request.generation),
                Int64(clamping: first),
            ])
        guard isOurs == 1 else { return false }
        try run(
            "INSERT INTO frames (first, count, generation, payload, digest) VALUES (?, ?, ?, ?, ?)",
            [
                Int64(clamping: first), Int64(clamping: count), Int64(clamping: request.generation), payload,
                SharedLogTables.digest(first: first, count: count, payload: payload),
            ])
        return true
    }

    /// ``LogRow/publishing(_:by:)``, with the checkpoint.
    func publish(_ checkpoint: PublishedCheckpoint, by generation: UInt64) throws -> Bool {
        let size = Int64(clamping: checkpoint.head.size)
        return try run(
            """
            UPDATE log SET published_size = ?, published_root = ?, note = ?
            WHERE id = 1 AND generation = ? AND published_size <= ?
            """, [size, checkpoint.head.root.bytes, checkpoint.bytes, Int64(clamping: generation), size]) == 1
    }

    /// The next frames, at most this many, of which the first begins with an entry.
    ///
    /// - Throws: ``SharedLogFault/frameMissing(firstIndex:)``, ``SharedLogFault/frameDamaged(firstIndex:)``.
    func frames(from start: UInt64, to end: UInt64, limit: Int) throws -> [Frame] {
        let rows = try rows(
            "SELECT first, count, payload, digest FROM frames WHERE first >= ? AND first < ? ORDER BY first LIMIT ?",
            [Int64(clamping: start), Int64(clamping: end), limit])
        var next = start
        return try rows.map { row in
            let (first, count, payload) = (try row.count(0), try row.count(1), try row.bytes(2))
            guard first == next else { throw SharedLogFault.frameMissing(firstIndex: next) }
            guard try row.bytes(3) == SharedLogTables.digest(first: first, count: count, payload: payload),
                let entryCount = Int(exactly: count),
                let frame = Frame(firstIndex: first, entryCount: entryCount, payload: payload)
            else { throw SharedLogFault.frameDamaged(firstIndex: first) }
            next = frame.endIndex
            return frame
        }
    }
}

extension Duration {
    /// In whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
