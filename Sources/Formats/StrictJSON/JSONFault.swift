// SPDX-License-Identifier: Apache-2.0

/// How much JSON is read.
public struct JSONLimits: Hashable, Sendable {
    /// More bytes are refused unread.
    public let byteCount: Int
    /// Arrays and objects within each other, the outermost counted.
    public let depth: Int

    /// Limits; a depth beyond 64 counts as 64, because the parser's own stack grows with it.
    public init(byteCount: Int, depth: Int) {
        self.byteCount = byteCount
        self.depth = min(depth, 64)
    }

    /// 65,536 bytes, 16 deep: what a token of a credential may need.
    public static let token = JSONLimits(byteCount: 65_536, depth: 16)
}

/// Why bytes are not JSON that this parser accepts. The sender has to correct them; a retry cannot help.
public enum JSONFault: Error, Hashable, Sendable {
    /// More bytes than the limit.
    case tooLong(Int)
    /// Arrays and objects deeper within each other than the limit.
    case tooDeep
    /// Not valid UTF-8, or a byte order mark before the text.
    case notUTF8
    /// A name that stands twice in one object.
    case duplicateMember
    /// What stands at this offset does not belong to the grammar; the end of the text, if it ends too early.
    case syntax(offset: Int)
    /// An escape of half a surrogate pair, which is not a character.
    case loneSurrogate(offset: Int)
}
