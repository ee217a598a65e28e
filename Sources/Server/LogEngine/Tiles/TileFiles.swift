// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
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

    /// The tiles whose files are not there or do not say what the tree says, in the order given. All processors read.
    func lacking(_ tiles: [Tile], of tree: MerkleTree) -> [Tile] {
        let share = 256
        let lacking = Mutex<[Int: [Tile]]>([:])
        DispatchQueue.concurrentPerform(iterations: (tiles.count + share - 1) / share) { number in
            let found = tiles[number * share..<min(tiles.count, (number + 1) * share)].filter { !holds($0, in: tree) }
            if !found.isEmpty { lacking.withLock { $0[number] = found } }
        }
        return lacking.withLock { found in found.keys.sorted().flatMap { found[$0] ?? [] } }
    }

    /// Whether the file of a tile is there and says what the tree says.
    func holds(_ tile: Tile, in tree: MerkleTree) -> Bool {
        guard let bytes = try? read(tile), let hashes = try? tree.hashes(of: tile) else { return false }
        switch tile.content {
        case .hashes: return (try? tile.encode(hashes)) == bytes
        case .entries: return EntryBundle.isEncoding(bytes, of: hashes)
        }
    }
}
