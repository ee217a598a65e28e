// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import GRDB
public import KeyTransparency
public import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The client's store in one SQLite file with mode 0600; every commit is synchronised to the disk.
///
/// Several processes may use the file at once.
public struct SQLiteStore: ClientStore {
    private let queue: DurableQueue

    /// Opens the file, or makes it.
    ///
    /// - Parameter origin: the log that is trusted now. If the store has seen only other logs, the directory has handed over.
    ///   The histories of labels, which belonged to the other log, are put aside in one transaction, until they are compared
    ///   with the end of that log. The keys that the user trusts for each person, and what the owner did, are kept. nil accepts
    ///   any log.
    /// - Throws: ``StoreError``.
    public static func open(at path: String, of origin: KeyName? = nil) throws(StoreError) -> SQLiteStore {
        do { try DurableFile(path: path).makeEmptyUnlessThere() } catch { throw .file(error) }
        return try translating {
            let queue = try StoreSchema.open(path)
            if let origin { try queue.write { try moveToLog(origin.bytes, in: $0) } }
            return SQLiteStore(queue: queue)
        }
    }

    private init(queue: DurableQueue) { self.queue = queue }

    /// Ends all use of the file.
    public func close() throws(StoreError) { try Self.translating { try queue.close() } }

    /// What was pinned for a handle, or nil.
    ///
    /// - Throws: ``StoreError``.
    public func pinnedPeer(_ handle: Handle) async throws(StoreError) -> PinnedPeer? {
        try await read { try Self.pinnedPeer(handle, in: $0) }
    }

    /// Everyone pinned, in order of handle.
    ///
    /// - Throws: ``StoreError``.
    public func pinnedPeers() async throws(StoreError) -> [PinnedPeer] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM pinned_peer ORDER BY handle").map(Self.peer)
        }
    }

    /// Replaces what is pinned for `peer.handle` if it is still `expected`.
    ///
    /// - Throws: ``StoreError``.
    public func pin(_ peer: PinnedPeer, replacing expected: PinnedPeer?) async throws(StoreError) -> Bool {
        try await write { db in
            guard try Self.pinnedPeer(peer.handle, in: db) == expected else { return false }
            try Self.pin(peer, in: db)
            return true
        }
    }

    /// The largest verified checkpoint of a log, or nil before the first.
    ///
    /// - Throws: ``StoreError``.
    public func logView(origin: [UInt8]) async throws(StoreError) -> LogView? {
        try await read { try Self.logView(origin: origin, in: $0) }
    }

    /// When the newest verified epoch of any log ended, in seconds since 1970: the present is later than that. 0 before the
    /// first.
    ///
    /// - Throws: ``StoreError``.
    public func newestTime() throws(StoreError) -> UInt64 {
        try Self.translating {
            try queue.read { db in
                try Row.fetchAll(db, sql: "SELECT view FROM log_view")
                    .compactMap { try StoreRow.view($0.bytes("view")).epoch?.time }.max() ?? 0
            } / 1000
        }
    }

    /// Moves the view of a log if it is still `expected`.
    ///
    /// - Throws: ``StoreError``.
    public func advance(to view: LogView, from expected: LogView?) async throws(StoreError) -> Bool {
        try await write { db in
            guard try Self.logView(origin: view.origin.bytes, in: db) == expected else { return false }
            try db.execute(
                sql: "INSERT OR REPLACE INTO log_view VALUES (?, ?)",
                arguments: [Data(view.origin.bytes), Data(StoreRow.encode(view))])
            return true
        }
    }

    /// Stores evidence permanently; the same evidence is stored once.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ evidence: LogContradiction, at now: UInt64) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO evidence (kept_at, fault, known, received) VALUES (?, ?, ?, ?)",
                arguments: [
                    Int64(bitPattern: now), Data(StoreRow.encode(evidence.fault)),
                    Data(StoreRow.encode(evidence.known)), Data(StoreRow.encode(evidence.received)),
                ])
        }
    }

    /// All stored evidence, oldest first.
    ///
    /// - Throws: ``StoreError``.
    public func evidence() async throws(StoreError) -> [LogContradiction] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM evidence ORDER BY number").map { row in
                LogContradiction(
                    uncheckedFault: try StoreRow.fault(row.bytes("fault")),
                    known: try StoreRow.view(row.bytes("known")),
                    received: try StoreRow.view(row.bytes("received")))
            }
        }
    }

    /// The people the user added or accepted, in order of handle.
    ///
    /// - Throws: ``StoreError``.
    public func people() async throws(StoreError) -> [Person] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM person ORDER BY handle").map { row in
                Person(handle: try Handle(canonical: row.bytes("handle")), since: try row.number("since"))
            }
        }
    }

    /// Adds a person, or changes what is known about them.
    ///
    /// - Throws: ``StoreError``.
    public func remember(_ person: Person) async throws(StoreError) {
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO person VALUES (?, ?)",
                arguments: [Data(person.handle.bytes), Int64(bitPattern: person.since)])
        }
    }

    /// What this device knows of its own account's changes.
    ///
    /// - Throws: ``StoreError``.
    public func ownRecord() async throws(StoreError) -> OwnRecord {
        try await read { try Self.ownRecord(in: $0) }
    }

    /// Replaces that record if it is still `expected`.
    ///
    /// - Throws: ``StoreError``.
    public func setOwnRecord(
        _ record: OwnRecord, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        try await write { db in
            guard try Self.ownRecord(in: db) == expected else { return false }
            try Self.setOwnRecord(record, in: db)
            return true
        }
    }

    /// The value that SQLite reports for a setting, so that a test can compare it with what was requested.
    package func pragma(_ name: String) throws(StoreError) -> Int? {
        try Self.translating { try queue.read { try Int.fetchOne($0, sql: "PRAGMA \(name)") } }
    }
}

extension SQLiteStore {
    static func pin(_ peer: PinnedPeer, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO pinned_peer VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                Data(peer.handle.bytes), Data(peer.identityKey), Int64(bitPattern: peer.version),
                Data(peer.stateHash), Data(StoreRow.encode(peer.devices)), Int64(bitPattern: peer.pinnedAt),
                Data(StoreRow.encode(peer.history)),
            ])
    }

    static func setOwnRecord(_ record: OwnRecord, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO own_record VALUES (1, ?, ?, ?, ?, ?)",
            arguments: [
                record.pending.map { Data($0) }, Int64(record.highestDeviceNumber),
                Data(StoreRow.encode(record.acts)), record.watch.map { Data(StoreRow.encode($0)) },
                record.pendingSignature.map { Data($0) },
            ])
    }

    static func pinnedPeer(_ handle: Handle, in db: Database) throws -> PinnedPeer? {
        try Row.fetchOne(
            db, sql: "SELECT * FROM pinned_peer WHERE handle = ?", arguments: [Data(handle.bytes)]
        ).map(peer)
    }

    private static func peer(_ row: Row) throws -> PinnedPeer {
        PinnedPeer(
            uncheckedHandle: try Handle(canonical: row.bytes("handle")),
            identityKey: try row.bytes("identity_key", count: 33), version: try row.number("version"),
            stateHash: try row.bytes("state_hash", count: 32),
            devices: try StoreRow.devices(row.bytes("devices")),
            history: try StoreRow.history(row.bytes("history")), pinnedAt: try row.number("pinned_at"))
    }

    private static func logView(origin: [UInt8], in db: Database) throws -> LogView? {
        let row = try Row.fetchOne(
            db, sql: "SELECT view FROM log_view WHERE origin = ?", arguments: [Data(origin)])
        guard let row else { return nil }
        let view = try StoreRow.view(row.bytes("view"))
        guard view.origin.bytes == origin else { throw StoreError.damaged }
        return view
    }

    static func ownRecord(in db: Database) throws -> OwnRecord {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM own_record") else { return .initial }
        guard let highest = UInt16(exactly: try row.number("highest_device_number")) else {
            throw StoreError.damaged
        }
        let pending = try row.isNull("pending") ? nil : row.bytes("pending")
        return OwnRecord(
            pending: pending, highestDeviceNumber: highest, acts: try StoreRow.acts(row.bytes("acts")),
            watch: try row.isNull("watch") ? nil : StoreRow.watch(row.bytes("watch")),
            pendingSignature: try row.isNull("signature") ? nil : row.bytes("signature"))
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do { return try await queue.read(body) } catch { throw StoreError(error) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do { return try await queue.write(body) } catch { throw StoreError(error) }
    }

    private static func translating<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
        do { return try body() } catch { throw StoreError(error) }
    }
}

extension Row {
    func bytes(_ column: String, count: Int? = nil) throws(StoreError) -> [UInt8] {
        guard case .blob(let data) = try value(column).storage, count == nil || data.count == count else {
            throw .damaged
        }
        return Array(data)
    }

    func number(_ column: String) throws(StoreError) -> UInt64 {
        guard case .int64(let value) = try value(column).storage else { throw .damaged }
        return UInt64(bitPattern: value)
    }

    func isNull(_ column: String) throws(StoreError) -> Bool { try value(column).isNull }

    private func value(_ column: String) throws(StoreError) -> DatabaseValue {
        guard hasColumn(column) else { throw .damaged }
        return self[column]
    }
}
