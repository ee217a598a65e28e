// SPDX-License-Identifier: Apache-2.0

/// Base58 with the Bitcoin alphabet, one encoding per value: a leading `1` stands for a zero byte.
///
/// The conversion is quadratic, so the length is bounded before any work.
///
/// Spec: draft-msporny-base58-03, sections 2 to 4.
public enum Base58 {
    /// The longest input either direction takes, in bytes: enough for any multibase-encoded public key.
    public static let maximumByteCount = 4096

    private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)

    /// The text of `bytes`.
    ///
    /// - Throws: ``CanonicalCodingError/invalidLength(_:)``: more than ``maximumByteCount`` bytes.
    public static func encode(_ bytes: [UInt8]) throws(CanonicalCodingError) -> [UInt8] {
        guard bytes.count <= maximumByteCount else { throw .invalidLength(bytes.count) }
        let zeros = bytes.prefix { $0 == 0 }.count
        let digits = convert(bytes.dropFirst(zeros), from: 256, to: 58)
        return Array(repeating: alphabet[0], count: zeros) + digits.map { alphabet[Int($0)] }
    }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: a character outside the alphabet, or a text too long.
    public static func decode(_ text: [UInt8]) throws(CanonicalCodingError) -> [UInt8] {
        guard text.count <= maximumByteCount else { throw .invalidLength(text.count) }
        var digits: [UInt8] = []
        digits.reserveCapacity(text.count)
        for (offset, character) in text.enumerated() {
            guard let digit = alphabet.firstIndex(of: character) else {
                throw .invalidCharacter(offset: offset)
            }
            digits.append(UInt8(digit))
        }
        let zeros = digits.prefix { $0 == 0 }.count
        return Array(repeating: 0, count: zeros) + convert(digits.dropFirst(zeros), from: 58, to: 256)
    }

    /// The digits of a big-endian number, which has no leading zero, in another base.
    private static func convert(_ digits: ArraySlice<UInt8>, from: UInt32, to: UInt32) -> [UInt8] {
        var result: [UInt8] = []  // little-endian while it grows
        for digit in digits {
            var carry = UInt32(digit)
            for index in result.indices {
                carry += UInt32(result[index]) * from
                result[index] = UInt8(carry % to)
                carry /= to
            }
            while carry > 0 {
                result.append(UInt8(carry % to))
                carry /= to
            }
        }
        result.reverse()
        return result
    }
}
