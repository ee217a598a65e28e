// SPDX-License-Identifier: Apache-2.0

/// How much CBOR is read.
public struct CBORLimits: Hashable, Sendable {
    /// More bytes are refused unread.
    public let byteCount: Int
    /// Arrays, maps and tags within each other, the outermost counted.
    public let depth: Int

    /// Limits; a depth beyond 64 counts as 64, because the reader's own stack grows with it.
    public init(byteCount: Int, depth: Int) {
        self.byteCount = byteCount
        self.depth = min(depth, 64)
    }

    /// 262,144 bytes, 16 deep: a document with a portrait, and what encloses it.
    public static let document = CBORLimits(byteCount: 262_144, depth: 16)
}

/// Why bytes are no CBOR that is read here. The sender has to correct them; a retry cannot help.
public enum CBORFault: Error, Hashable, Sendable {
    /// More bytes than the limit.
    case tooLong(Int)
    /// Arrays, maps and tags deeper within each other than the limit.
    case tooDeep
    /// The bytes end before the item does.
    case truncated
    /// Bytes after the item.
    case trailing(Int)
    /// A number, length or tag in more bytes than it needs, or an item of indefinite length.
    case notShortest(offset: Int)
    /// A floating-point number, a simple value other than `false`, `true` and `null`, or a head that is reserved.
    case unsupported(offset: Int)
    /// Text that is not valid UTF-8.
    case notUTF8
    /// A key that is neither a whole number nor text.
    case keyKind
    /// A key that stands twice in one map.
    case duplicateKey
}
