// SPDX-License-Identifier: Apache-2.0

/// What the map is asked for: 32 bytes, best spread evenly, as a hash is.
///
/// The trie is at most as deep as two keys have leading bits in common: an attacker who can choose keys freely can make
/// it 256 levels deep, and no deeper.
public struct MapKey: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// How many bytes a key has.
    public static let byteCount = 32

    let words: Words32

    /// The key with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: Span<UInt8>) {
        guard let words = Words32(bytes) else { return nil }
        self.words = words
    }

    /// The key with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let words = Words32(bytes) else { return nil }
        self.words = words
    }

    init(words: Words32) { self.words = words }

    /// The 32 bytes.
    public var bytes: [UInt8] { words.bytes }

    /// Whether a key comes first, compared byte by byte from the first byte on.
    public static func < (left: MapKey, right: MapKey) -> Bool { left.words.precedes(right.words) }
}
