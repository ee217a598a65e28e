import Crypto

/// The key that a person prints and puts away: 256 random bits, as 13 groups of five letters and digits.
///
/// Printed form: the 256 bits and four zero bits as 52 characters of `0123456789ABCDEFGHJKMNPQRSTVWXYZ`, four a group,
/// each group closed by a fifth that checks it: over the field of 32 elements with x⁵ = x² + 1, the sum of x, x², x³ and x⁴
/// times the four, and the group's number from 0. One wrong character, two neighbours or two groups swapped are found,
/// and the group is named. Groups are joined by `-`.
///
/// Security: wiped when the last copy goes; prints nothing by itself. Whoever has the printed key and the account's
/// row at the server opens everything.
public struct RecoveryKey: Sendable {
    /// Groups of five characters.
    public static let groupCount = 13
    private static let groupByteCount = 5
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private let secret: SymmetricKey

    /// A new key from the system's random source.
    public static func generate() -> RecoveryKey { RecoveryKey(secret: SymmetricKey(size: .bits256)) }

    init(secret: SymmetricKey) { self.secret = secret }

    /// Under which the account master key is sealed.
    var wrapKey: SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, info: Array("signet-recovery-wrap/v1".utf8), outputByteCount: 32)
    }

    /// Lends the printed form, ASCII.
    ///
    /// - Throws: whatever `use` throws.
    ///
    /// Security: whatever copies the text must protect it.
    public func withPrinted<Result, Failure: Error>(
        _ use: ([UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let values = Self.values(secret)
        var text: [UInt8] = []
        for group in 0..<Self.groupCount {
            let four = values[group * 4..<group * 4 + 4]
            if group > 0 { text.append(UInt8(ascii: "-")) }
            text += four.map { Self.alphabet[Int($0)] }
            text.append(Self.alphabet[Int(Self.check(four, group: group))])
        }
        return try use(text)
    }

    /// Takes what a person typed: small letters, `O` for 0, `I` and `L` for 1; spaces and `-` are ignored.
    ///
    /// - Throws: ``RecoveryKeyError``.
    public init(typed text: [UInt8]) throws(RecoveryKeyError) {
        var values: [UInt8] = []
        for (offset, character) in text.enumerated() where !Array(" -\n\r\t".utf8).contains(character) {
            guard let value = Self.value(of: character) else { throw .invalidCharacter(offset: offset) }
            values.append(value)
        }
        guard values.count == Self.groupCount * Self.groupByteCount else { throw .wrongLength(values.count) }
        var content: [UInt8] = []
        for group in 0..<Self.groupCount {
            let five = values[group * 5..<group * 5 + 5]
            guard Self.check(five.prefix(4), group: group) == five.last else { throw .wrongGroup(group + 1) }
            content += five.prefix(4)
        }
        guard let last = content.last, last & 15 == 0 else { throw .wrongGroup(Self.groupCount) }
        secret = Self.secret(content)
    }

    private static func values(_ secret: SymmetricKey) -> [UInt8] {
        var values: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for byte in secret.withUnsafeBytes({ Array($0) }) + [0] {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 && values.count < groupCount * 4 {
                count -= 5
                values.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)) & 31)
            }
        }
        return values
    }

    private static func secret(_ values: [UInt8]) -> SymmetricKey {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for value in values {
            bits = bits << 5 | UInt32(value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return SymmetricKey(data: bytes.prefix(32))
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

/// Why a typed recovery key is none. A retry with what was printed helps.
public enum RecoveryKeyError: Error, Hashable, Sendable {
    /// A character that no key has, at this offset.
    case invalidCharacter(offset: Int)
    /// So many characters, instead of 65.
    case wrongLength(Int)
    /// The group with this number, from 1, has a wrong character.
    case wrongGroup(Int)
}
