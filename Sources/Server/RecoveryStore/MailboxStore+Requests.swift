// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
public import KeyTransparency
import SQLStores
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
        let old = Int64(clamping: now) - Int64(Self.requestLifetime)
        do {
            return try await rows.write { database in
                try Self.forget(requests: "time < ?", [old], in: database)
                return try Self.take(asking, from: network, at: now, isInReserve: isInReserve, in: database)
            }
        } catch is NoRoom {
            try await write { try Self.forget(requests: "time < ?", [old], in: $0) }
            return nil
        } catch { throw .unavailable }
    }

    /// Nothing of a request is written, and nothing is dropped for it.
    private struct NoRoom: Error {}

    /// - Throws: `NoRoom`: the request would be the one that is dropped.
    private static func take(
        _ asking: RecoveryAsking, from network: [UInt8], at now: UInt64, isInReserve: Bool, in database: SQLTransaction
    ) throws -> RequestNumber {
        let (owner, hash) = (asking.owner.bytes, asking.requestHash)
        let isNew = try insert(asking, from: network, at: now, in: database)
        if let start = asking.start {
            try database.run("UPDATE requests SET start = NULL WHERE owner = ?", [owner])
            try database.run(
                "UPDATE requests SET start = ? WHERE owner = ? AND hash = ?", [start.encoded, owner, hash])
        }
        try evict(of: owner, at: now, in: database)
        if isNew, isInReserve { try evictOne(ofAll: requestsInReserve, at: now, in: database) }
        guard let number = try number(ofRequest: hash, in: database) else { throw NoRoom() }
        return number
    }

    /// Returns whether it was not there.
    private static func insert(
        _ asking: RecoveryAsking, from network: [UInt8], at now: UInt64, in database: SQLTransaction
    ) throws -> Bool {
        let count = try database.run(
            """
            INSERT INTO requests (owner, hash, number, box, commitment, request, network, time)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                asking.owner.bytes, asking.requestHash, Int64(freeNumber(for: asking, in: database).value),
                asking.box, asking.commitment.encoded, asking.request, network, Int64(clamping: now),
            ])
        return count > 0
    }

    private static func number(ofRequest hash: [UInt8], in database: SQLTransaction) throws -> RequestNumber? {
        try database.row("SELECT number FROM requests WHERE hash = ?", [hash])
            .flatMap { UInt32(exactly: try $0.integer(0)) }.flatMap { RequestNumber($0) }
    }

    /// The number that a request's hash gives, or the next that no other request of the account has: an attacker who
    /// computes a request with another request's number does not take that number away.
    private static func freeNumber(for asking: RecoveryAsking, in database: SQLTransaction) throws -> RequestNumber {
        let numbers = try database.rows("SELECT number FROM requests WHERE owner = ?", [asking.owner.bytes])
        let taken = try Set(numbers.map { try $0.integer(0) })
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
    private static func evict(of owner: [UInt8], at now: UInt64, in database: SQLTransaction) throws {
        let count = try database.count("SELECT COUNT(*) \(waiting("owner = ?"))", [owner])
        for _ in 0..<max(0, count - requestsPerAccount) { try evictOne(of: owner, at: now, in: database) }
    }

    /// Drops one request, chosen in the same way among those of all accounts, when there are more than the limit. It drops no more
    /// than one: requests that were kept before the disk was full stay, except the one that makes room.
    private static func evictOne(ofAll limit: Int, at now: UInt64, in database: SQLTransaction) throws {
        let count = try database.count("SELECT COUNT(*) \(waiting())")
        if count > limit { try evictOne(of: nil, at: now, in: database) }
    }

    /// The requests that no guardian answered, and that the log does not show.
    private static func waiting(_ whose: String? = nil) -> String {
        """
        FROM requests WHERE \(whose.map { "\($0) AND" } ?? "") start IS NULL
        AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.request = requests.hash)
        """
    }

    /// - Parameter owner: nil: among the requests of all accounts.
    private static func evictOne(of owner: [UInt8]?, at now: UInt64, in database: SQLTransaction) throws {
        let old = Int64(clamping: now) - Int64(earlierFirst)
        var greediest = waiting(owner.map { _ in "owner = ?4" })
        var arguments: SQLArguments = [old, NetworkGroups.six, NetworkGroups.nothing]
        if let owner { arguments.append(owner) }
        for network in NetworkGroups.columns(after: 1) {
            let most = """
                SELECT \(network) \(greediest)
                GROUP BY 1 ORDER BY COUNT(*) DESC, MIN(time) < ?1 DESC, MAX(id) DESC LIMIT 1
                """
            guard let found = try database.row(most, arguments) else { return }
            arguments.append(try found.bytes(0))
            greediest += " AND \(network) = ?\(arguments.count)"
        }
        let one = """
            hash = (SELECT hash \(greediest)
            ORDER BY time < ?1 DESC, CASE WHEN time < ?1 THEN id ELSE -id END LIMIT 1)
            """
        try forget(requests: one, arguments, in: database)
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
            let row = try database.row(
                "SELECT commitment, start, reveal, request FROM requests WHERE owner = ? AND \(condition)",
                [query.owner.bytes] + value)
            guard let row else { return nil }
            let commitment = try RecoveryCommitment(decoding: row.bytes(0))
            guard query.isTagged(by: commitment, from: sender) else { return nil }
            let reveals = try RecoveryReveal.list(decoding: row.optionalBytes(2) ?? [])
            return RecoveryAsked(
                commitment: commitment, start: try row.optionalBytes(1).map { try RecoveryStart(decoding: $0) },
                reveal: reveals.first { $0.guardian == sender }?.number,
                request: try row.bytes(3))
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
            let row = try database.row(
                "SELECT owner, start FROM requests WHERE hash = ? AND box = ? AND start IS NOT NULL",
                [fetch.request, Array(SHA256.hash(data: fetch.secret))])
            return try row.map { (try Handle(canonical: $0.bytes(0)), try RecoveryStart(decoding: $0.bytes(1))) }
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
        let (hash, name) = (answer.request, sender.bytes)
        return try await write { database in
            guard let row = try database.row("SELECT commitment FROM requests WHERE hash = ?", [hash]) else {
                return .nobody
            }
            let commitment = try RecoveryCommitment(decoding: row.bytes(0))
            guard answer.isTagged(by: commitment, from: sender) else { return .notGuardian }
            let same = try database.row(
                "SELECT 1 FROM answers WHERE request = ? AND sender = ? AND body = ?", [hash, name, answer.body])
            guard same == nil else { return .taken }
            let own = try database.count("SELECT COUNT(*) FROM answers WHERE request = ? AND sender = ?", [hash, name])
            guard own < Self.answersPerSender else { return .full }
            try Self.insert(answer, from: name, at: now, in: database)
            try Self.evict(answersTo: hash, in: database)
            return .taken
        }
    }

    /// Writes an answer under its request's next number, as letters have one: by the row of the request.
    static func insert(
        _ answer: RecoveryAnswer, from sender: [UInt8], at now: UInt64, in database: SQLTransaction
    ) throws {
        let row = try database.row(
            "UPDATE requests SET last_answer = last_answer + 1 WHERE hash = ? RETURNING last_answer", [answer.request])
        guard let number = try row?.integer(0) else { throw DamagedRow() }
        try database.run(
            "INSERT INTO answers (request, number, sender, time, body) VALUES (?, ?, ?, ?, ?)",
            [answer.request, number, sender, Int64(clamping: now), answer.body])
    }

    /// The greediest sender loses the oldest answer, but none whom the device has shown a number: it knows them for guardians.
    private static func evict(answersTo request: [UInt8], in database: SQLTransaction) throws {
        let count = try database.count("SELECT COUNT(*) FROM answers WHERE request = ?", [request])
        guard count > answersPerRequest else { return }
        let shown = try database.row("SELECT reveal FROM requests WHERE hash = ?", [request])?.optionalBytes(0)
        let known = try Set(RecoveryReveal.list(decoding: shown ?? []).map(\.guardian.bytes))
        let senders = try database.rows(
            "SELECT sender FROM answers WHERE request = ? GROUP BY sender ORDER BY COUNT(*) DESC, MIN(number)",
            [request]
        ).map { try $0.bytes(0) }
        try database.run(
            """
            DELETE FROM answers WHERE request = ?1
            AND number = (SELECT MIN(number) FROM answers WHERE request = ?1 AND sender = ?2)
            """, [request, senders.first { !known.contains($0) } ?? senders.first])
    }

    /// Gives the answers to a holder of the secret, and keeps the numbers that they reveal: earlier ones stay. In the
    /// directory's share of the disk only those of whom a guardian answered: a stranger's would fill it.
    ///
    /// - Returns: nil when there is no such request, or the secret is not its.
    /// - Throws: ``MailboxStoreError``.
    public func answers(_ collection: RecoveryCollection) async throws(MailboxStoreError) -> RecoveryLetterList? {
        let hash = collection.request
        let (box, isFull) = (Array(SHA256.hash(data: collection.secret)), isFull)
        return try await write { database in
            guard try database.row("SELECT 1 FROM requests WHERE hash = ? AND box = ?", [hash, box]) != nil else {
                return nil
            }
            let reveal = RecoveryReveal.encoded(collection.reveals)
            try database.run(
                """
                UPDATE requests SET reveal = ?1 WHERE hash = ?2 AND COALESCE(length(reveal), 0) < ?3
                AND (?4 = 0 OR EXISTS (SELECT 1 FROM answers WHERE answers.request = ?2))
                """, [reveal, hash, reveal.count, isFull ? 1 : 0])
            return try Self.list(
                database, "SELECT number, sender, time, body FROM answers WHERE request = ? AND number > ?",
                [hash, Int64(clamping: collection.after)])
        }
    }

    /// Forgets everything about an account, and leaves no copy beside an SQLite file.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func erase(_ handle: Handle) async throws(MailboxStoreError) {
        let name = handle.bytes
        try await write { database in
            try Self.forget(requests: "owner = ?", [name], in: database)
            try database.run("DELETE FROM files WHERE owner = ?", [name])
            try database.run("DELETE FROM letters WHERE recipient = ?1 OR sender = ?1", [name])
            try database.run("DELETE FROM mailboxes WHERE recipient = ?", [name])
            try database.run("DELETE FROM answers WHERE sender = ?", [name])
        }
        try await expunge()
    }

    private static func forget(
        requests condition: String, _ arguments: SQLArguments, in database: SQLTransaction
    ) throws {
        try database.run(
            "DELETE FROM answers WHERE request IN (SELECT hash FROM requests WHERE \(condition))", arguments)
        try database.run("DELETE FROM requests WHERE \(condition)", arguments)
    }
}

extension RecoveryQuery.Wanted {
    /// Which rows, and with which value.
    fileprivate var condition: (sql: String, value: SQLArguments) {
        switch self {
        case .logged: ("start IS NOT NULL", [])
        case .number(let number): ("number = ?", [Int64(number.value)])
        case .request(let hash): ("hash = ?", [hash])
        }
    }
}
