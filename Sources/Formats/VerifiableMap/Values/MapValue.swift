// SPDX-License-Identifier: Apache-2.0

/// What the map holds for a key: 32 bytes.
public struct MapValue: Hashable, Sendable, BitwiseCopyable {
    /// How many bytes a value has.
    public static let byteCount = 32

    let words: Words32

    /// The value with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: Span<UInt8>) {
        guard let words = Words32(bytes) else { return nil }
        self.words = words
    }

    /// The value with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let words = Words32(bytes) else { return nil }
        self.words = words
    }

    init(words: Words32) { self.words = words }

    /// The 32 bytes.
    public var bytes: [UInt8] { words.bytes }
}
