// SPDX-License-Identifier: Apache-2.0

import SecretSharing

/// The words on one screen for the person at the other to type: three words and two digits, 36 bits.
///
/// Each screen shows other words, so that nobody can confirm without a look at the other's screen. Whoever stands between two devices has
/// two meetings with two secrets. The host of each has fixed its number before it sees the guest's, and the guest sends theirs before the host
/// opens; so the one between cannot look for a number with which the words of both agree, and has one guess in 10^11.
public struct MeetingWords: Hashable, Sendable {
    /// Lower case, one space between, ASCII: `word word word 42`.
    public let text: [UInt8]

    /// The words of 64 bits, big-endian: words from the lowest bits, ten each, then the digits.
    init(_ bytes: [UInt8]) {
        var bits = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var parts: [[UInt8]] = []
        for _ in 0..<3 {
            parts.append(WordList.word(UInt16(bits & 1023)))
            bits >>= 10
        }
        let digits = UInt8(bits % 100)
        parts.append([UInt8(ascii: "0") + digits / 10, UInt8(ascii: "0") + digits % 10])
        text = Array(parts.joined(separator: [UInt8(ascii: " ")]))
    }

    /// Whether a person typed these words: any case, any spaces, hyphens or commas between.
    func matches(typed: [UInt8]) -> Bool {
        Array(Self.parts(typed).joined(separator: [UInt8(ascii: " ")])) == text
    }

    /// Whether the typed text can be such words: three of the list and two digits. Anything else is a typing error and does not count as
    /// the one try.
    public static func isWhole(typed: [UInt8]) -> Bool {
        let parts = parts(typed)
        guard parts.count == 4, let digits = parts.last else { return false }
        return parts.dropLast().allSatisfy(WordList.contains)
            && digits.count == 2 && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func parts(_ typed: [UInt8]) -> [[UInt8]] {
        typed.split { $0 == 0x20 || (0x09...0x0D).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ",") }
            .map { $0.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
    }
}
