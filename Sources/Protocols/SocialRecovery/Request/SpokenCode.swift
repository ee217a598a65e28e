import Crypto
import SecretSharing

/// What the person on the new device reads to the guardian over the telephone: three words and two digits, 36 bits.
///
/// The request commits to the device's number before the guardian draws theirs, and the device reveals it after. So
/// neither can choose the code, and a stranger's request gives the stranger's code: one guess in 10^11.
public struct SpokenCode: Hashable, Sendable {
    /// The length of each side's number in bytes.
    public static let numberByteCount = 32
    /// Lower case, one space between, ASCII: `word word word 42`.
    public let text: [UInt8]

    /// The code of a request and both numbers.
    ///
    /// - Parameters:
    ///   - request: the request's hash, 32 bytes.
    ///   - guardian: the guardian's 32 bytes.
    ///   - device: the 32 bytes that the device revealed.
    public init(request: [UInt8], guardian: [UInt8], device: [UInt8]) {
        let digest = Array(
            SHA256.hash(data: Array("signet-spoken-code/v1\n".utf8) + request + guardian + device))
        var bits = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var parts: [[UInt8]] = []
        for _ in 0..<3 {
            parts.append(WordList.word(UInt16(bits & 1023)))
            bits >>= 10
        }
        let number = UInt8(bits % 100)
        parts.append([UInt8(ascii: "0") + number / 10, UInt8(ascii: "0") + number % 10])
        text = Array(parts.joined(separator: [UInt8(ascii: " ")]))
    }

    /// Whether a person typed this code: any case, any spaces between.
    public func matches(typed: [UInt8]) -> Bool {
        let parts = typed.split(whereSeparator: { $0 == 0x20 || (0x09...0x0D).contains($0) })
        let lower = parts.map { $0.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
        return Array(lower.joined(separator: [UInt8(ascii: " ")])) == text
    }
}
