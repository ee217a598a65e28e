// SPDX-License-Identifier: Apache-2.0

/// A node of the trie: 32 bytes of SHA-256, held flat. The topmost one is the map's root.
///
/// A leaf hashes 64 bytes and an inner node 65, so that neither can pass for the other.
///
/// Spec: rsc.io/tmp/mpt.
public struct MapHash: Hashable, Sendable, BitwiseCopyable {
    /// How many bytes a hash has.
    public static let byteCount = 32

    /// The root of a map without entries: SHA-256 of nothing.
    public static let emptyTrie = sha256(UnsafeRawBufferPointer(start: nil, count: 0))

    let words: Words32

    /// The hash with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: Span<UInt8>) {
        guard let words = Words32(bytes) else { return nil }
        self.words = words
    }

    /// The hash with these bytes; nil unless there are exactly 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let words = Words32(bytes) else { return nil }
        self.words = words
    }

    init(words: Words32) { self.words = words }

    /// The 32 bytes.
    public var bytes: [UInt8] { words.bytes }
}

extension MapHash {
    /// The hash of a leaf: `SHA-256(key || value)`.
    static func leaf(_ entry: MapEntry) -> MapHash {
        withUnsafeTemporaryAllocation(byteCount: MapEntry.byteCount, alignment: 8) { buffer in
            entry.key.words.store(to: buffer, at: 0)
            entry.value.words.store(to: buffer, at: Words32.byteCount)
            return sha256(UnsafeRawBufferPointer(buffer))
        }
    }

    /// The hash of an inner node: `SHA-256(left || right || bit)`.
    static func node(_ left: MapHash, _ right: MapHash, bit: UInt8) -> MapHash {
        withUnsafeTemporaryAllocation(byteCount: 65, alignment: 8) { buffer in
            left.words.store(to: buffer, at: 0)
            right.words.store(to: buffer, at: 32)
            buffer[64] = bit
            return sha256(UnsafeRawBufferPointer(buffer))
        }
    }
}
