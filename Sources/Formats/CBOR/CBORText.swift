// SPDX-License-Identifier: Apache-2.0

/// A text string as its UTF-8 bytes.
///
/// Two texts are equal when their bytes are equal: neither Unicode normalisation nor case folding is applied.
///
/// Spec: RFC 8949, section 3.1, major type 3.
public struct CBORText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The bytes, which are valid UTF-8.
    public let utf8: [UInt8]

    /// The text of these bytes, or nil if they are not valid UTF-8.
    public init?(utf8 bytes: [UInt8]) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { return nil }
        utf8 = bytes
    }

    /// The bytes of a literal.
    public init(stringLiteral value: StaticString) { utf8 = value.withUTF8Buffer { Array($0) } }

    /// The bytes of a string.
    public init(_ string: String) { utf8 = Array(string.utf8) }
}

extension CBORText: CustomStringConvertible {
    /// The text as a string.
    public var description: String { String(decoding: utf8, as: UTF8.self) }
}
