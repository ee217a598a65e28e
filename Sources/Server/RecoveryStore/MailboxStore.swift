// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
public import KeyTransparency
package import SQLStores
public import SignetAPI

/// What the server keeps for guardians, owners and new devices, in SQLite or on a database server; each commit is durable. The
/// server cannot open any of it.
///
/// On a database server several processes can use the same rows: each transaction there is SERIALIZABLE, and one that another
/// got in the way of is run again.
public struct MailboxStore: Sendable {
    let rows: any SQLDatabase
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
        do { rows = try SQLiteDatabase(at: path, RecoverySchema.schema) } catch { throw .opening(error) }
    }

    /// Uses a database whose form is up to date.
    ///
    /// - Parameter reserve: the directory's share of its disk; without one there is room until the engine says that there is none.
    package init(database: any SQLDatabase, reserve: DiskReserve = DiskReserve { .none }) {
        rows = database
        self.reserve = reserve
    }

    /// Lets go of the rows.
    public func close() { rows.close() }

    func read<Value: Sendable>(
        _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws(MailboxStoreError) -> Value {
        do { return try await rows.read(body) } catch { throw .unavailable }
    }

    /// Whether the rest of the disk is the directory's: what people leave here is refused then.
    var isFull: Bool { reserve.isReached }

    /// Runs one transaction. `body` may run several times.
    func write<Value: Sendable>(
        _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws(MailboxStoreError) -> Value {
        do { return try await rows.write(body) } catch { throw .unavailable }
    }

    /// Leaves no copy of deleted rows beside an SQLite file.
    func expunge() async throws(MailboxStoreError) {
        do { try await rows.expunge() } catch { throw .unavailable }
    }
}

/// Why the store did not do it: the environment's fault, worth a retry.
public enum MailboxStoreError: Error, Hashable, Sendable {
    /// The rest of the disk is the directory's. Nothing was changed; a retry helps when the operator has made room.
    case full
    /// It was not opened.
    case opening(DurableOpenError)
    /// The engine could not read, write or wait for the disk, or is away.
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
        try await write { database in
            try database.run("DELETE FROM files WHERE owner = ? AND commitment = ?", [owner.bytes, file.commitment])
            try database.run(
                "INSERT INTO files (owner, commitment, bytes, time) VALUES (?, ?, ?, ?)",
                [owner.bytes, file.commitment, file.bytes, Int64(clamping: now)])
            let rows = try database.rows(
                "SELECT id, commitment FROM files WHERE owner = ? ORDER BY id DESC", [owner.bytes])
            var others: [Int64] = []
            for row in rows where !named.contains(try row.bytes(1)) { others.append(try row.integer(0)) }
            for id in others.dropFirst(Self.filesPerAccount) {
                try database.run("DELETE FROM files WHERE id = ?", [id])
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
            try database.row(
                "SELECT bytes FROM files WHERE owner = ? AND commitment = ?", [owner.bytes, commitment]
            )?.bytes(0)
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
        let (recipient, sender) = (letter.recipient.bytes, sender.bytes)
        return try await write { database in
            try database.run("DELETE FROM letters WHERE time < ?", [Int64(clamping: now) - Int64(Self.letterLifetime)])
            let same = try database.row(
                "SELECT 1 FROM letters WHERE recipient = ? AND sender = ? AND body = ?",
                [recipient, sender, letter.body])
            guard same == nil else { return .taken }
            let own = try database.count(
                "SELECT COUNT(*) FROM letters WHERE recipient = ? AND sender = ?", [recipient, sender])
            guard own < Self.lettersPerSender else { return .full }
            let toStrangers = try database.count(
                "SELECT COUNT(*) FROM letters WHERE sender = ? AND friend = 0", [sender])
            guard isFriend || toStrangers < Self.lettersToStrangers else { return .full }
            try Self.insert(letter, from: sender, isFriend: isFriend, at: now, in: database)
            try Self.evict(lettersTo: recipient, ofFriends: isFriend, in: database)
            return .taken
        }
    }

    /// Writes a letter under the mailbox's next number.
    static func insert(
        _ letter: RecoveryLetter.Draft, from sender: [UInt8], isFriend: Bool, at now: UInt64,
        in database: SQLTransaction
    ) throws {
        let recipient = letter.recipient.bytes
        try database.run(
            "INSERT INTO letters (recipient, number, sender, friend, time, body) VALUES (?, ?, ?, ?, ?, ?)",
            [
                recipient, nextNumber(in: recipient, database), sender, isFriend ? 1 : 0, Int64(clamping: now),
                letter.body,
            ])
    }

    /// The number of a mailbox's next letter. Whoever takes one keeps the mailbox's row until the transaction ends, so that numbers become
    /// visible in their order: a recipient who asks for what comes after a number misses nothing. An engine's own numbers are given
    /// when a row is written, and a transaction that got a lower one may end later.
    private static func nextNumber(in recipient: [UInt8], _ database: SQLTransaction) throws -> Int64 {
        let row = try database.row(
            """
            INSERT INTO mailboxes (recipient, last) SELECT ?, last + 1 FROM mailboxes WHERE recipient = ?
            ON CONFLICT (recipient) DO UPDATE SET last = mailboxes.last + 1 RETURNING last
            """, [recipient, RecoverySchema.nobody])
        guard let number = try row?.integer(0) else { throw DamagedRow() }
        return number
    }

    private static func evict(lettersTo recipient: [UInt8], ofFriends: Bool, in database: SQLTransaction) throws {
        let arguments: SQLArguments = [recipient, ofFriends ? 1 : 0]
        let count = try database.count("SELECT COUNT(*) FROM letters WHERE recipient = ? AND friend = ?", arguments)
        guard count > (ofFriends ? lettersPerRecipient : lettersOfStrangers) else { return }
        try database.run(
            """
            DELETE FROM letters WHERE id = (SELECT id FROM letters WHERE recipient = ?1 AND friend = ?2 AND sender = (
                SELECT sender FROM letters WHERE recipient = ?1 AND friend = ?2
                GROUP BY sender ORDER BY COUNT(*) DESC, MIN(number) LIMIT 1
            ) ORDER BY number LIMIT 1)
            """, arguments)
    }

    /// An account's letters after a number.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func letters(
        to recipient: Handle, after number: UInt64
    ) async throws(MailboxStoreError) -> RecoveryLetterList {
        try await read { database in
            try Self.list(
                database, "SELECT number, sender, time, body FROM letters WHERE recipient = ? AND number > ?",
                [recipient.bytes, Int64(clamping: number)])
        }
    }

    /// Forgets letters of an account by their numbers.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func drop(_ letters: RecoveryDrop, to recipient: Handle) async throws(MailboxStoreError) {
        try await write { database in
            for number in letters.numbers {
                try database.run(
                    "DELETE FROM letters WHERE recipient = ? AND number = ?",
                    [recipient.bytes, Int64(clamping: number)])
            }
        }
    }

    static func list(
        _ database: SQLTransaction, _ sql: String, _ arguments: SQLArguments
    ) throws -> RecoveryLetterList {
        let rows = try database.rows("\(sql) ORDER BY number LIMIT \(RecoveryLetterList.maximumCount)", arguments)
        return RecoveryLetterList(
            try rows.map { row in
                RecoveryLetter(
                    number: UInt64(clamping: try row.integer(0)), sender: try Handle(canonical: row.bytes(1)),
                    time: UInt64(clamping: try row.integer(2)), body: try row.bytes(3))
            })
    }
}

extension SQLTransaction {
    /// What a statement counts.
    func count(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        Int(clamping: try row(sql, arguments)?.integer(0) ?? 0)
    }
}
