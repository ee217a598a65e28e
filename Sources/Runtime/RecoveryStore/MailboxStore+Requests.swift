import Crypto
import Foundation
import GRDB
public import KeyTransparency
public import SignetAPI

// Requests of new devices: one for each account, the one that its log shows.
extension MailboxStore {
    /// So many answers to one request are kept.
    public static let answersPerRequest = 128
    /// So many of one sender.
    public static let answersPerSender = 8

    /// Keeps the request that an account has under way, in place of any before. The same again changes nothing.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func keep(_ asking: RecoveryAsking, at now: UInt64) async throws(MailboxStoreError) {
        let owner = Data(asking.owner.bytes)
        try await write { database in
            let before = try Row.fetchOne(
                database, sql: "SELECT start FROM requests WHERE owner = ?", arguments: [owner])
            if let before, try before.decode(Data.self, atIndex: 0) == Data(asking.start.encoded) { return }
            try Self.forget(requestOf: asking.owner, in: database)
            try database.execute(
                sql: "INSERT INTO requests (owner, hash, box, start, request, time) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    owner, Data(asking.start.request), Data(asking.box), Data(asking.start.encoded),
                    Data(asking.request), Int64(clamping: now),
                ])
        }
    }

    /// The request that an account has under way, as it came.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func request(of owner: Handle) async throws(MailboxStoreError) -> RecoveryAsked? {
        try await read { database in
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT start, reveal, request FROM requests WHERE owner = ?",
                    arguments: [Data(owner.bytes)])
            else { return nil }
            return RecoveryAsked(
                start: try RecoveryStart(decoding: Array(row.decode(Data.self, atIndex: 0))),
                reveal: Array(try row.decode(Data?.self, atIndex: 1) ?? Data()),
                request: Array(try row.decode(Data.self, atIndex: 2)))
        }
    }

    /// Keeps a guardian's answer. The same again changes nothing.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func keep(
        _ answer: RecoveryAnswer, from sender: Handle, at now: UInt64
    ) async throws(MailboxStoreError) -> RecoveryVerdict {
        let (hash, sender) = (Data(answer.request), Data(sender.bytes))
        return try await write { database in
            guard try Row.fetchOne(database, sql: "SELECT 1 FROM requests WHERE hash = ?", arguments: [hash]) != nil
            else { return .nobody }
            let same = try Row.fetchOne(
                database, sql: "SELECT 1 FROM answers WHERE request = ? AND sender = ? AND body = ?",
                arguments: [hash, sender, Data(answer.body)])
            guard same == nil else { return .taken }
            let all = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM answers WHERE request = ?", arguments: [hash])
            let own = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM answers WHERE request = ? AND sender = ?",
                arguments: [hash, sender])
            guard (all ?? 0) < Self.answersPerRequest, (own ?? 0) < Self.answersPerSender else { return .full }
            try database.execute(
                sql: "INSERT INTO answers (request, sender, time, body) VALUES (?, ?, ?, ?)",
                arguments: [hash, sender, Int64(clamping: now), Data(answer.body)])
            return .taken
        }
    }

    /// Gives the answers to whoever has the secret, and keeps the numbers that they reveal: those from before stay.
    ///
    /// - Returns: nil when there is no such request, or the secret is not its.
    /// - Throws: ``MailboxStoreError``.
    public func answers(_ collection: RecoveryCollection) async throws(MailboxStoreError) -> RecoveryLetterList? {
        let hash = Data(collection.request)
        let box = Data(SHA256.hash(data: collection.secret))
        return try await write { database in
            guard
                try Row.fetchOne(
                    database, sql: "SELECT 1 FROM requests WHERE hash = ? AND box = ?", arguments: [hash, box]) != nil
            else { return nil }
            if !collection.reveal.isEmpty {
                try database.execute(
                    sql: "UPDATE requests SET reveal = ? WHERE hash = ? AND coalesce(length(reveal), 0) < ?",
                    arguments: [Data(collection.reveal), hash, collection.reveal.count])
            }
            return try Self.list(
                database, "SELECT id, sender, time, body FROM answers WHERE request = ? AND id > ?",
                [hash, Int64(clamping: collection.after)])
        }
    }

    /// Forgets everything about an account.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func erase(_ handle: Handle) async throws(MailboxStoreError) {
        let name = Data(handle.bytes)
        try await write { database in
            try Self.forget(requestOf: handle, in: database)
            try database.execute(sql: "DELETE FROM files WHERE owner = ?", arguments: [name])
            try database.execute(sql: "DELETE FROM letters WHERE recipient = ? OR sender = ?", arguments: [name, name])
            try database.execute(sql: "DELETE FROM answers WHERE sender = ?", arguments: [name])
        }
    }

    private static func forget(requestOf owner: Handle, in database: Database) throws {
        let name = Data(owner.bytes)
        try database.execute(
            sql: "DELETE FROM answers WHERE request IN (SELECT hash FROM requests WHERE owner = ?)",
            arguments: [name])
        try database.execute(sql: "DELETE FROM requests WHERE owner = ?", arguments: [name])
    }
}
