// SPDX-License-Identifier: Apache-2.0

/// Unsigned decimal numbers: digits only, no sign, no leading zero, at most 2^64 - 1.
///
/// Foundation and the standard library read `+12` and `012`; protocol text must not.
///
/// Spec: C2SP tlog-checkpoint ("ASCII decimal with no leading zeroes"), used throughout the tlog formats.
public enum Decimal {
    /// The digits of `value`, 1 to 20 bytes.
    public static func encode(_ value: UInt64) -> [UInt8] {
        var digits: [UInt8] = []
        var rest = value
        repeat {
            digits.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        digits.reverse()
        return digits
    }

    /// The number whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: empty, not a digit, a leading zero, or beyond 64 bits.
    public static func decode(_ text: Span<UInt8>) throws(CanonicalCodingError) -> UInt64 {
        guard text.count > 0 else { throw .invalidLength(0) }
        var value: UInt64 = 0
        for index in text.indices {
            let character = text[index]
            guard character >= UInt8(ascii: "0") && character <= UInt8(ascii: "9") else {
                throw .invalidCharacter(offset: index)
            }
            let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, stillTooLarge) = product.addingReportingOverflow(
                UInt64(character - UInt8(ascii: "0")))
            guard !tooLarge && !stillTooLarge else { throw .overflow }
            value = sum
        }
        guard text.count == 1 || text[0] != UInt8(ascii: "0") else { throw .notMinimal }
        return value
    }

    /// The number whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: empty, not a digit, a leading zero, or beyond 64 bits.
    public static func decode(_ text: ArraySlice<UInt8>) throws(CanonicalCodingError) -> UInt64 {
        try decode(text.span)
    }

    /// The number whose one encoding is `text`.
    ///
    /// - Throws: ``CanonicalCodingError``: empty, not a digit, a leading zero, or beyond 64 bits.
    public static func decode(_ text: [UInt8]) throws(CanonicalCodingError) -> UInt64 {
        try decode(text.span)
    }
}
