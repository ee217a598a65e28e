// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DeviceIdentity
import SelectiveDisclosure
import StrictJSON

/// The cards that a person carries, and the keys for which an issuer has not sent copies yet, sealed in the home folder.
///
/// Wire form before sealing, then zeros to a multiple of 4096 bytes: `signet-card-ledger/v1` LF; u32 length and a JSON object with
/// the numbers of the next card and the next key, the keys that wait, the offers that were begun if there are any, and the cards with
/// their copies.
struct CardLedger: SealedLedger {
    /// One copy of a card, which is bound to a key of its own.
    struct Copy: Sendable {
        /// The number of the key, which is the name in the keystore.
        let key: UInt64
        let credential: HeldCredential
        /// The one site that sees this copy; nil if none has seen it.
        var site: VerifiedHost?
    }

    /// The copies of one card.
    struct Card: Sendable {
        let number: UInt64
        /// What the certificate calls the issuer, or the issuer's did:key.
        let issuer: JSONText
        var copies: [Copy]
    }

    /// An offer of which the card has not arrived yet.
    struct BegunOffer: Sendable {
        /// Stands for the issuer and the code, 43 characters.
        let identifier: JSONText
        /// The number of the key to which the issuer binds the permission.
        let wallet: UInt64
        /// The numbers of the keys for the copies, which wait.
        let keys: [UInt64]
    }

    var nextCard: UInt64 = 1
    var nextKey: UInt64 = 1
    /// Keys for which copies may arrive.
    var waiting: Set<UInt64> = []
    var offers: [BegunOffer] = []
    var cards: [Card] = []

    static let format = Array("signet-card-ledger/v1\n".utf8)
    private static let limits = JSONLimits(byteCount: 4_194_304, depth: 8)

    init() {}

    /// Notes that copies have come for these keys. An offer of which no key waits any more is forgotten.
    mutating func close(_ keys: [UInt64]) {
        waiting.subtract(keys)
        offers.removeAll { $0.keys.allSatisfy { !waiting.contains($0) } }
    }

    var encoded: [UInt8] {
        var object: JSONObject = [
            "next-card": Self.number(nextCard), "next-key": Self.number(nextKey),
            "waiting": .array(waiting.sorted().map(Self.number)), "cards": .array(cards.map { .object($0.object) }),
        ]
        if !offers.isEmpty { object["offers"] = .array(offers.map { .object($0.object) }) }
        let text = object.encoded
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt32(text.count))
        writer.write(text)
        return Self.padded(writer.bytes)
    }

    init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else { throw CardLedgerFault.form }
        let object = try JSONObject(decoding: Array(reader.bytes(Int(reader.uint32()))), limits: Self.limits)
        nextCard = try Self.number(object["next-card"])
        nextKey = try Self.number(object["next-key"])
        waiting = Set(try (object["waiting"]?.array ?? []).map(Self.number))
        offers = try (object["offers"]?.array ?? []).map(BegunOffer.init)
        cards = try (object["cards"]?.array ?? []).map(Card.init)
        guard encoded == bytes else { throw CardLedgerFault.form }
    }

    fileprivate static func number(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }

    fileprivate static func number(_ value: JSONValue?) throws -> UInt64 {
        guard let number = value?.integer, number >= 0 else { throw CardLedgerFault.form }
        return UInt64(number)
    }
}

extension CardLedger.BegunOffer {
    fileprivate init(_ value: JSONValue) throws {
        guard let object = value.object, let identifier = object["offer"]?.string, let keys = object["keys"]?.array
        else { throw CardLedgerFault.form }
        self.identifier = identifier
        wallet = try CardLedger.number(object["wallet"])
        self.keys = try keys.map(CardLedger.number)
    }

    fileprivate var object: JSONObject {
        [
            "offer": .string(identifier), "wallet": CardLedger.number(wallet),
            "keys": .array(keys.map(CardLedger.number)),
        ]
    }
}

extension CardLedger.Card {
    fileprivate init(_ value: JSONValue) throws {
        guard let object = value.object, let issuer = object["issuer"]?.string, let copies = object["copies"]?.array
        else { throw CardLedgerFault.form }
        number = try CardLedger.number(object["number"])
        self.issuer = issuer
        self.copies = try copies.map(CardLedger.Copy.init)
    }

    fileprivate var object: JSONObject {
        [
            "number": CardLedger.number(number), "issuer": .string(issuer),
            "copies": .array(copies.map { .object($0.object) }),
        ]
    }
}

extension CardLedger.Copy {
    fileprivate init(_ value: JSONValue) throws {
        guard let object = value.object, let text = object["card"]?.string else { throw CardLedgerFault.form }
        key = try CardLedger.number(object["key"])
        credential = try HeldCredential(decoding: text.utf8)
        site = try object["site"]?.string.map { try VerifiedHost(stored: $0.utf8) }
    }

    fileprivate var object: JSONObject {
        var object: JSONObject = [
            "key": CardLedger.number(key),
            "card": .string(JSONText(String(decoding: credential.encoded, as: UTF8.self))),
        ]
        object["site"] = site.map { .string(JSONText(String(decoding: $0.text, as: UTF8.self))) }
        return object
    }
}

/// Bytes that no ``CardLedger`` wrote.
private enum CardLedgerFault: Error { case form }
