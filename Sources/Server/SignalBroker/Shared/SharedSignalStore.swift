// SPDX-License-Identifier: Apache-2.0

package import CallSignalling
package import SQLStores

/// What the front ends of a directory know together of signals, in the database that they share: which of them carries these now, what waits in
/// inboxes, and the calls.
package struct SharedSignalStore: Sendable {
    /// The tables.
    package static let schema = SQLSchema(
        "signals",
        [
            SQLSchema.Step(
                "1: carrier, kept, calls",
                """
                CREATE TABLE carrier (             -- the front end that carries signals, in one row
                    id INTEGER PRIMARY KEY,
                    name BLOB NOT NULL,            -- 16 bytes
                    generation INTEGER NOT NULL,   -- one more for each that took it over
                    ends INTEGER NOT NULL,         -- milliseconds since 1970, by the database's clock
                    writes INTEGER NOT NULL        -- so that a write and a takeover never pass each other
                ) STRICT;
                CREATE TABLE kept (                -- signals that wait in inboxes
                    number INTEGER PRIMARY KEY,
                    recipient BLOB NOT NULL,       -- 32 bytes
                    sender BLOB NOT NULL,          -- 32 bytes
                    account INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,   -- milliseconds since 1970
                    frame BLOB NOT NULL            -- the SEND frame
                ) STRICT;
                CREATE TABLE calls (
                    id BLOB PRIMARY KEY,           -- 16 bytes
                    record BLOB NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
        ])

    /// For how long a front end carries signals without renewing that, in milliseconds.
    static let lease = 3000

    /// When a lease is over: also one that ends later than any that could have begun, by a clock of the database that was ahead.
    private static func isOver(at now: String) -> String {
        "(carrier.ends < \(now) OR carrier.ends > \(now) + \(2 * lease))"
    }

    /// Who carries signals, as the database has it.
    package struct Carrier: Hashable, Sendable {
        /// 16 bytes.
        package let name: [UInt8]
        package let generation: Int64
        /// Whether another one may take it over.
        package let isOver: Bool
    }

    private let database: any SQLDatabase

    /// - Parameter database: opened with ``schema``.
    package init(_ database: any SQLDatabase) { self.database = database }

    /// Who carries signals; nil: nobody ever did.
    func carrier() async throws -> Carrier? {
        let now = database.nowExpression
        return try await database.read { database in
            try database.row(
                "SELECT name, generation, CASE WHEN \(Self.isOver(at: now)) THEN 1 ELSE 0 END FROM carrier WHERE id = 1"
            )
            .map {
                Carrier(name: try $0.bytes(0), generation: try $0.integer(1), isOver: try $0.integer(2) == 1)
            }
        }
    }

    /// Takes it over, if nobody carries signals now.
    ///
    /// - Returns: the generation; nil: another one was faster.
    func take(as name: [UInt8]) async throws -> Int64? {
        let now = database.nowExpression
        return try await database.write { database in
            try database.row(
                """
                INSERT INTO carrier (id, name, generation, ends, writes) VALUES (1, ?, 1, \(now) + \(Self.lease), 0)
                ON CONFLICT (id) DO UPDATE SET name = excluded.name, generation = carrier.generation + 1, ends = excluded.ends
                WHERE \(Self.isOver(at: now)) RETURNING generation
                """, [name])?.integer(0)
        }
    }

    /// Goes on carrying signals.
    ///
    /// - Returns: false: another one does.
    func renew(_ generation: Int64) async throws -> Bool {
        let now = database.nowExpression
        return try await database.write { database in
            try database.run(
                "UPDATE carrier SET ends = \(now) + \(Self.lease) WHERE id = 1 AND generation = ?", [generation]) == 1
        }
    }

    /// Lets another one take it over at once.
    func release(_ generation: Int64) async throws {
        _ = try await database.write { database in
            try database.run("UPDATE carrier SET ends = 0 WHERE id = 1 AND generation = ?", [generation])
        }
    }

    /// Whether a device is in a call, as far as that was written.
    func isMember(_ device: CallDevice, of call: CallID) async throws -> Bool {
        try await database.read { database in
            try database.row("SELECT record FROM calls WHERE id = ?", [call.bytes])
                .flatMap { CallRecord(decoding: try $0.bytes(0)) }?.members.contains(device) ?? false
        }
    }

    /// What there is, for the one who has taken over, and a place where only that one can write.
    func term(_ generation: Int64) async throws -> SignalTerm {
        let (kept, calls) = try await database.read { database in
            (
                try database.rows(
                    "SELECT number, recipient, sender, account, expires_at, frame FROM kept ORDER BY number"
                ).compactMap(Self.kept),
                try database.rows("SELECT record FROM calls").compactMap { CallRecord(decoding: try $0.bytes(0)) }
            )
        }
        return SignalTerm(database: database, generation: generation, kept: kept, calls: calls)
    }

    private static func kept(_ row: SQLRow) throws -> KeptSignal? {
        guard let recipient = CallDevice(try row.bytes(1)), let sender = CallDevice(try row.bytes(2)) else {
            return nil
        }
        return KeptSignal(
            number: UInt64(bitPattern: try row.integer(0)), recipient: recipient, sender: sender,
            of: try row.integer(3), expiresAt: UInt64(bitPattern: try row.integer(4)), frame: try row.bytes(5))
    }

    /// Lets go of the database.
    package func close() { database.close() }
}

/// What one front end writes while it carries the signals of all.
///
/// Security: each transaction changes the row that a takeover changes, if the generation is still this one's. A front end that stood still and
/// wakes up writes nothing.
struct SignalTerm: SignalStoring {
    fileprivate let database: any SQLDatabase
    fileprivate let generation: Int64
    fileprivate let kept: [KeptSignal]
    fileprivate let calls: [CallRecord]

    /// Another front end carries the signals.
    private struct IsOver: Error {}

    func read() throws(SignalStoreError) -> (kept: [KeptSignal], calls: [CallRecord]) { (kept, calls) }

    func write(_ actions: [BrokerAction]) async throws(SignalStoreError) {
        do {
            try await database.write { [generation] database in
                let mine = "UPDATE carrier SET writes = writes + 1 WHERE id = 1 AND generation = ?"
                guard try database.run(mine, [generation]) == 1 else { throw IsOver() }
                for action in actions { try Self.write(action, database) }
            }
        } catch { throw .unavailable }
    }

    /// The database is the store's, which goes on.
    func close() {}

    private static func write(_ action: BrokerAction, _ database: SQLTransaction) throws {
        switch action {
        case .keep(let signal):
            // A number may have been used before: those of an hour ago are forgotten.
            try database.run("DELETE FROM kept WHERE number = ?", [Int64(bitPattern: signal.number)])
            try database.run(
                "INSERT INTO kept (number, recipient, sender, account, expires_at, frame) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    Int64(bitPattern: signal.number), signal.recipient.signingKey, signal.sender.signingKey,
                    signal.account, Int64(bitPattern: signal.expiresAt), signal.frame,
                ])
        case .drop(let number):
            try database.run("DELETE FROM kept WHERE number = ?", [Int64(bitPattern: number)])
        case .record(let call):
            try database.run(
                "INSERT INTO calls (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
                [call.id.bytes, call.encoded])
        case .forget(let call): try database.run("DELETE FROM calls WHERE id = ?", [call.bytes])
        case .send, .confirm, .close, .cut, .departed: return
        }
    }
}
