// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// The first 80 bytes of a segment file.
///
/// ```
/// magic        8 bytes   "SIGNETs1"
/// first index  8 bytes   big-endian; the same number as in the file's name
/// nonce       32 bytes   random; goes into the checksum of every frame
/// checksum    32 bytes   SHA-256 of everything above
/// ```
struct SegmentHeader: Sendable, Equatable {
    static let byteCount = 80
    static let nonceByteCount = 32
    private static let magic: StaticString = "SIGNETs1"

    let firstIndex: UInt64
    let nonce: [UInt8]

    /// The header of a new segment.
    static func random(firstIndex: UInt64) -> SegmentHeader {
        var generator = SystemRandomNumberGenerator()
        let nonce = (0..<nonceByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return SegmentHeader(firstIndex: firstIndex, nonce: nonce)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.magic)
        writer.write(firstIndex)
        writer.write(nonce)
        return writer.bytes + Checksum.of(writer.bytes[...])
    }
}

extension SegmentHeader {
    /// The header in `bytes`; nil unless they are exactly one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        var reader = ByteReader(bytes.dropFirst(8))
        guard let first = try? reader.uint64(), let nonce = try? reader.bytes(Self.nonceByteCount) else { return nil }
        self.init(firstIndex: first, nonce: [UInt8](nonce))
        guard encoded == bytes else { return nil }
    }
}
