// SPDX-License-Identifier: Apache-2.0

/// Writes what ``ByteReader`` reads. Integers are big-endian.
public struct ByteWriter: Sendable {
    /// What has been written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer.
    public init() {}

    /// Appends raw bytes, without a length.
    public mutating func write(_ bytes: some Sequence<UInt8>) { self.bytes.append(contentsOf: bytes) }

    /// Appends the UTF-8 bytes of a literal, without a length.
    public mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends one byte.
    public mutating func write(_ value: UInt8) { bytes.append(value) }

    /// Appends two bytes, big-endian.
    public mutating func write(_ value: UInt16) { write(integer: UInt64(value), byteCount: 2) }

    /// Appends four bytes, big-endian.
    public mutating func write(_ value: UInt32) { write(integer: UInt64(value), byteCount: 4) }

    /// Appends eight bytes, big-endian.
    public mutating func write(_ value: UInt64) { write(integer: value, byteCount: 8) }

    private mutating func write(integer: UInt64, byteCount: Int) {
        for shift in stride(from: (byteCount - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: integer >> UInt64(shift)))
        }
    }
}
