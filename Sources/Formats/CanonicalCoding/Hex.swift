// SPDX-License-Identifier: Apache-2.0

/// Lower-case hexadecimal, one encoding per value.
///
/// Spec: RFC 4648, section 8, with lower-case letters only.
public enum Hex {
    /// Two lower-case digits a byte, most significant first.
    public static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for index in bytes.indices {
            text.append(digit(bytes[index] >> 4))
            text.append(digit(bytes[index] & 15))
        }
        return text
    }

    /// Two lower-case digits a byte, most significant first.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: odd length, or a character other than `0-9a-f`.
    public static func decode(_ text: Span<UInt8>) throws(CanonicalCodingError) -> [UInt8] {
        guard text.count.isMultiple(of: 2) else { throw .invalidLength(text.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var index = 0
        while index < text.count {
            guard let high = value(of: text[index]) else { throw .invalidCharacter(offset: index) }
            guard let low = value(of: text[index + 1]) else { throw .invalidCharacter(offset: index + 1) }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: odd length, or a character other than `0-9a-f`.
    public static func decode(_ text: [UInt8]) throws(CanonicalCodingError) -> [UInt8] {
        try decode(text.span)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
