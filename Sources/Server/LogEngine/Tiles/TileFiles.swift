// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// The files of full tiles and full entry bundles, under the paths they are served under.
///
/// They are derived from the write-ahead log, so nothing waits for them to be durable: opening the log compares each
/// with the tree and writes again what a crash took.
struct TileFiles: Sendable {
    let fileSystem: any LogFileSystem

    /// Writes a tile under a temporary name and renames it: a reader sees all of it or nothing.
    func write(_ tile: Tile, _ bytes: [UInt8]) throws(LogFileError) {
        let path = LogPath.tile(tile)
        for folder in LogPath.folders(above: path) { try fileSystem.makeDirectory(folder) }
        try fileSystem.open(path + LogPath.temporarySuffix, .create).writeAll(bytes, at: 0)
        try fileSystem.rename(path + LogPath.temporarySuffix, to: path)
    }

    /// The bytes of a tile.
    func read(_ tile: Tile) throws(LogFileError) -> [UInt8] { try fileSystem.contents(of: LogPath.tile(tile)) }

    /// Whether the file of a tile is there and says what the tree says.
    func holds(_ tile: Tile, in tree: MerkleTree) -> Bool {
        guard let bytes = try? read(tile), let hashes = try? tree.hashes(of: tile) else { return false }
        switch tile.content {
        case .hashes: return (try? tile.encode(hashes)) == bytes
        case .entries: return (try? EntryBundle(decoding: bytes, width: tile.width).leafHashes) == hashes
        }
    }
}
