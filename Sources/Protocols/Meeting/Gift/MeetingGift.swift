// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What a person gives the other one when both have confirmed the meeting.
///
/// u8 1; u8 count of tokens, 0 to 2, and 32 bytes each; u8 1 if the person wants to know whom both know, or u8 0; u16 length and a card, as it is
/// shown; zeros to a multiple of 2048 bytes, so that the length says little.
public struct MeetingGift: Hashable, Sendable {
    /// The most tokens: the one in use and the one before.
    public static let maximumTokenCount = 2
    /// The longest card, in bytes.
    public static let maximumCardByteCount = 8192
    private static let unit = 2048

    /// By which others see that they know this person too, 32 bytes each, the newest first.
    public let tokens: [[UInt8]]
    /// Whether the person wants to know whom both know. Nothing is compared unless both do.
    public let comparesContacts: Bool
    /// A card of the person's, as it is shown; nil for none.
    public let card: [UInt8]?

    /// A gift; nil if there are too many tokens, one does not have 32 bytes, or the card is empty or too long.
    public init?(tokens: [[UInt8]], comparesContacts: Bool, card: [UInt8]?) {
        guard tokens.count <= Self.maximumTokenCount, tokens.allSatisfy({ $0.count == 32 }),
            card.map({ (1...Self.maximumCardByteCount).contains($0.count) }) ?? true
        else { return nil }
        (self.tokens, self.comparesContacts, self.card) = (tokens, comparesContacts, card)
    }

    /// The message.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(UInt8(truncatingIfNeeded: tokens.count))
        for token in tokens { writer.write(token) }
        writer.write(UInt8(comparesContacts ? 1 : 0))
        writer.write(UInt16(truncatingIfNeeded: card?.count ?? 0))
        writer.write(card ?? [])
        let count = writer.bytes.count
        return writer.bytes + [UInt8](repeating: 0, count: (Self.unit - count % Self.unit) % Self.unit)
    }

    /// Reads a message; only what ``encoded`` prints.
    ///
    /// - Throws: ``MeetingError/malformed``.
    public init(decoding bytes: [UInt8]) throws(MeetingError) {
        guard let gift = try? Self.read(bytes), gift.encoded == bytes else { throw .malformed }
        self = gift
    }

    private static func read(_ bytes: [UInt8]) throws -> MeetingGift? {
        var reader = ByteReader(bytes)
        guard try reader.uint8() == 1 else { return nil }
        let tokens = try (0..<Int(try reader.uint8())).map { _ in Array(try reader.bytes(32)) }
        let comparesContacts = try reader.uint8() == 1
        let card = Array(try reader.bytes(Int(try reader.uint16())))
        return MeetingGift(tokens: tokens, comparesContacts: comparesContacts, card: card.isEmpty ? nil : card)
    }
}
