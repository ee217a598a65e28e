// SPDX-License-Identifier: Apache-2.0

/// Reads a fixed binary or line format from front to back, and knows when it has read everything.
///
/// Nothing is allocated for a length that the input does not have. Integers are big-endian.
public struct ByteReader: Sendable {
    private let input: ArraySlice<UInt8>
    /// How many bytes have been read.
    public private(set) var offset = 0

    /// A reader at the start of `input`.
    public init(_ input: [UInt8]) { self.input = input[...] }

    /// A reader at the start of `input`.
    public init(_ input: ArraySlice<UInt8>) { self.input = input }

    /// How many bytes are left.
    public var remaining: Int { input.count - offset }

    /// The next `count` bytes.
    ///
    /// - Throws: ``CanonicalCodingError/truncated(needed:remaining:)``: fewer are left.
    public mutating func bytes(_ count: Int) throws(CanonicalCodingError) -> ArraySlice<UInt8> {
        guard count >= 0 && count <= remaining else {
            throw .truncated(needed: count, remaining: remaining)
        }
        let start = input.startIndex + offset
        offset += count
        return input[start..<start + count]
    }

    /// The next byte.
    ///
    /// - Throws: ``CanonicalCodingError/truncated(needed:remaining:)``.
    public mutating func uint8() throws(CanonicalCodingError) -> UInt8 {
        UInt8(truncatingIfNeeded: try integer(byteCount: 1))
    }

    /// The next two bytes, big-endian.
    ///
    /// - Throws: ``CanonicalCodingError/truncated(needed:remaining:)``.
    public mutating func uint16() throws(CanonicalCodingError) -> UInt16 {
        UInt16(truncatingIfNeeded: try integer(byteCount: 2))
    }

    /// The next four bytes, big-endian.
    ///
    /// - Throws: ``CanonicalCodingError/truncated(needed:remaining:)``.
    public mutating func uint32() throws(CanonicalCodingError) -> UInt32 {
        UInt32(truncatingIfNeeded: try integer(byteCount: 4))
    }

    /// The next four bytes, big-endian, as the count of something that follows. A count that an `Int` of 32 bits cannot hold
    /// becomes the largest that it can: no input is that long, so reading that many bytes fails.
    ///
    /// - Throws: ``CanonicalCodingError/truncated(needed:remaining:)``.
    package mutating func count32() throws(CanonicalCodingError) -> Int { Int(clamping: try uint32()) }

    /// The next eight bytes, big-endian.
    ///
    /// - Throws: ``CanonicalCodingError/truncated(needed:remaining:)``.
    public mutating func uint64() throws(CanonicalCodingError) -> UInt64 {
        try integer(byteCount: 8)
    }

    /// The bytes before the next LF, which is read too.
    ///
    /// - Throws: ``CanonicalCodingError/unterminatedLine(maximumLength:)``: no LF within
    ///   `maximumLength` + 1 bytes.
    public mutating func line(maximumLength: Int) throws(CanonicalCodingError) -> ArraySlice<UInt8> {
        let start = input.startIndex + offset
        let window = input[start...].prefix(maximumLength + 1)
        guard let end = window.firstIndex(of: UInt8(ascii: "\n")) else {
            throw .unterminatedLine(maximumLength: maximumLength)
        }
        offset += end - start + 1
        return input[start..<end]
    }

    /// Everything that is left.
    public mutating func rest() -> ArraySlice<UInt8> {
        let start = input.startIndex + offset
        offset = input.count
        return input[start...]
    }

    /// Demands that everything has been read.
    ///
    /// - Throws: ``CanonicalCodingError/trailingBytes(_:)``: how many bytes are left over.
    public func end() throws(CanonicalCodingError) {
        guard remaining == 0 else { throw .trailingBytes(remaining) }
    }

    private mutating func integer(byteCount: Int) throws(CanonicalCodingError) -> UInt64 {
        var value: UInt64 = 0
        for byte in try bytes(byteCount) { value = value << 8 | UInt64(byte) }
        return value
    }
}
