// SPDX-License-Identifier: Apache-2.0

/// 32 bytes held flat, as four big-endian numbers: the first byte is the most significant.
struct Words32: Hashable, Sendable, BitwiseCopyable {
    /// How many bytes they are.
    static let byteCount = 32
    /// How many bits they are.
    static let bitCount = 256

    private let word0, word1, word2, word3: UInt64

    /// Nil unless there are exactly 32 bytes.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self = bytes.withUnsafeBytes { Words32(loading: $0, at: 0) }
    }

    /// Nil unless there are exactly 32 bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self = withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { buffer in
            buffer.copyBytes(from: bytes)
            return Words32(loading: UnsafeRawBufferPointer(buffer), at: 0)
        }
    }

    /// The 32 bytes from `offset` on; the caller has checked that they exist.
    init(loading source: UnsafeRawBufferPointer, at offset: Int) {
        word0 = UInt64(bigEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        word1 = UInt64(bigEndian: source.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
        word2 = UInt64(bigEndian: source.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
        word3 = UInt64(bigEndian: source.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
    }

    /// Writes the 32 bytes from `offset` on; the caller has checked that there is room.
    func store(to target: UnsafeMutableRawBufferPointer, at offset: Int) {
        target.storeBytes(of: word0.bigEndian, toByteOffset: offset, as: UInt64.self)
        target.storeBytes(of: word1.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
        target.storeBytes(of: word2.bigEndian, toByteOffset: offset + 16, as: UInt64.self)
        target.storeBytes(of: word3.bigEndian, toByteOffset: offset + 24, as: UInt64.self)
    }

    /// The 32 bytes.
    var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            store(to: UnsafeMutableRawBufferPointer(buffer), at: 0)
            count = Self.byteCount
        }
    }

    /// Appends the 32 bytes.
    func append(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { buffer in
            store(to: buffer, at: 0)
            bytes.append(contentsOf: buffer)
        }
    }
}

extension Words32 {
    /// Bit 0 to 255, counted from the most significant bit of the first byte.
    func bit(_ index: UInt8) -> Bool {
        let word =
            switch index >> 6 {
            case 0: word0
            case 1: word1
            case 2: word2
            default: word3
            }
        return word >> UInt64(63 - index & 63) & 1 == 1
    }

    /// The first bit in which the two differ, 256 when they are equal.
    func firstDifference(from other: Words32) -> Int {
        if word0 != other.word0 { return (word0 ^ other.word0).leadingZeroBitCount }
        if word1 != other.word1 { return 64 + (word1 ^ other.word1).leadingZeroBitCount }
        if word2 != other.word2 { return 128 + (word2 ^ other.word2).leadingZeroBitCount }
        return 192 + (word3 ^ other.word3).leadingZeroBitCount
    }

    /// Whether these bytes come first, compared from the first byte on.
    func precedes(_ other: Words32) -> Bool {
        if word0 != other.word0 { return word0 < other.word0 }
        if word1 != other.word1 { return word1 < other.word1 }
        if word2 != other.word2 { return word2 < other.word2 }
        return word3 < other.word3
    }
}
