// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import ContactMatching
import Crypto
import KeyTransparency

/// The tokens of the user and of the people whom they met, and those people's cards, sealed in the home folder.
///
/// Before sealing with ChaCha20-Poly1305 (nonce, ciphertext, tag; additional data is the first line): `signet-met-contacts/v1` LF; u8 count of own
/// tokens, each 32 bytes and u64 day; u16 count of people, in order of their handles: u8 length and handle, u64 day, u8 count of tokens and 32 bytes
/// each, u16 length and card; zeros to a multiple of 4096 bytes.
struct ContactBook: Equatable {
    /// A token of the user's own.
    struct OwnToken: Equatable {
        let token: ContactToken
        /// When it was made, in days since 1970.
        let day: UInt64
    }

    /// What a person gave when they met the user last.
    struct Person: Equatable {
        let day: UInt64
        var tokens: [ContactToken]
        /// As it was shown then, and verified; nil if they gave none.
        var card: [UInt8]?
    }

    /// For how many days a token is given to people.
    static let tokenDays: UInt64 = 90
    private static let format = Array("signet-met-contacts/v1\n".utf8)

    /// The newest first, at most two.
    private(set) var own: [OwnToken] = []
    private(set) var people: [Handle: Person] = [:]

    init() {}

    // MARK: Tokens

    /// The tokens for somebody who is met now: the one in use and the one before, so that people who met the user within half a year
    /// have one in common.
    mutating func tokens(on day: UInt64, fresh: () -> ContactToken) -> [ContactToken] {
        if own.first.map({ day >= $0.day + Self.tokenDays || day < $0.day }) ?? true {
            own = Array(([OwnToken(token: fresh(), day: day)] + own).prefix(2))
        }
        return own.filter { day < $0.day + 2 * Self.tokenDays }.map(\.token)
    }

    /// Keeps what a person gave. A card that they gave before stays if they give none now.
    mutating func keep(_ person: Person, of handle: Handle) {
        guard people[handle] != nil || people.count < ContactToken.maximumCount / 2 else { return }
        var person = person
        person.card = person.card ?? people[handle]?.card
        people[handle] = person
    }

    /// By token, the people whom the user met, without some.
    func owners(except hidden: Set<Handle>) -> [ContactToken: Handle] {
        let all = people.filter { !hidden.contains($0.key) }.flatMap { handle, person in
            person.tokens.map { ($0, handle) }
        }
        return Dictionary(all) { first, _ in first }
    }

    // MARK: The form

    /// - Parameter nonce: 12 unpredictable bytes.
    func sealed(under key: SymmetricKey, nonce: [UInt8]) -> [UInt8]? {
        guard let nonce = try? ChaChaPoly.Nonce(data: nonce),
            let box = try? ChaChaPoly.seal(encoded, using: key, nonce: nonce, authenticating: Self.format)
        else { return nil }
        return Array(box.combined)
    }

    init?(opening sealed: [UInt8], with key: SymmetricKey) {
        guard let box = try? ChaChaPoly.SealedBox(combined: sealed),
            let bytes = try? ChaChaPoly.open(box, using: key, authenticating: Self.format),
            let book = try? ContactBook(decoding: Array(bytes)), book.encoded == Array(bytes)
        else { return nil }
        self = book
    }

    private var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt8(truncatingIfNeeded: own.count))
        for token in own {
            writer.write(token.token.bytes)
            writer.write(token.day)
        }
        writer.write(UInt16(truncatingIfNeeded: people.count))
        for (handle, person) in people.sorted(by: { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }) {
            writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
            writer.write(handle.bytes)
            writer.write(person.day)
            writer.write(UInt8(truncatingIfNeeded: person.tokens.count))
            for token in person.tokens { writer.write(token.bytes) }
            writer.write(UInt16(truncatingIfNeeded: person.card?.count ?? 0))
            writer.write(person.card ?? [])
        }
        return writer.bytes + [UInt8](repeating: 0, count: (4096 - writer.bytes.count % 4096) % 4096)
    }

    private init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else { throw ContactBookFault.form }
        for _ in 0..<(try reader.uint8()) {
            own.append(OwnToken(token: try Self.token(&reader), day: try reader.uint64()))
        }
        for _ in 0..<(try reader.uint16()) {
            let handle = try Handle(canonical: Array(try reader.bytes(Int(try reader.uint8()))))
            let day = try reader.uint64()
            let tokens = try (0..<Int(try reader.uint8())).map { _ in try Self.token(&reader) }
            let card = Array(try reader.bytes(Int(try reader.uint16())))
            people[handle] = Person(day: day, tokens: tokens, card: card.isEmpty ? nil : card)
        }
    }

    private static func token(_ reader: inout ByteReader) throws -> ContactToken {
        guard let token = ContactToken(Array(try reader.bytes(ContactToken.byteCount))) else {
            throw ContactBookFault.form
        }
        return token
    }
}

private enum ContactBookFault: Error {
    case form
}
