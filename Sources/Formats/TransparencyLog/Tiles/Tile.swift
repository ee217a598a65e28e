// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Why something is not a tile of a log. None is worth a retry.
public enum TileError: Error, Hashable, Sendable {
    /// Levels go from 0 to 63.
    case levelOutOfRange(Int)
    /// Widths go from 1 to 256.
    case widthOutOfRange(Int)
    /// Not the one path of any tile.
    case malformedPath
    /// A tile of this width has another number of hashes, bytes or entries.
    case wrongLength(expected: Int, actual: Int)
    /// A bundle ends in the middle of an entry.
    case truncatedEntry
    /// An entry of more than 65,535 bytes.
    case entryTooLong(byteCount: Int)
}

/// One of the files that a log serves: up to 256 consecutive hashes of a level, or that many entries.
///
/// Level 0 holds leaf hashes; each hash of a higher level is the root of a full tile below.
///
/// Spec: C2SP tlog-tiles, "Merkle Tree" and "Log entries".
public struct Tile: Hashable, Sendable {
    /// The number of hashes or entries in a full tile.
    public static let fullWidth = 256

    /// What a tile holds.
    public enum Content: Hashable, Sendable {
        /// Hashes of this level, from 0 to 63; each covers 256^level leaves.
        case hashes(level: Int)
        /// Log entries.
        case entries
    }

    /// What it holds.
    public let content: Content
    /// Its place within its level, from zero.
    public let index: UInt64
    /// How many hashes or entries it has, 1 to 256. Fewer than 256 is a partial tile.
    public let width: Int

    /// The tile at a place.
    ///
    /// - Throws: ``TileError/levelOutOfRange(_:)``, ``TileError/widthOutOfRange(_:)``.
    public init(_ content: Content, index: UInt64, width: Int = Tile.fullWidth) throws(TileError) {
        if case .hashes(let level) = content, !(0...63).contains(level) { throw .levelOutOfRange(level) }
        guard (1...Self.fullWidth).contains(width) else { throw .widthOutOfRange(width) }
        self.init(checked: content, index: index, width: width)
    }

    private init(checked content: Content, index: UInt64, width: Int) {
        self.content = content
        self.index = index
        self.width = width
    }

    /// Whether it will never change again.
    public var isFull: Bool { width == Self.fullWidth }

    /// The full tile that replaces this one in time.
    public var full: Tile { Tile(checked: content, index: index, width: Self.fullWidth) }

    /// Every tile that a log publishes when it grows from `old` to `new` leaves: hash tiles from the lowest level
    /// up, then entry bundles. From zero, that is every tile of the tree.
    ///
    /// Returns nothing when the log has not grown. The result has about `(new - old) / 128` tiles.
    public static func added(from old: UInt64, to new: UInt64) -> [Tile] {
        guard old < new else { return [] }
        let levels = (0..<8).flatMap { level in
            tiles(.hashes(level: level), from: old >> UInt64(8 * level), to: new >> UInt64(8 * level))
        }
        return levels + tiles(.entries, from: old, to: new)
    }

    /// The tiles of one level whose hashes from `old` up to `new` are new.
    private static func tiles(_ content: Content, from old: UInt64, to new: UInt64) -> [Tile] {
        guard old < new else { return [] }
        return (old / 256...(new - 1) / 256).map { index in
            Tile(checked: content, index: index, width: Int(min(256, new - index * 256)))
        }
    }
}
