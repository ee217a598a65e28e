import Crypto
import Foundation
import GRDB
public import KeyTransparency
public import SignetAPI

/// What the server keeps for guardians, owners and new devices, in SQLite; each commit waits for the disk. All of it is
/// sealed for somebody else.
public struct MailboxStore: Sendable {
    private let queue: DatabaseQueue

    /// Opens the file, and makes it when it is not there.
    ///
    /// - Throws: ``MailboxStoreError``.
    public init(at path: String) throws(MailboxStoreError) {
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            if access(path, F_OK) != 0 {
                let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else { throw MailboxStoreError.unavailable }
                Foundation.close(descriptor)
            }
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try RecoverySchema.migrator.migrate(queue)
        } catch { throw .unavailable }
    }

    /// Lets go of the file.
    public func close() { try? queue.close() }

    func read<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(MailboxStoreError) -> Value {
        do { return try await queue.read(body) } catch { throw .unavailable }
    }

    func write<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(MailboxStoreError) -> Value {
        do { return try await queue.write(body) } catch { throw .unavailable }
    }
}

/// Why the store did not do it: the environment's fault, worth a retry.
public enum MailboxStoreError: Error, Hashable, Sendable {
    /// SQLite could not read, write or wait for the disk.
    case unavailable
}

// MARK: Recovery files

extension MailboxStore {
    /// So many files of one account are kept, the newest: that of the set in force, and that of the next.
    public static let filesPerAccount = 2

    /// Keeps an owner's file.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func keep(_ file: RecoveryFile, of owner: Handle, at now: UInt64) async throws(MailboxStoreError) {
        try await write { database in
            try database.execute(
                sql: "DELETE FROM files WHERE owner = ? AND commitment = ?",
                arguments: [Data(owner.bytes), Data(file.commitment)])
            try database.execute(
                sql: "INSERT INTO files (owner, commitment, bytes, time) VALUES (?, ?, ?, ?)",
                arguments: [Data(owner.bytes), Data(file.commitment), Data(file.bytes), Int64(clamping: now)])
            try database.execute(
                sql: """
                    DELETE FROM files WHERE owner = ? AND id NOT IN
                    (SELECT id FROM files WHERE owner = ? ORDER BY id DESC LIMIT ?)
                    """, arguments: [Data(owner.bytes), Data(owner.bytes), Self.filesPerAccount])
        }
    }

    /// The files under a commitment's hash: one, unless somebody copied the hash.
    ///
    /// - Parameter owner: whose file; somebody else's under the same hash is not it.
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
    /// So many letters wait for one account.
    public static let lettersPerRecipient = 512
    /// So many of one sender.
    public static let lettersPerSender = 32
    /// After this a letter is gone, in seconds: thirty days.
    public static let letterLifetime: UInt64 = 30 * 86_400

    /// Keeps a letter.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func keep(
        _ letter: RecoveryLetter.Draft, from sender: Handle, at now: UInt64
    ) async throws(MailboxStoreError) -> RecoveryVerdict {
        let (recipient, sender) = (Data(letter.recipient.bytes), Data(sender.bytes))
        return try await write { database in
            try database.execute(
                sql: "DELETE FROM letters WHERE time < ?",
                arguments: [Int64(clamping: now) - Int64(Self.letterLifetime)])
            let all = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM letters WHERE recipient = ?", arguments: [recipient])
            let own = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM letters WHERE recipient = ? AND sender = ?",
                arguments: [recipient, sender])
            guard (all ?? 0) < Self.lettersPerRecipient, (own ?? 0) < Self.lettersPerSender else { return .full }
            try database.execute(
                sql: "INSERT INTO letters (recipient, sender, time, body) VALUES (?, ?, ?, ?)",
                arguments: [recipient, sender, Int64(clamping: now), Data(letter.body)])
            return .taken
        }
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

    /// Forgets an account's letters up to a number.
    ///
    /// - Throws: ``MailboxStoreError``.
    public func drop(lettersTo recipient: Handle, upTo number: UInt64) async throws(MailboxStoreError) {
        try await write { database in
            try database.execute(
                sql: "DELETE FROM letters WHERE recipient = ? AND id <= ?",
                arguments: [Data(recipient.bytes), Int64(clamping: number)])
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
