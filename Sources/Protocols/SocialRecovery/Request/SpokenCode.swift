// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency
import SecretSharing

/// What the person on the new device reads to the guardian over the telephone: three words and two digits, 36 bits.
///
/// Neither side can choose it. The request commits to the device's number for every place; the guardian then draws a number
/// and signs it for that request; the device keeps it before it shows its own number of that guardian's place, and never
/// takes another. An attacker between the two has fixed all their own numbers before they learn any other number, and
/// is left with one guess in 10^11 for each guardian, however fast they compute. What one guardian was shown is worth
/// nothing at another: the guardian's name, their place and a number of its own are in each code.
public struct SpokenCode: Hashable, Sendable {
    /// The length of each side's number in bytes.
    public static let numberByteCount = 32
    /// Lower case, one space between, ASCII: `word word word 42`.
    public let text: [UInt8]

    /// The code of a request and both numbers: of SHA-256 over `signet-spoken-code/v2` LF, request hash, u8 length and
    /// guardian's handle, u8 place, the guardian's number, the device's; the first 64 bits, words from the lowest.
    ///
    /// - Parameters:
    ///   - request: the request's hash, 32 bytes.
    ///   - guardian: the guardian who is asked.
    ///   - number: the guardian's 32 bytes.
    ///   - reveal: what the device revealed to them.
    public init(request: [UInt8], guardian: Handle, number: [UInt8], reveal: SpokenReveal) {
        var writer = ByteWriter()
        writer.write("signet-spoken-code/v2\n")
        writer.write(request)
        writer.short(guardian.bytes)
        writer.write(reveal.place)
        writer.write(number)
        writer.write(reveal.number)
        var bits = Array(SHA256.hash(data: writer.bytes)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var parts: [[UInt8]] = []
        for _ in 0..<3 {
            parts.append(WordList.word(UInt16(bits & 1023)))
            bits >>= 10
        }
        let digits = UInt8(bits % 100)
        parts.append([UInt8(ascii: "0") + digits / 10, UInt8(ascii: "0") + digits % 10])
        text = Array(parts.joined(separator: [UInt8(ascii: " ")]))
    }

    /// Whether a person typed this code: any case, any spaces, hyphens or commas between.
    public func matches(typed: [UInt8]) -> Bool {
        Array(Self.parts(typed).joined(separator: [UInt8(ascii: " ")])) == text
    }

    /// Whether the typed text can be a code: three words of the list and two digits. Anything else is a typing error
    /// and does not count as a guess.
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
