// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// The names of the files in a data directory.
///
/// ```
/// wal/00000000000000000000        segments of the write-ahead log, named by their first entry
/// checkpoint.lock                 the last checkpoint signed
/// checkpoint.published            the last one that a quorum of witnesses cosigned; none without witnesses
/// tile/0/000  tile/entries/000    full tiles and bundles, rebuilt when missing
/// index.snapshot                  which label each entry belongs to; made again when missing
/// ```
enum LogPath {
    static let root = ""
    static let segments = "wal"
    static let lockRecord = "checkpoint.lock"
    static let published = "checkpoint.published"
    static let snapshot = "index.snapshot"
    static let tiles = "tile"
    static let bundles = "tile/entries"
    static let temporarySuffix = ".new"

    /// The path of the segment whose first entry is `firstIndex`: 20 decimal digits.
    static func segment(_ firstIndex: UInt64) -> String {
        let digits = String(firstIndex)
        return "\(segments)/\(String(repeating: "0", count: 20 - digits.count))\(digits)"
    }

    /// The first entry of the segment called `name`, or nil for any other name.
    static func firstIndex(ofSegment name: String) -> UInt64? {
        guard name.utf8.count == 20, name.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return UInt64(name)
    }

    /// The path of a full tile or bundle: the one it is served under.
    static func tile(_ tile: Tile) -> String { String(decoding: tile.path, as: UTF8.self) }

    /// The folders above `path`, outermost first.
    static func folders(above path: String) -> [String] {
        let parts = path.split(separator: "/").dropLast()
        return parts.indices.map { parts[...$0].joined(separator: "/") }
    }
}

extension LogFileKind {
    /// The kind of file, or of the folder of such files, that a path of the data directory names.
    package init(path: String) {
        let kinds: [(String, LogFileKind)] = [
            (LogPath.lockRecord, .lockRecord), (LogPath.snapshot, .snapshot),
            (LogPath.segments + "/", .segment), (LogPath.bundles + "/", .bundle), (LogPath.tiles + "/", .tile),
        ]
        self = kinds.first { (path + "/").hasPrefix($0.0) }?.1 ?? .directory
    }
}
