// SPDX-License-Identifier: Apache-2.0

/// How a secret may be spelled where it leaks.
public enum CanaryEncoding: String, Hashable, Sendable, CaseIterable {
    /// The bytes.
    case raw
    /// Two bytes a unit, the low one first.
    case utf16LittleEndian = "UTF-16LE"
    /// Two bytes a unit, the high one first.
    case utf16BigEndian = "UTF-16BE"
    /// Hexadecimal with small letters.
    case hexSmall = "hex, small"
    /// Hexadecimal with capital letters.
    case hexCapital = "hex, capital"
    /// Base64 at any of the three offsets.
    case base64
    /// Base64 with `-` and `_`, at any of the three offsets.
    case base64URL = "base64url"
    /// As in URLs: what is not a letter, digit, `-`, `.`, `_`, `~` as `%XX` in either case; forms write `+` for a space.
    case percent
    /// Every byte as `%XX`, in either case.
    case percentAll = "percent, all"
    /// As in JSON: `"` and `\` escaped, `/` or not, other than ASCII as it is or as `\uXXXX` in either case.
    case json = "JSON"
    /// Every unit as `\uXXXX`, in either case.
    case jsonAll = "JSON, all"
    /// Numbers with commas, as programs print lists of bytes.
    case decimals

    /// All spellings of some bytes of a secret.
    func spellings(of bytes: [UInt8]) -> [[UInt8]] {
        switch self {
        case .raw: [bytes]
        case .utf16LittleEndian: units(bytes) { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        case .utf16BigEndian: units(bytes) { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        case .hexSmall: [bytes.flatMap { hex($0, Self.small) }]
        case .hexCapital: [bytes.flatMap { hex($0, Self.capital) }]
        case .base64: (0..<3).map { base64(bytes, skipping: $0, "+/") }
        case .base64URL: (0..<3).map { base64(bytes, skipping: $0, "-_") }
        case .percent: percent(bytes)
        case .percentAll:
            [Self.small, Self.capital].map { digits in bytes.flatMap { [UInt8(ascii: "%")] + hex($0, digits) } }
        case .json: json(bytes)
        case .jsonAll: [Self.small, Self.capital].flatMap { digits in units(bytes) { escaped($0, digits) } }
        case .decimals: [", ", ","].map { Array(bytes.map { String($0) }.joined(separator: $0).utf8) }
        }
    }
}

extension CanaryEncoding {
    private static let small = Array("0123456789abcdef".utf8)
    private static let capital = Array("0123456789ABCDEF".utf8)

    private func hex(_ byte: UInt8, _ digits: [UInt8]) -> [UInt8] {
        [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// A text's units of 16 bits, each spelled; nothing if the bytes are not text.
    private func units(_ bytes: [UInt8], _ spell: (UInt16) -> [UInt8]) -> [[UInt8]] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return [] }
        return [text.utf16.flatMap(spell)]
    }

    private func escaped(_ unit: UInt16, _ digits: [UInt8]) -> [UInt8] {
        Array("\\u".utf8) + hex(UInt8(unit >> 8), digits) + hex(UInt8(unit & 255), digits)
    }

    /// The characters that depend on these bytes alone, when so many bytes of a group of three stand before.
    private func base64(_ bytes: [UInt8], skipping offset: Int, _ last: String) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        let bits = ([UInt8](repeating: 0, count: offset) + bytes).flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 }
        }
        let first = (offset * 8 + 5) / 6
        return (first..<bits.count / 6).map { place in
            alphabet[Int(bits[place * 6..<place * 6 + 6].reduce(0) { $0 << 1 | $1 })]
        }
    }

    private func percent(_ bytes: [UInt8]) -> [[UInt8]] {
        let kept = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        return [Self.small, Self.capital].flatMap { digits in
            [false, true].map { isForm in
                bytes.flatMap { byte -> [UInt8] in
                    if kept.contains(byte) { return [byte] }
                    return isForm && byte == UInt8(ascii: " ")
                        ? [UInt8(ascii: "+")] : [UInt8(ascii: "%")] + hex(byte, digits)
                }
            }
        }
    }

    private func json(_ bytes: [UInt8]) -> [[UInt8]] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return [] }
        return [false, true].flatMap { escapesSlash in
            [[], Self.small, Self.capital].map { digits in
                text.unicodeScalars.flatMap { jsonScalar($0, escapesSlash, digits) }
            }
        }
    }

    /// A character as JSON has it; without digits, other than ASCII stays as it is.
    private func jsonScalar(_ scalar: Unicode.Scalar, _ escapesSlash: Bool, _ digits: [UInt8]) -> [UInt8] {
        switch scalar {
        case "\"", "\\": [0x5C] + Array(scalar.utf8)
        case "/" where escapesSlash: [0x5C, 0x2F]
        case " "..."~": Array(scalar.utf8)
        default: digits.isEmpty ? Array(scalar.utf8) : scalar.utf16.flatMap { escaped($0, digits) }
        }
    }
}
