// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import Foundation
import GRDB
public import Issuance
import StrictJSON
import TokenStatusList

/// An issuer's offers, and the entries of its status list, in one SQLite file. Every change is on the disk when it is answered, and each
/// decision is one transaction: the program that serves and the operator's commands may use the file at the same time.
public struct IssuerDatabase: Sendable {
    /// So many entries has the status list: 16 KiB before compression.
    public static let entryCount: Int64 = 131_072
    /// So many entries of a new list are withdrawn although they belong to no card, so that the list does not say how many cards are.
    static let firstDecoyCount = 1024

    private let queue: DurableQueue
    /// The issuer's name.
    public let issuer: IssuerName
    /// Under which its nonces are made.
    let nonces: IssuanceNonce

    // MARK: Opening

    /// Makes the database of a new issuer.
    ///
    /// - Throws: ``IssuerStoreError``: `exists` for a file that is there.
    public static func make(at path: String, for issuer: IssuerName) throws(IssuerStoreError) {
        do {
            let queue = try DurableDatabase.queue(at: path, migrator, origin: .new)
            let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
            try queue.write { database in
                try database.execute(
                    sql: "INSERT INTO issuer VALUES (1, ?, ?)", arguments: [issuer.text.description, key])
                for place in try freePlaces(database, firstDecoyCount) {
                    try database.execute(
                        sql: "INSERT INTO entry (place, withdrawn) VALUES (?, 1)", arguments: [place])
                }
            }
            try queue.close()
        } catch { throw IssuerStoreError(error) }
    }

    /// Opens the database of an issuer.
    ///
    /// - Throws: ``IssuerStoreError``.
    public init(path: String) throws(IssuerStoreError) {
        do {
            queue = try DurableDatabase.queue(at: path, Self.migrator, origin: .kept)
            let row = try queue.read { try Row.fetchOne($0, sql: "SELECT name, nonce_key FROM issuer") }
            guard let row else { throw IssuerStoreError.damaged }
            issuer = try IssuerName(JSONText(row["name"] as String))
            nonces = IssuanceNonce(key: SymmetricKey(data: row["nonce_key"] as Data))
        } catch { throw IssuerStoreError(error) }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: issuer, offers, entries") { database in
            try database.execute(
                sql: """
                    CREATE TABLE issuer (
                        one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, nonce_key BLOB NOT NULL);
                    CREATE TABLE offer (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, member TEXT NOT NULL, card_expiry INTEGER NOT NULL,
                        code_hash BLOB NOT NULL UNIQUE, transaction_code_hash BLOB, expiry INTEGER NOT NULL,
                        attempts_left INTEGER NOT NULL, wallet BLOB, token_hash BLOB, token_expiry INTEGER NOT NULL,
                        withdrawn INTEGER NOT NULL);
                    CREATE INDEX offer_token ON offer (token_hash);
                    CREATE TABLE entry (
                        place INTEGER PRIMARY KEY, offer INTEGER REFERENCES offer (number), key BLOB,
                        withdrawn INTEGER NOT NULL);
                    CREATE INDEX entry_offer ON entry (offer);
                    """)
        }
        return migrator
    }

    // MARK: Offers

    /// Keeps a new offer.
    ///
    /// - Parameters:
    ///   - member: the person's name, as the card will state it.
    ///   - cardExpiry: when the card expires, in seconds since 1970.
    /// - Returns: its number.
    /// - Throws: ``IssuerStoreError``.
    public func add(_ record: OfferRecord, member: String, cardExpiry: Int64) throws(IssuerStoreError) -> Int64 {
        do {
            return try queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO offer (member, card_expiry, code_hash, transaction_code_hash, expiry, attempts_left,
                            token_expiry, withdrawn) VALUES (?, ?, ?, ?, ?, ?, 0, 0)
                        """,
                    arguments: [
                        member, cardExpiry, Data(record.codeHash), record.transactionCodeHash.map { Data($0) },
                        record.expiry, record.attemptsLeft,
                    ])
                return database.lastInsertedRowID
            }
        } catch { throw IssuerStoreError(error) }
    }

    /// Decides about an offer, and keeps what the decision has to be remembered of, also when it is a refusal.
    ///
    /// - Parameter body: gets the record of the offer; nil if there is none.
    /// - Returns: what was decided, and the offer as it is now.
    /// - Throws: ``IssuerStoreError``, or what the decision throws.
    func decide<Value: Sendable, Refusal: Error>(
        _ search: OfferSearch, _ body: @Sendable (inout OfferRecord?) throws(Refusal) -> Value
    ) async throws -> (value: Value, offer: Offer?) {
        let (result, offer): (Result<Value, Refusal>, Offer?)
        do {
            (result, offer) = try await queue.write { database in
                let offer = try Self.offer(search, database)
                var record = offer?.record
                let decided: Result<Value, Refusal>
                do throws(Refusal) { decided = .success(try body(&record)) } catch { decided = .failure(error) }
                guard let offer, let record else { return (decided, nil) }
                return (decided, try Self.keep(record, of: offer, database))
            }
        } catch { throw IssuerStoreError(error) }
        return (try result.get(), offer)
    }

    /// By what an offer is found.
    enum OfferSearch: Sendable {
        case code(JSONText)
        case token(JSONText)
    }

    /// An offer with what its card states.
    struct Offer: Sendable {
        let number: Int64
        let member: String
        let cardExpiry: Int64
        let record: OfferRecord
        /// The entry of the copy of each key, by the key's thumbprint.
        let places: [[UInt8]: Int64]
    }

    private static func offer(_ search: OfferSearch, _ database: Database) throws -> Offer? {
        let row =
            switch search {
            case .code(let code):
                try Row.fetchOne(
                    database, sql: "SELECT * FROM offer WHERE code_hash = ?",
                    arguments: [Data(OfferRecord.hash(of: code))])
            case .token(let token):
                try Row.fetchOne(
                    database, sql: "SELECT * FROM offer WHERE token_hash = ?",
                    arguments: [Data(OfferRecord.hash(of: token))])
            }
        guard let row else { return nil }
        let number: Int64 = row["number"]
        let entries = try Row.fetchAll(
            database, sql: "SELECT place, key FROM entry WHERE offer = ? AND key IS NOT NULL", arguments: [number])
        let places = Dictionary(entries.map { (bytes($0["key"]) ?? [], $0["place"] as Int64) }) { first, _ in first }
        let record = OfferRecord(
            codeHash: bytes(row["code_hash"]) ?? [], transactionCodeHash: bytes(row["transaction_code_hash"]),
            expiry: row["expiry"], attemptsLeft: row["attempts_left"], wallet: bytes(row["wallet"]),
            tokenHash: bytes(row["token_hash"]), tokenExpiry: row["token_expiry"], keys: Set(places.keys),
            isWithdrawn: row["withdrawn"])
        return Offer(
            number: number, member: row["member"], cardExpiry: row["card_expiry"], record: record, places: places)
    }

    private static func bytes(_ data: Data?) -> [UInt8]? { data.map { Array($0) } }

    /// Keeps what was decided; keys that are new get entries of the status list at random.
    private static func keep(_ record: OfferRecord, of offer: Offer, _ database: Database) throws -> Offer {
        try database.execute(
            sql: """
                UPDATE offer SET attempts_left = ?, wallet = ?, token_hash = ?, token_expiry = ? WHERE number = ?
                """,
            arguments: [
                record.attemptsLeft, record.wallet.map { Data($0) }, record.tokenHash.map { Data($0) },
                record.tokenExpiry, offer.number,
            ])
        var places = offer.places
        let fresh = record.keys.filter { places[$0] == nil }
        if !fresh.isEmpty {
            for (key, place) in zip(fresh, try freePlaces(database, fresh.count)) {
                places[key] = place
                try database.execute(
                    sql: "INSERT INTO entry VALUES (?, ?, ?, 0)", arguments: [place, offer.number, Data(key)])
            }
        }
        return Offer(
            number: offer.number, member: offer.member, cardExpiry: offer.cardExpiry, record: record, places: places)
    }

    // MARK: Entries

    /// Entries that belong to no card and are no decoys, at random.
    ///
    /// - Throws: ``IssuerStoreError/full``: fewer than a half are left, so that cards would be found in the order in which they were made.
    private static func freePlaces(_ database: Database, _ count: Int) throws -> [Int64] {
        let taken = try Set(Int64.fetchAll(database, sql: "SELECT place FROM entry"))
        guard Int64(taken.count + count) <= entryCount / 2 else { throw IssuerStoreError.full }
        var generator = SystemRandomNumberGenerator()
        var places: Set<Int64> = []
        while places.count < count {
            let place = Int64.random(in: 0..<entryCount, using: &generator)
            if !taken.contains(place) { places.insert(place) }
        }
        return places.shuffled(using: &generator)
    }

    /// Withdraws the card of an offer, or the offer itself if the card was not made yet. As many entries that belong to no card change at
    /// the same time.
    ///
    /// - Returns: the person's name, and how many copies were made.
    /// - Throws: ``IssuerStoreError``: `unknown` if there is no such offer.
    public func withdraw(_ number: Int64) throws(IssuerStoreError) -> (member: String, copyCount: Int) {
        do {
            return try queue.write { database in
                guard
                    let member = try String.fetchOne(
                        database, sql: "SELECT member FROM offer WHERE number = ?", arguments: [number])
                else { throw IssuerStoreError.unknown }
                try database.execute(sql: "UPDATE offer SET withdrawn = 1 WHERE number = ?", arguments: [number])
                let count =
                    try Int.fetchOne(
                        database, sql: "SELECT count(*) FROM entry WHERE offer = ? AND withdrawn = 0",
                        arguments: [number]) ?? 0
                try database.execute(sql: "UPDATE entry SET withdrawn = 1 WHERE offer = ?", arguments: [number])
                for place in try Self.freePlaces(database, count) {
                    try database.execute(
                        sql: "INSERT INTO entry (place, withdrawn) VALUES (?, 1)", arguments: [place])
                }
                return (member, count)
            }
        } catch { throw IssuerStoreError(error) }
    }

    /// The status list as it is now.
    func statusList() async throws -> StatusListDraft {
        do {
            let withdrawn = try await queue.read {
                try Int64.fetchAll($0, sql: "SELECT place FROM entry WHERE withdrawn = 1")
            }
            var draft = try StatusListDraft(count: Self.entryCount)
            for place in withdrawn { try draft.set(1, at: place) }
            return draft
        } catch { throw IssuerStoreError(error) }
    }

    /// One line of the operator's list.
    public struct Listing: Hashable, Sendable {
        /// The offer's number.
        public let number: Int64
        /// The person's name.
        public let member: String
        /// How many copies of the card were made; 0 if it was not made yet.
        public let copyCount: Int
        /// Until when the offer can be used, in seconds since 1970.
        public let expiry: Int64
        /// Whether too many wrong codes were entered.
        public let isLocked: Bool
        /// Whether it was withdrawn.
        public let isWithdrawn: Bool
    }

    /// Every offer, in order of number.
    ///
    /// - Throws: ``IssuerStoreError``.
    public func listings() throws(IssuerStoreError) -> [Listing] {
        do {
            return try queue.read { database in
                try Row.fetchAll(
                    database,
                    sql: """
                        SELECT number, member, expiry, attempts_left, withdrawn,
                            (SELECT count(*) FROM entry WHERE entry.offer = offer.number) AS copies
                        FROM offer ORDER BY number
                        """
                ).map { row in
                    Listing(
                        number: row["number"], member: row["member"], copyCount: row["copies"], expiry: row["expiry"],
                        isLocked: (row["attempts_left"] as Int) < 1, isWithdrawn: row["withdrawn"])
                }
            }
        } catch { throw IssuerStoreError(error) }
    }
}

/// Why an issuer's database did not do what it should.
public enum IssuerStoreError: Error, Hashable, Sendable {
    /// There is no such file.
    case missing
    /// The file is there already.
    case exists
    /// It is none of an issuer, or a newer program has changed its form.
    case damaged
    /// No offer has this number.
    case unknown
    /// The status list has no room for more cards.
    case full
    /// The disk is full, or another program holds the file for too long. A retry can help.
    case unavailable

    init(_ error: any Error) {
        switch error {
        case let error as IssuerStoreError: self = error
        case DurableOpenError.missing: self = .missing
        case DurableOpenError.exists: self = .exists
        case DurableOpenError.damaged, DurableOpenError.fromNewerVersion, is IssuanceFault: self = .damaged
        case let error as DatabaseError where error.resultCode == .SQLITE_NOTADB: self = .damaged
        case DurableOpenError.database(let code) where code == ResultCode.SQLITE_NOTADB.rawValue: self = .damaged
        default: self = .unavailable
        }
    }
}
