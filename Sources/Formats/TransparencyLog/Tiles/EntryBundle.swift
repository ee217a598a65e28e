// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Up to 256 consecutive log entries, each behind its length in two bytes.
///
/// Spec: C2SP tlog-tiles, "Log entries".
public struct EntryBundle: Hashable, Sendable {
    /// The longest entry, in bytes.
    public static let maximumEntryByteCount = 65_535

    /// From 1 to 256 entries.
    public let entries: [[UInt8]]

    /// A bundle of entries.
    ///
    /// - Throws: ``TileError/widthOutOfRange(_:)``, ``TileError/entryTooLong(byteCount:)``.
    public init(entries: [[UInt8]]) throws(TileError) {
        guard (1...Tile.fullWidth).contains(entries.count) else { throw .widthOutOfRange(entries.count) }
        for entry in entries where entry.count > Self.maximumEntryByteCount {
            throw .entryTooLong(byteCount: entry.count)
        }
        self.entries = entries
    }

    /// Reads a bundle, which must hold exactly `width` entries, 1 to 256.
    ///
    /// - Throws: ``TileError``: cut short, or another number of entries.
    public init(decoding bytes: [UInt8], width: Int) throws(TileError) {
        guard (1...Tile.fullWidth).contains(width) else { throw .widthOutOfRange(width) }
        var reader = ByteReader(bytes)
        var entries: [[UInt8]] = []
        while reader.remaining > 0 {
            guard entries.count < width else { throw .wrongLength(expected: width, actual: width + 1) }
            guard let count = try? reader.uint16(), let entry = try? reader.bytes(Int(count)) else {
                throw .truncatedEntry
            }
            entries.append(Array(entry))
        }
        guard entries.count == width else { throw .wrongLength(expected: width, actual: entries.count) }
        self.entries = entries
    }

    /// The bundle as it is served.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        for entry in entries {
            writer.write(UInt16(entry.count))
            writer.write(entry)
        }
        return writer.bytes
    }

    /// Whether bytes are the bundle of the entries with these leaf hashes, 1 to 256. Unlike ``init(decoding:width:)`` it copies no entry.
    package static func isEncoding(_ bytes: [UInt8], of leaves: [TreeHash]) -> Bool {
        var reader = ByteReader(bytes)
        for leaf in leaves {
            guard let count = try? reader.uint16(), let entry = try? reader.bytes(Int(count)),
                TreeHash.leaf(entry.span) == leaf
            else { return false }
        }
        return reader.remaining == 0
    }

    /// The leaf hash of each entry: the hashes of the level-0 tile at the same place.
    public var leafHashes: [TreeHash] { entries.map { TreeHash.leaf($0) } }
}
