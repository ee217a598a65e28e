// SPDX-License-Identifier: Apache-2.0

/// Limits on the CBOR that the reader accepts.
public struct CBORLimits: Hashable, Sendable {
    /// The most bytes; longer input is refused unread.
    public let byteCount: Int
    /// The deepest nesting of arrays, maps and tags; the outermost counts as one.
    public let depth: Int

    /// Limits. A depth above 64 counts as 64, because the reader is recursive and its stack grows with the depth.
    public init(byteCount: Int, depth: Int) {
        self.byteCount = byteCount
        self.depth = min(depth, 64)
    }

    /// 262,144 bytes and a depth of 16: enough for a document with a portrait, and for what encloses it.
    public static let document = CBORLimits(byteCount: 262_144, depth: 16)
}

/// Why the reader refuses bytes. The sender has to correct them; a retry cannot help.
public enum CBORFault: Error, Hashable, Sendable {
    /// There are more bytes than the limit allows.
    case tooLong(Int)
    /// Arrays, maps and tags are nested deeper than the limit allows.
    case tooDeep
    /// The bytes end before the item does.
    case truncated
    /// This many bytes follow the item.
    case trailing(Int)
    /// A number, length or tag takes more bytes than it needs, or an item has indefinite length.
    case notShortest(offset: Int)
    /// An item is a floating-point number or a simple value other than `false`, `true` and `null`, or its head is
    /// reserved.
    case unsupported(offset: Int)
    /// A text is not valid UTF-8.
    case notUTF8
    /// A key of a map is neither a whole number of 64 bits nor a text.
    case keyKind
    /// A map has one key twice.
    case duplicateKey
}
