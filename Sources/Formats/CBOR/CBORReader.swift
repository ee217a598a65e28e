// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

extension CBORValue {
    /// Reads one item that takes up all the bytes. ``encoded`` writes the same bytes again.
    ///
    /// Every number and length must take as few bytes as possible, and every length must precede its contents. The keys
    /// of a map may be in any order, and the order is kept: issuers of mobile documents do not sort them.
    ///
    /// Spec: RFC 8949, section 4.2.1, without its order of keys; section 5.6 (duplicate keys).
    ///
    /// - Throws: ``CBORFault``. A retry cannot help.
    public init(decoding bytes: [UInt8], limits: CBORLimits = .document) throws(CBORFault) {
        guard bytes.count <= limits.byteCount else { throw .tooLong(bytes.count) }
        var reader = CBORReader(bytes, depth: limits.depth)
        self = try reader.item()
        guard reader.remaining == 0 else { throw .trailing(reader.remaining) }
    }
}

/// Reads the bytes once, from front to back. It allocates nothing for a stated length that the bytes do not have.
private struct CBORReader {
    private var input: ByteReader
    /// How many more arrays, maps and tags may open; bounds the recursion.
    private var depthLeft: Int

    init(_ bytes: [UInt8], depth: Int) { (input, depthLeft) = (ByteReader(bytes), depth) }

    var remaining: Int { input.remaining }

    mutating func item() throws(CBORFault) -> CBORValue {
        let start = input.offset
        let first = try number(byteCount: 1)
        guard first >> 5 < 7 else { return try simple(first, start) }
        let argument = try argument(first & 31, start)
        switch first >> 5 {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes(try contents(argument))
        case 3:
            guard let text = CBORText(utf8: try contents(argument)) else { throw .notUTF8 }
            return .text(text)
        case 4: return try nested { reader throws(CBORFault) in .array(try reader.elements(argument)) }
        case 5: return try nested { reader throws(CBORFault) in .map(try reader.entries(argument)) }
        default: return try nested { reader throws(CBORFault) in .tagged(argument, try reader.item()) }
        }
    }

    private func simple(_ first: UInt64, _ start: Int) throws(CBORFault) -> CBORValue {
        switch first {
        case 0xF4: return .bool(false)
        case 0xF5: return .bool(true)
        case 0xF6: return .null
        default: throw .unsupported(offset: start)
        }
    }

    /// The number of a head: in the first byte, or in the 1, 2, 4 or 8 bytes after it if it needs them.
    private mutating func argument(_ information: UInt64, _ start: Int) throws(CBORFault) -> UInt64 {
        switch information {
        case 0..<24: return information
        case 24..<28:
            let step = information - 24
            let value = try number(byteCount: 1 << Int(step))
            let least: UInt64 = step == 0 ? 24 : 1 << (4 << step)
            guard value >= least else { throw .notShortest(offset: start) }
            return value
        case 31: throw .notShortest(offset: start)
        default: throw .unsupported(offset: start)
        }
    }

    private mutating func number(byteCount: Int) throws(CBORFault) -> UInt64 {
        guard let bytes = try? input.bytes(byteCount) else { throw .truncated }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func contents(_ count: UInt64) throws(CBORFault) -> [UInt8] {
        guard let count = Int(exactly: count), let bytes = try? input.bytes(count) else { throw .truncated }
        return Array(bytes)
    }

    private mutating func nested(
        _ read: (inout CBORReader) throws(CBORFault) -> CBORValue
    ) throws(CBORFault) -> CBORValue {
        guard depthLeft > 0 else { throw .tooDeep }
        depthLeft -= 1
        let value = try read(&self)
        depthLeft += 1
        return value
    }

    private mutating func elements(_ count: UInt64) throws(CBORFault) -> [CBORValue] {
        guard count <= UInt64(remaining) else { throw .truncated }  // each element has at least one byte
        var elements: [CBORValue] = []
        for _ in 0..<count { elements.append(try item()) }
        return elements
    }

    private mutating func entries(_ count: UInt64) throws(CBORFault) -> CBORMap {
        guard count <= UInt64(remaining) / 2 else { throw .truncated }
        var entries: [(CBORValue, CBORValue)] = []
        for _ in 0..<count { entries.append((try item(), try item())) }
        return try CBORMap(entries)
    }
}
