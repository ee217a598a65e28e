// SPDX-License-Identifier: Apache-2.0

import Crypto
public import DurableStorage
import Foundation
import GRDB
public import KeyTransparency
public import SignetAPI

/// What the server keeps for guardians, owners and new devices, in SQLite; each commit waits for the disk. The server
/// cannot open any of it.
public struct MailboxStore: Sendable {
    private let queue: DurableQueue
    private let reserve: DiskReserve

    /// Opens the file, and makes it when it is not there.
    ///
    /// - Throws: ``MailboxStoreError``.
    public init(at path: String) throws(MailboxStoreError) {
        try self.init(at: path, reserve: DiskReserve(besideFileAt: path))
    }

    /// With a disk of one's own: for tests.
    package init(at path: String, reserve: DiskReserve) throws(MailboxStoreError) {
        self.reserve = reserve
        do { queue = try DurableDatabase.queue(at: path, RecoverySchema.migrator) } catch { throw .opening(error) }
    }

    /// Lets go of the file.
    public func close() { try? queue.close() }

    func read<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(MailboxStoreError) -> Value {
        do { return try await queue.read(body) } catch { throw .unavailable }
    }

    /// Whether the rest of the disk is the directory's: what people leave here is refused then.
    var isFull: Bool { reserve.isReached }

    func write<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(MailboxStoreError) -> Value {
        do { return try await queue.write(body) } catch { throw .unavailable }
    }
}

/// Why the store did not do it: the environment's fault, worth a retry.
public enum MailboxStoreError: Error, Hashable, Sendable {
    /// The rest of the disk is the directory's. Nothing was changed; a retry helps when the operator has made room.
    case full
    /// It was not opened.
    case opening(DurableOpenError)
    /// SQLite could not read, write or wait for the disk.
    case unavailable
}

// MARK: Recovery files

extension MailboxStore {
    /// At most this many files of one account that its log does not name are kept, the newest ones: a file of the next
    /// set may be among them.
    public static let filesPerAccount = 2

    /// Keeps an owner's file.
    ///
    /// - Parameter named: the commitments that the account's log names, 32 bytes each. Their files are never evicted: a
    ///   holder of one of the owner's devices cannot remove what guardians open.
    /// - Throws: ``MailboxStoreError``.
    public func keep(
        _ file: RecoveryFile, of owner: Handle, sparing named: [[UInt8]], at now: UInt64
    ) async throws(MailboxStoreError) {
        guard !isFull else { throw .full }
        let spared = named.map { Data($0) }
        try await write { database in
            try database.execute(
                sql: "DELETE FROM files WHERE owner = ? AND commitment = ?",
                arguments: [Data(owner.bytes), Data(file.commitment)])
            try database.execute(
                sql: "INSERT INTO files (owner, commitment, bytes, time) VALUES (?, ?, ?, ?)",
                arguments: [Data(owner.bytes), Data(file.commitment), Data(file.bytes), Int64(clamping: now)])
            let rows = try Row.fetchAll(
                database, sql: "SELECT id, commitment FROM files WHERE owner = ? ORDER BY id DESC",
                arguments: [Data(owner.bytes)])
            var others: [Int64] = []
            for row in rows where !spared.contains(try row.decode(Data.self, atIndex: 1)) {
                others.append(try row.decode(Int64.self, atIndex: 0))
            }
            for id in others.dropFirst(Self.filesPerAccount) {
                try database.execute(sql: "DELETE FROM files WHERE id = ?", arguments: [id])
            }
        }
    }

    /// The files under a commitment's hash: one, unless the hash was copied.
    ///
    /// - Parameter owner: the owner of the file; another person's file under the same hash does not count.
    /// - Throws: ``MailboxStoreError``.
    public func file(
        under commitment: [UInt8], of owner: Handle
    ) async throws(MailboxStoreError) -> [UInt8]? {
        try await read { database in
            try Data.fetchOne(
                database, sql: "SELECT bytes FROM files WHERE owner = ? AND commitment = ?",
                arguments: [Data(owner.bytes), Data(commitment)]
            ).map(Array.init)
        }
    }
}

// MARK: Letters between accounts

extension MailboxStore {
    /// At most this many letters from people whom the recipient accepted wait for one account.
    public static let lettersPerRecipient = 512
    /// At most this many from strangers, all together.
    public static let lettersOfStrangers = 128
    /// At most this many from one sender.
    public static let lettersPerSender = 32
    /// At most this many from one sender to all people together who have not accepted them, so that writing to all
    /// people does not fill the disk.
    public static let lettersToStrangers = 128
    /// After this a letter is gone, in seconds: thirty days.
    public static let letterLifetime: UInt64 = 30 * 86_400

    /// Keeps a letter; the same one twice is kept once. When there are too many, the oldest one from the sender with
    /// the most is dropped, and strangers never take the room of people whom the recipient accepted. None is kept in
    /// the directory's share of the disk.
    ///
    /// - Parameter isFriend: whether sender and recipient accepted each other.
    /// - Throws: ``MailboxStoreError``.
    public func keep(
        _ letter: RecoveryLetter.Draft, from sender: Handle, isFriend: Bool, at now: UInt64
    ) async throws(MailboxStoreError) -> RecoveryVerdict {
        guard !isFull else { return .full }
        let (recipient, sender) = (Data(letter.recipient.bytes), Data(sender.bytes))
        return try await write { database in
            try database.execute(
                sql: "DELETE FROM letters WHERE time < ?",
                arguments: [Int64(clamping: now) - Int64(Self.letterLifetime)])
            let same = try Row.fetchOne(
                database, sql: "SELECT 1 FROM letters WHERE recipient = ? AND sender = ? AND body = ?",
                arguments: [recipient, sender, Data(letter.body)])
            guard same == nil else { return .taken }
            let own = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM letters WHERE recipient = ? AND sender = ?",
                arguments: [recipient, sender])
            guard (own ?? 0) < Self.lettersPerSender else { return .full }
            let toStrangers = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM letters WHERE sender = ? AND friend = 0", arguments: [sender])
            guard isFriend || (toStrangers ?? 0) < Self.lettersToStrangers else { return .full }
            try database.execute(
                sql: "INSERT INTO letters (recipient, sender, friend, time, body) VALUES (?, ?, ?, ?, ?)",
                arguments: [recipient, sender, isFriend ? 1 : 0, Int64(clamping: now), Data(letter.body)])
            try Self.evict(lettersTo: recipient, ofFriends: isFriend, in: database)
            return .taken
        }
    }

    private static func evict(lettersTo recipient: Data, ofFriends: Bool, in database: Database) throws {
        let arguments: StatementArguments = [recipient, ofFriends ? 1 : 0]
        let count = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM letters WHERE recipient = ? AND friend = ?", arguments: arguments)
        guard (count ?? 0) > (ofFriends ? lettersPerRecipient : lettersOfStrangers) else { return }
        try database.execute(
            sql: """
                DELETE FROM letters WHERE id = (SELECT id FROM letters WHERE recipient = ?1 AND friend = ?2 AND sender = (
                    SELECT sender FROM letters WHERE recipient = ?1 AND friend = ?2
                    GROUP BY sender ORDER BY count(*) DESC, min(id) LIMIT 1
                ) ORDER BY id LIMIT 1)
                """, arguments: arguments)
    }

    /// An account's letters after a number.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func letters(
        to recipient: Handle, after number: UInt64
    ) async throws(MailboxStoreError) -> RecoveryLetterList {
        try await read { database in
            try Self.list(
                database, "SELECT id, sender, time, body FROM letters WHERE recipient = ? AND id > ?",
                [Data(recipient.bytes), Int64(clamping: number)])
        }
    }

    /// Forgets letters of an account by their numbers.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func drop(_ letters: RecoveryDrop, to recipient: Handle) async throws(MailboxStoreError) {
        try await write { database in
            for number in letters.numbers {
                try database.execute(
                    sql: "DELETE FROM letters WHERE recipient = ? AND id = ?",
                    arguments: [Data(recipient.bytes), Int64(clamping: number)])
            }
        }
    }

    static func list(
        _ database: Database, _ sql: String, _ arguments: StatementArguments
    ) throws -> RecoveryLetterList {
        let rows = try Row.fetchAll(
            database, sql: "\(sql) ORDER BY id LIMIT \(RecoveryLetterList.maximumCount)", arguments: arguments)
        return RecoveryLetterList(
            try rows.map { row in
                RecoveryLetter(
                    number: UInt64(clamping: try row.decode(Int64.self, atIndex: 0)),
                    sender: try Handle(canonical: Array(row.decode(Data.self, atIndex: 1))),
                    time: UInt64(clamping: try row.decode(Int64.self, atIndex: 2)),
                    body: Array(try row.decode(Data.self, atIndex: 3)))
            })
    }
}
