// SPDX-License-Identifier: Apache-2.0

/// A JSON number as it is spelled: nothing is rounded.
///
/// `1`, `1.0` and `1e0` are three different values of this type.
///
/// Spec: RFC 8259, section 6.
public struct JSONNumber: Hashable, Sendable {
    /// ASCII, in the grammar of RFC 8259.
    public let text: [UInt8]

    /// A whole number.
    public init(_ value: Int64) { text = Array(String(value).utf8) }

    /// A spelling that the parser has checked.
    init(checked text: [UInt8]) { self.text = text }

    /// The whole number that is spelled by digits alone, with at most a minus sign before them; nil for `1.0`, `1e0`, `-0`
    /// and for everything outside 64 bits.
    public var integer: Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for digit in isNegative ? text.dropFirst() : text[...] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let step = Int64(digit - UInt8(ascii: "0"))
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooLarge) = product.addingReportingOverflow(isNegative ? -step : step)
            guard !isTooLarge, !isStillTooLarge else { return nil }
            value = sum
        }
        return isNegative && value == 0 ? nil : value
    }
}
