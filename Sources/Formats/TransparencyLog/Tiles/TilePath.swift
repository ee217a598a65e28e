// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Spec: C2SP tlog-tiles, "Merkle Tree": `tile/<L>/<N>[.p/<W>]`, and "Log entries": `tile/entries/<N>[.p/<W>]`.
extension Tile {
    /// The path below the log's prefix, without a slash in front.
    public var path: [UInt8] {
        var path = Array("tile/".utf8)
        switch content {
        case .hashes(let level): path += Decimal.encode(UInt64(level))
        case .entries: path += Array("entries".utf8)
        }
        path += [Self.slash] + Self.encode(index: index)
        if !isFull { path += Array(".p/".utf8) + Decimal.encode(UInt64(width)) }
        return path
    }

    /// Reads a path below the log's prefix, without a slash in front.
    ///
    /// - Throws: ``TileError``: not the one path of a tile.
    public init(decodingPath path: [UInt8]) throws(TileError) {
        var parts = path.split(separator: Self.slash, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == ArraySlice("tile".utf8) else { throw .malformedPath }
        let content = try Self.content(parts[1])
        let width = try Self.takeWidth(&parts)
        try self.init(content, index: try Self.index(parts[2...]), width: width)
        guard self.path == path else { throw .malformedPath }
    }

    private static let slash = UInt8(ascii: "/")
    private static let partialSuffix = Array(".p".utf8)

    /// Groups of three digits, all but the last with an `x` in front.
    private static func encode(index: UInt64) -> [UInt8] {
        let digits = Decimal.encode(index)
        let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: (3 - digits.count % 3) % 3)
        let padded = zeros + digits
        var text: [UInt8] = []
        for start in stride(from: 0, to: padded.count, by: 3) {
            let isLast = start + 3 == padded.count
            text += (isLast ? [] : [UInt8(ascii: "x")]) + padded[start..<start + 3] + (isLast ? [] : [slash])
        }
        return text
    }

    private static func content(_ part: ArraySlice<UInt8>) throws(TileError) -> Content {
        if part == ArraySlice("entries".utf8) { return .entries }
        guard let level = try? Decimal.decode(part), level <= 63 else { throw .malformedPath }
        return .hashes(level: Int(level))
    }

    /// Removes `.p` and the width from the end; without them the tile is full.
    private static func takeWidth(_ parts: inout [ArraySlice<UInt8>]) throws(TileError) -> Int {
        guard parts.count >= 4, parts[parts.count - 2].suffix(2) == partialSuffix[...] else {
            return fullWidth
        }
        guard let width = try? Decimal.decode(parts.removeLast()), (1..<256).contains(width) else {
            throw .malformedPath
        }
        parts.append(parts.removeLast().dropLast(2))
        return Int(width)
    }

    /// The number that the digits give; whether the groups are right shows when the path is printed again.
    private static func index(_ parts: ArraySlice<ArraySlice<UInt8>>) throws(TileError) -> UInt64 {
        let digits = parts.joined().filter { $0 != UInt8(ascii: "x") }
        guard digits.count <= 21 else { throw .malformedPath }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        guard !significant.isEmpty else { return 0 }
        guard let index = try? Decimal.decode(significant) else { throw .malformedPath }
        return index
    }
}
