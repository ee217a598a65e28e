// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// How the seed's app writes bytes into text fields: base64 with padding, then `%XX` for `+`, `/` and `=`.
///
/// Spec: RFC 4648, section 4; RFC 3986, section 2.1, with upper-case digits.
public enum PercentBase64 {
    /// The text: letters, digits and `%2B`, `%2F`, `%3D`.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        Base64.encode(bytes).flatMap { character -> [UInt8] in
            switch character {
            case UInt8(ascii: "+"): Array("%2B".utf8)
            case UInt8(ascii: "/"): Array("%2F".utf8)
            case UInt8(ascii: "="): Array("%3D".utf8)
            default: [character]
            }
        }
    }

    /// The bytes that `text` stands for.
    ///
    /// - Parameter reading: ``ReadingMode/strict`` takes what ``encode(_:)`` prints. ``ReadingMode/compatible`` takes
    ///   what the app takes: anything percent-encoded, either case of digits, and every character that is not of the
    ///   base64 alphabet ignored.
    /// - Throws: `CanonicalCodingError`: the text stands for no bytes in this reading.
    public static func decode(
        _ text: [UInt8], reading: ReadingMode = .strict
    ) throws(CanonicalCodingError) -> [UInt8] {
        let unescaped = try unescape(text)
        switch reading {
        case .strict:
            let bytes = try Base64.decode(unescaped)
            guard encode(bytes) == text else { throw .notMinimal }
            return bytes
        case .compatible: return try Base64.decode(unescaped.filter(isBase64))
        }
    }

    private static func unescape(_ text: [UInt8]) throws(CanonicalCodingError) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "%") else {
                plain.append(text[index])
                index += 1
                continue
            }
            guard index + 2 < text.count, let high = digit(text[index + 1]), let low = digit(text[index + 2])
            else { throw .invalidCharacter(offset: index) }
            plain.append(high << 4 | low)
            index += 3
        }
        return plain
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func isBase64(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
