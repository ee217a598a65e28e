// SPDX-License-Identifier: Apache-2.0

/// Unsigned variable-length integers: 7 bits a byte, least significant first, minimal, at most 9 bytes.
///
/// Spec: multiformats/unsigned-varint ("Strict": at most 9 bytes, 63 bits; non-minimal forms refused).
public enum Varint {
    /// The largest value, 2^63 - 1.
    public static let maximum = UInt64.max >> 1

    /// The minimal encoding of `value`, 1 to 9 bytes.
    ///
    /// - Throws: ``CanonicalCodingError/overflow``: `value` is above ``maximum``.
    public static func encode(_ value: UInt64) throws(CanonicalCodingError) -> [UInt8] {
        guard value <= maximum else { throw .overflow }
        var bytes: [UInt8] = []
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
        return bytes
    }

    /// Reads one number from the reader's position.
    ///
    /// - Throws: ``CanonicalCodingError``: cut short, not minimal, or longer than 9 bytes.
    public static func decode(from reader: inout ByteReader) throws(CanonicalCodingError) -> UInt64 {
        var value: UInt64 = 0
        for position in 0..<9 {
            let byte = try reader.uint8()
            value |= UInt64(byte & 0x7F) << UInt64(7 * position)
            if byte & 0x80 == 0 {
                guard byte != 0 || position == 0 else { throw .notMinimal }
                return value
            }
        }
        throw .overflow
    }
}
