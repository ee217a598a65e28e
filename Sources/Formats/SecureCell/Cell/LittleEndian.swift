// SPDX-License-Identifier: Apache-2.0

/// Reads the little-endian fields of cells and messages from front to back; nil where the input ends.
struct LittleEndianReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ input: ArraySlice<UInt8>) { rest = input }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func uint16() -> UInt16? { integer(byteCount: 2).map { UInt16(truncatingIfNeeded: $0) } }

    mutating func uint32() -> UInt32? { integer(byteCount: 4) }

    private mutating func integer(byteCount: Int) -> UInt32? {
        guard let bytes = bytes(byteCount) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension [UInt8] {
    mutating func appendLittleEndian(_ value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func appendLittleEndian(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value >> 8))
    }
}
