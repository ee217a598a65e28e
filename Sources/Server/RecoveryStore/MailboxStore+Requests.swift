// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import Foundation
import GRDB
public import KeyTransparency
public import SignetAPI

// Requests of new devices. Several can wait for one account side by side, so that no request blocks another. The log
// holds one of them at a time, and that one stays.
extension MailboxStore {
    /// At most this many requests wait for one account, besides the one that its log shows and those that a guardian
    /// answered.
    public static let requestsPerAccount = 64
    /// At most this many of all accounts together, besides the same, are kept in the directory's share of the disk, of
    /// at most 3 KiB each.
    public static let requestsInReserve = 1024
    /// After this a request that no log shows is gone, in seconds: forty days.
    public static let requestLifetime: UInt64 = 40 * 86_400
    /// At most this many answers to one request are kept.
    public static let answersPerRequest = 128
    /// At most this many from one sender.
    public static let answersPerSender = 8

    /// Keeps a request beside those that an account has. When there are too many that no guardian answered, one from
    /// the network that sent the most is dropped. The same request again changes only its start.
    ///
    /// It is stored in the directory's share of the disk as well, because a person who lost everything has to be able
    /// to ask. But there a new request for any account takes the place of another when all accounts together have
    /// ``requestsInReserve``.
    ///
    /// If there is no room for a request, it is not stored, and displaces no other.
    ///
    /// - Parameter network: whence it came.
    /// - Returns: its number; nil when there is no room for it.
    /// - Throws: ``MailboxStoreError``.
    @discardableResult public func keep(
        _ asking: RecoveryAsking, from network: [UInt8], at now: UInt64
    ) async throws(MailboxStoreError) -> RequestNumber? {
        let isInReserve = isFull && asking.start == nil
        let (owner, hash) = (Data(asking.owner.bytes), Data(asking.requestHash))
        return try await write { database in
            let old = Int64(clamping: now) - Int64(Self.requestLifetime)
            try Self.forget(requests: "time < ?", [old], in: database)
            var number: RequestNumber?
            try database.inSavepoint {
                try Self.insert(asking, from: network, at: now, in: database)
                let isNew = database.changesCount > 0
                if let start = asking.start {
                    try database.execute(sql: "UPDATE requests SET start = NULL WHERE owner = ?", arguments: [owner])
                    try database.execute(
                        sql: "UPDATE requests SET start = ? WHERE owner = ? AND hash = ?",
                        arguments: [Data(start.encoded), owner, hash])
                }
                try Self.evict(of: owner, at: now, in: database)
                if isNew, isInReserve { try Self.evictOne(ofAll: Self.requestsInReserve, at: now, in: database) }
                number = try Self.number(ofRequest: hash, in: database)
                return number == nil ? .rollback : .commit
            }
            return number
        }
    }

    private static func insert(
        _ asking: RecoveryAsking, from network: [UInt8], at now: UInt64, in database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO requests (owner, hash, number, box, commitment, request, network, time)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                Data(asking.owner.bytes), Data(asking.requestHash),
                Int64(try freeNumber(for: asking, in: database).value),
                Data(asking.box), Data(asking.commitment.encoded), Data(asking.request), Data(network),
                Int64(clamping: now),
            ])
    }

    private static func number(ofRequest hash: Data, in database: Database) throws -> RequestNumber? {
        try Int64.fetchOne(database, sql: "SELECT number FROM requests WHERE hash = ?", arguments: [hash])
            .flatMap { UInt32(exactly: $0) }.flatMap { RequestNumber($0) }
    }

    /// The number that a request's hash gives, or the next that no other request of the account has: an attacker who
    /// computes a request with another request's number does not take that number away.
    private static func freeNumber(for asking: RecoveryAsking, in database: Database) throws -> RequestNumber {
        let taken = try Set(
            Int64.fetchAll(
                database, sql: "SELECT number FROM requests WHERE owner = ?", arguments: [Data(asking.owner.bytes)]))
        var number = RequestNumber(ofRequest: asking.requestHash)
        while taken.contains(Int64(number.value)) { number = number.next }
        return number
    }

    /// For so long an earlier request comes before later ones of its network, in seconds: an hour, in which the person calls a
    /// guardian.
    public static let earlierFirst: UInt64 = 3600

    /// The network with the most requests loses one, never a bystander: one that has waited for more than an hour, or
    /// else the newest, so that a person cannot push out an earlier request from a shared address. The networks of one
    /// provider count together. A request that a guardian answered stays: only a holder of a part can answer.
    private static func evict(of owner: Data, at now: UInt64, in database: Database) throws {
        let waiting = waiting("owner = ?1")
        let count = try Int.fetchOne(database, sql: "SELECT count(*) \(waiting)", arguments: [owner])
        for _ in 0..<max(0, (count ?? 0) - requestsPerAccount) {
            try evictOne(waiting, owner, at: now, in: database)
        }
    }

    /// Drops one request, chosen in the same way among those of all accounts, when there are more than the limit. It drops no more
    /// than one: requests that were kept before the disk was full stay, except the one that makes room.
    private static func evictOne(ofAll limit: Int, at now: UInt64, in database: Database) throws {
        let waiting = waiting("?1 IS NULL")
        let count = try Int.fetchOne(database, sql: "SELECT count(*) \(waiting)", arguments: [nil])
        if count ?? 0 > limit { try evictOne(waiting, nil, at: now, in: database) }
    }

    private static func waiting(_ whose: String) -> String {
        """
        FROM requests WHERE \(whose) AND start IS NULL
        AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.request = requests.hash)
        """
    }

    private static func evictOne(_ waiting: String, _ owner: Data?, at now: UInt64, in database: Database) throws {
        let old = Int64(clamping: now) - Int64(earlierFirst)
        var (greediest, arguments) = (waiting, [owner, old] as [(any DatabaseValueConvertible)?])
        arguments += [Data(NetworkGroups.six), Data(NetworkGroups.nothing)]
        for network in NetworkGroups.columns(after: 2) {
            let most = """
                SELECT \(network) \(greediest)
                GROUP BY 1 ORDER BY count(*) DESC, min(time) < ?2 DESC, max(id) DESC LIMIT 1
                """
            guard let found = try Data.fetchOne(database, sql: most, arguments: StatementArguments(arguments))
            else {
                return
            }
            arguments.append(found)
            greediest += " AND \(network) = ?\(arguments.count)"
        }
        let one = "hash = (SELECT hash \(greediest) ORDER BY time < ?2 DESC, iif(time < ?2, id, -id) LIMIT 1)"
        try forget(requests: one, StatementArguments(arguments), in: database)
    }

    /// A request for an account as it was received, for a holder of a part of the account: with what it revealed to
    /// them.
    ///
    /// - Returns: nil if there is none, or if the caller holds no part.
    /// - Throws: ``MailboxStoreError``.
    public func request(
        _ query: RecoveryQuery, from sender: Handle
    ) async throws(MailboxStoreError) -> RecoveryAsked? {
        let (condition, value) = query.wanted.condition
        return try await read { database in
            guard
                let row = try Row.fetchOne(
                    database,
                    sql: "SELECT commitment, start, reveal, request FROM requests WHERE owner = ? AND \(condition)",
                    arguments: [Data(query.owner.bytes)] + value)
            else { return nil }
            let commitment = try RecoveryCommitment(decoding: Array(row.decode(Data.self, atIndex: 0)))
            guard query.isTagged(by: commitment, from: sender) else { return nil }
            let reveals = try RecoveryReveal.list(decoding: Array(row.decode(Data?.self, atIndex: 2) ?? Data()))
            return RecoveryAsked(
                commitment: commitment,
                start: try row.decode(Data?.self, atIndex: 1).map { try RecoveryStart(decoding: Array($0)) },
                reveal: reveals.first { $0.guardian == sender }?.number,
                request: Array(try row.decode(Data.self, atIndex: 3)))
        }
    }

    /// The account and commitment of a request that the log shows, for a holder of its secret.
    ///
    /// - Returns: nil when there is no such request, it did not begin, or the secret is not its.
    /// - Throws: ``MailboxStoreError``.
    public func begun(
        _ fetch: RecoveryFetch
    ) async throws(MailboxStoreError) -> (owner: Handle, start: RecoveryStart)? {
        try await read { database in
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT owner, start FROM requests WHERE hash = ? AND box = ? AND start IS NOT NULL",
                    arguments: [Data(fetch.request), Data(SHA256.hash(data: fetch.secret))])
            else { return nil }
            return (
                try Handle(canonical: Array(row.decode(Data.self, atIndex: 0))),
                try RecoveryStart(decoding: Array(row.decode(Data.self, atIndex: 1)))
            )
        }
    }

    /// Keeps an answer from a holder of a part. When there are too many, the oldest one from the sender with the most
    /// is dropped. The same again changes nothing. In the directory's share of the disk as well: no stranger makes an
    /// answer, and a recovery under way must end.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func keep(
        _ answer: RecoveryAnswer, from sender: Handle, at now: UInt64
    ) async throws(MailboxStoreError) -> RecoveryVerdict {
        let (hash, name) = (Data(answer.request), Data(sender.bytes))
        return try await write { database in
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT commitment FROM requests WHERE hash = ?", arguments: [hash])
            else { return .nobody }
            let commitment = try RecoveryCommitment(decoding: Array(row.decode(Data.self, atIndex: 0)))
            guard answer.isTagged(by: commitment, from: sender) else { return .notGuardian }
            let same = try Row.fetchOne(
                database, sql: "SELECT 1 FROM answers WHERE request = ? AND sender = ? AND body = ?",
                arguments: [hash, name, Data(answer.body)])
            guard same == nil else { return .taken }
            let own = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM answers WHERE request = ? AND sender = ?",
                arguments: [hash, name])
            guard (own ?? 0) < Self.answersPerSender else { return .full }
            try database.execute(
                sql: "INSERT INTO answers (request, sender, time, body) VALUES (?, ?, ?, ?)",
                arguments: [hash, name, Int64(clamping: now), Data(answer.body)])
            try Self.evict(answersTo: hash, in: database)
            return .taken
        }
    }

    /// The greediest sender loses the oldest answer, but none whom the device has shown a number: it knows them for guardians.
    private static func evict(answersTo request: Data, in database: Database) throws {
        let count = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM answers WHERE request = ?", arguments: [request])
        guard (count ?? 0) > answersPerRequest else { return }
        let shown = try Data.fetchOne(
            database, sql: "SELECT coalesce(reveal, x'') FROM requests WHERE hash = ?", arguments: [request])
        let known = try Set(RecoveryReveal.list(decoding: Array(shown ?? Data())).map { Data($0.guardian.bytes) })
        let senders = try Data.fetchAll(
            database,
            sql: "SELECT sender FROM answers WHERE request = ? GROUP BY sender ORDER BY count(*) DESC, min(id)",
            arguments: [request])
        try database.execute(
            sql: "DELETE FROM answers WHERE id = (SELECT min(id) FROM answers WHERE request = ? AND sender = ?)",
            arguments: [request, senders.first { !known.contains($0) } ?? senders.first])
    }

    /// Gives the answers to a holder of the secret, and keeps the numbers that they reveal: earlier ones stay. In the
    /// directory's share of the disk only those of whom a guardian answered: a stranger's would fill it.
    ///
    /// - Returns: nil when there is no such request, or the secret is not its.
    /// - Throws: ``MailboxStoreError``.
    public func answers(_ collection: RecoveryCollection) async throws(MailboxStoreError) -> RecoveryLetterList? {
        let hash = Data(collection.request)
        let (box, isFull) = (Data(SHA256.hash(data: collection.secret)), isFull)
        return try await write { database in
            guard
                try Row.fetchOne(
                    database, sql: "SELECT 1 FROM requests WHERE hash = ? AND box = ?", arguments: [hash, box]) != nil
            else { return nil }
            let reveal = RecoveryReveal.encoded(collection.reveals)
            try database.execute(
                sql: """
                    UPDATE requests SET reveal = ?1 WHERE hash = ?2 AND coalesce(length(reveal), 0) < ?3
                    AND (NOT ?4 OR EXISTS (SELECT 1 FROM answers WHERE request = ?2))
                    """,
                arguments: [Data(reveal), hash, reveal.count, isFull])
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
            try Self.forget(requests: "owner = ?", [name], in: database)
            try database.execute(sql: "DELETE FROM files WHERE owner = ?", arguments: [name])
            try database.execute(sql: "DELETE FROM letters WHERE recipient = ? OR sender = ?", arguments: [name, name])
            try database.execute(sql: "DELETE FROM answers WHERE sender = ?", arguments: [name])
        }
    }

    private static func forget(
        requests condition: String, _ arguments: StatementArguments, in database: Database
    ) throws {
        try database.execute(
            sql: "DELETE FROM answers WHERE request IN (SELECT hash FROM requests WHERE \(condition))",
            arguments: arguments)
        try database.execute(sql: "DELETE FROM requests WHERE \(condition)", arguments: arguments)
    }
}

extension RecoveryQuery.Wanted {
    /// Which rows, and with which value.
    fileprivate var condition: (sql: String, value: StatementArguments) {
        switch self {
        case .logged: ("start IS NOT NULL", [])
        case .number(let number): ("number = ?", [Int64(number.value)])
        case .request(let hash): ("hash = ?", [Data(hash)])
        }
    }
}
