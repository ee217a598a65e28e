// SPDX-License-Identifier: Apache-2.0

/// A key and what the map holds for it.
public struct MapEntry: Hashable, Sendable, BitwiseCopyable {
    /// How many bytes key and value have together.
    static let byteCount = 2 * Words32.byteCount

    /// The key.
    public let key: MapKey
    /// The value.
    public let value: MapValue

    /// An entry.
    public init(key: MapKey, value: MapValue) {
        self.key = key
        self.value = value
    }
}

extension MapEntry {
    /// The 64 bytes of `source` from `offset` on, key first; the caller has checked that they exist.
    init(loading source: UnsafeRawBufferPointer, at offset: Int) {
        key = MapKey(words: Words32(loading: source, at: offset))
        value = MapValue(words: Words32(loading: source, at: offset + Words32.byteCount))
    }

    /// Appends the 64 bytes, key first.
    func append(to bytes: inout [UInt8]) {
        key.words.append(to: &bytes)
        value.words.append(to: &bytes)
    }
}
