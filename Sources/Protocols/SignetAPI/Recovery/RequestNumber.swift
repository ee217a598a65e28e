// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// By what a person names their request to a guardian, over the telephone: eight digits, which the server gives, from the
/// request's hash or, where another request of the account has that number, the next free one.
///
/// Several requests for one account may wait; the number finds the one that is meant. It is an address and proves
/// nothing: the spoken code, which covers the request's hash, shows that the request is the person's. So an attacker
/// gains nothing by choosing a request for its number, and cannot take another request's number that way.
///
/// Wire form: u32, big-endian.
public struct RequestNumber: Hashable, Sendable {
    /// Below 100,000,000.
    public let value: UInt32

    /// The number of a request with this hash, if it is free: its first eight bytes, big-endian, modulo 10^8.
    public init(ofRequest hash: [UInt8]) {
        value = UInt32(hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000_000)
    }

    /// The number after this one; after the last comes the first.
    public var next: RequestNumber { RequestNumber(unchecked: (value + 1) % 100_000_000) }

    private init(unchecked value: UInt32) { self.value = value }

    /// A number that the other side sent; nil when it has more digits.
    public init?(_ value: UInt32) {
        guard value < 100_000_000 else { return nil }
        self.value = value
    }

    /// What a person typed: eight digits, spaces anywhere between; nil when it is something else.
    public init?(typed: [UInt8]) {
        let digits = typed.filter { $0 != UInt8(ascii: " ") }
        guard digits.count == 8, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        value = digits.reduce(0) { $0 * 10 + UInt32($1 - 0x30) }
    }

    /// The wire form, 4 bytes.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(value)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        self = try RecoveryMessageError.reading(bytes) { reader in try RequestNumber(from: &reader) }
    }

    init(from reader: inout ByteReader) throws {
        guard let number = RequestNumber(try reader.uint32()) else { throw RecoveryMessageError.invalidLength }
        self = number
    }

    /// Two groups of four digits.
    public var text: String {
        let digits = String(value)
        let eight = String(repeating: "0", count: 8 - digits.count) + digits
        return "\(eight.prefix(4)) \(eight.suffix(4))"
    }
}
