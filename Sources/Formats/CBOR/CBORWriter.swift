// SPDX-License-Identifier: Apache-2.0

extension CBORValue {
    /// The item in as few bytes as possible, with every length before its contents and the keys of each map in their
    /// order.
    ///
    /// Spec: RFC 8949, sections 3 and 4.2.1.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .unsigned(let value): Self.writeHead(0, value, to: &bytes)
        case .negative(let value): Self.writeHead(1, value, to: &bytes)
        case .bytes(let contents):
            Self.writeHead(2, UInt64(contents.count), to: &bytes)
            bytes += contents
        case .text(let text):
            Self.writeHead(3, UInt64(text.utf8.count), to: &bytes)
            bytes += text.utf8
        case .array(let elements):
            Self.writeHead(4, UInt64(elements.count), to: &bytes)
            for element in elements { element.write(to: &bytes) }
        case .map(let map):
            Self.writeHead(5, UInt64(map.entries.count), to: &bytes)
            for entry in map.entries {
                entry.key.write(to: &bytes)
                entry.value.write(to: &bytes)
            }
        case .tagged(let tag, let value):
            Self.writeHead(6, tag, to: &bytes)
            value.write(to: &bytes)
        case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
        case .null: bytes.append(0xF6)
        }
    }

    /// Writes the first byte, and the number in the fewest bytes that hold it.
    private static func writeHead(_ kind: UInt8, _ number: UInt64, to bytes: inout [UInt8]) {
        let kind = kind << 5
        switch number {
        case 0..<24: bytes.append(kind | UInt8(number))
        case 24..<1 << 8: bytes += [kind | 24, UInt8(number)]
        case 1 << 8..<1 << 16: bytes += [kind | 25] + bigEndian(number, 2)
        case 1 << 16..<1 << 32: bytes += [kind | 26] + bigEndian(number, 4)
        default: bytes += [kind | 27] + bigEndian(number, 8)
        }
    }

    private static func bigEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}
