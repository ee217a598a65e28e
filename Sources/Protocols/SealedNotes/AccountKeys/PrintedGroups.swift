// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Secrets as a person prints and types them, in groups of five letters and digits.
///
/// The bits, and zero bits behind them, as characters of `0123456789ABCDEFGHJKMNPQRSTVWXYZ`, four a group, each group closed by a
/// fifth that checks it: over the field of 32 elements with x⁵ = x² + 1, the sum of x, x², x³ and x⁴ times the four, and the
/// group's number from 0. One wrong character, two neighbours or two groups swapped are found, and the group is named.
/// Groups are joined by `-`.
struct PrintedGroups {
    /// Of the secret.
    let byteCount: Int
    /// Enough for the bytes: 20 bits each.
    let count: Int

    private static let groupByteCount = 5
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The printed form, ASCII.
    func text(of secret: SymmetricKey) -> [UInt8] {
        let values = values(secret)
        var text: [UInt8] = []
        for group in 0..<count {
            let four = values[group * 4..<group * 4 + 4]
            if group > 0 { text.append(UInt8(ascii: "-")) }
            text += four.map { Self.alphabet[Int($0)] }
            text.append(Self.alphabet[Int(Self.check(four, group: group))])
        }
        return text
    }

    /// Takes what a person typed: small letters, `O` for 0, `I` and `L` for 1; spaces and `-` are ignored.
    ///
    /// - Throws: ``PrintedKeyError``.
    func secret(typed text: [UInt8]) throws(PrintedKeyError) -> SymmetricKey {
        var values: [UInt8] = []
        for (offset, character) in text.enumerated() where !Array(" -\n\r\t".utf8).contains(character) {
            guard let value = Self.value(of: character) else { throw .invalidCharacter(offset: offset) }
            values.append(value)
        }
        guard values.count == count * Self.groupByteCount else { throw .wrongLength(values.count) }
        var content: [UInt8] = []
        for group in 0..<count {
            let five = values[group * 5..<group * 5 + 5]
            guard Self.check(five.prefix(4), group: group) == five.last else { throw .wrongGroup(group + 1) }
            content += five.prefix(4)
        }
        let secret = secret(content)
        // One spelling: what is behind the bits is zero.
        guard self.values(secret) == content else { throw .wrongGroup(count) }
        return secret
    }

    private func values(_ secret: SymmetricKey) -> [UInt8] {
        var values: [UInt8] = []
        var (bits, bitCount) = (UInt32(0), 0)
        for byte in secret.withUnsafeBytes({ Array($0) }) + [0, 0] {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 5 && values.count < count * 4 {
                bitCount -= 5
                values.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)) & 31)
            }
        }
        return values
    }

    private func secret(_ values: [UInt8]) -> SymmetricKey {
        var bytes: [UInt8] = []
        var (bits, bitCount) = (UInt32(0), 0)
        for value in values {
            bits = bits << 5 | UInt32(value)
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        return SymmetricKey(data: bytes.prefix(byteCount))
    }

    private static func check(_ four: ArraySlice<UInt8>, group: Int) -> UInt8 {
        // Horner: ((((c4·x + c3)·x + c2)·x + c1)·x
        four.reversed().reduce(0) { double($0 ^ $1) } ^ UInt8(truncatingIfNeeded: group)
    }

    /// Times x in the field.
    private static func double(_ value: UInt8) -> UInt8 { value & 16 == 0 ? value << 1 : (value << 1) ^ 0x25 }

    private static func value(of character: UInt8) -> UInt8? {
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 32 : character
        let meant =
            switch upper {
            case UInt8(ascii: "O"): UInt8(ascii: "0")
            case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
            default: upper
            }
        return alphabet.firstIndex(of: meant).map { UInt8(truncatingIfNeeded: $0) }
    }
}

/// Why a typed key is none. A retry with what was printed helps.
public enum PrintedKeyError: Error, Hashable, Sendable {
    /// A character that no key has, at this offset.
    case invalidCharacter(offset: Int)
    /// This many characters, instead of five for each group.
    case wrongLength(Int)
    /// The group with this number, from 1, has a wrong character.
    case wrongGroup(Int)
}
