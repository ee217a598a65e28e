// SPDX-License-Identifier: Apache-2.0

/// Base64 with padding, one encoding per value.
///
/// Foundation's decoder takes non-zero pad bits, skipped characters and line breaks; two texts then
/// stand for one value, and a signature over the value says nothing about the text. This one takes
/// exactly what ``encode(_:)`` prints.
///
/// Spec: RFC 4648, section 4, with the strictness of section 3.5.
public enum Base64 {
    /// The padded text of `bytes`: 4 characters for each started group of 3 bytes.
    public static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        SixBitCode.standard.encode(bytes, padded: true)
    }

    /// The padded text of `bytes`.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: the text is not canonical. A retry cannot help.
    public static func decode(_ text: Span<UInt8>) throws(CanonicalCodingError) -> [UInt8] {
        try SixBitCode.standard.decode(text, padded: true)
    }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: the text is not canonical. A retry cannot help.
    public static func decode(_ text: ArraySlice<UInt8>) throws(CanonicalCodingError) -> [UInt8] {
        try decode(text.span)
    }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: the text is not canonical. A retry cannot help.
    public static func decode(_ text: [UInt8]) throws(CanonicalCodingError) -> [UInt8] {
        try decode(text.span)
    }
}

/// Base64 with the URL-safe alphabet and no padding, one encoding per value.
///
/// Spec: RFC 4648, section 5, unpadded as in RFC 7515, section 2.
public enum Base64URL {
    /// The unpadded text of `bytes`.
    public static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        SixBitCode.urlSafe.encode(bytes, padded: false)
    }

    /// The unpadded text of `bytes`.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: the text is not canonical. A retry cannot help.
    public static func decode(_ text: Span<UInt8>) throws(CanonicalCodingError) -> [UInt8] {
        try SixBitCode.urlSafe.decode(text, padded: false)
    }

    /// The bytes whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: the text is not canonical. A retry cannot help.
    public static func decode(_ text: [UInt8]) throws(CanonicalCodingError) -> [UInt8] {
        try decode(text.span)
    }
}

/// The alphabet shared by both: 62 letters and digits and two characters that differ.
struct SixBitCode {
    private static let none: UInt8 = 0xFF

    let character62: UInt8
    let character63: UInt8
    /// For every character what it stands for, ``none`` if nothing.
    private let values: [UInt8]

    init(character62: UInt8, character63: UInt8) {
        self.character62 = character62
        self.character63 = character63
        var values = [UInt8](repeating: Self.none, count: 256)
        for value: UInt8 in 0..<64 {
            values[Int(Self.character(for: value, character62, character63))] = value
        }
        self.values = values
    }

    static let standard = SixBitCode(character62: UInt8(ascii: "+"), character63: UInt8(ascii: "/"))
    static let urlSafe = SixBitCode(character62: UInt8(ascii: "-"), character63: UInt8(ascii: "_"))
    static let pad = UInt8(ascii: "=")

    func encode(_ bytes: Span<UInt8>, padded: Bool) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(character(for: UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)) & 63))
            }
        }
        if bitCount > 0 {
            text.append(character(for: UInt8(truncatingIfNeeded: bits << UInt32(6 - bitCount)) & 63))
        }
        while padded && !text.count.isMultiple(of: 4) { text.append(Self.pad) }
        return text
    }

    func decode(_ text: Span<UInt8>, padded: Bool) throws(CanonicalCodingError) -> [UInt8] {
        let count = padded ? try countWithoutPadding(text) : text.count
        guard count % 4 != 1 else { throw .invalidLength(text.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 4 * 3 + 2)
        let start = appendGroups(of: text, count, to: &bytes)
        var bits: UInt32 = 0
        var bitCount = 0
        for index in start..<count {
            let value = values[Int(text[index])]
            guard value != Self.none else { throw .invalidCharacter(offset: index) }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        guard bits & (1 << UInt32(bitCount) - 1) == 0 else { throw .nonZeroTrailingBits }
        return bytes
    }

    /// Reads groups of four characters up to the first that has another character or fewer.
    ///
    /// - Returns: where that one begins.
    private func appendGroups(of text: Span<UInt8>, _ count: Int, to bytes: inout [UInt8]) -> Int {
        var index = 0
        while index + 4 <= count {
            let (first, second) = (values[Int(text[index])], values[Int(text[index + 1])])
            let (third, fourth) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
            guard first | second | third | fourth < 64 else { break }
            bytes.append(first << 2 | second >> 4)
            bytes.append(second << 4 | third >> 2)
            bytes.append(third << 6 | fourth)
            index += 4
        }
        return index
    }

    private func countWithoutPadding(_ text: Span<UInt8>) throws(CanonicalCodingError) -> Int {
        guard text.count.isMultiple(of: 4) else { throw .invalidPadding }
        var count = text.count
        while count > 0 && text.count - count < 2 && text[count - 1] == Self.pad { count -= 1 }
        return count
    }

    private func character(for value: UInt8) -> UInt8 { Self.character(for: value, character62, character63) }

    private static func character(for value: UInt8, _ character62: UInt8, _ character63: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: character62
        default: character63
        }
    }
}
