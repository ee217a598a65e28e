// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The third stage: writes the tiles and bundles that have become full, in the background.
final class TileArchiver: Sendable {
    private struct Progress {
        var archived: UInt64
        var target: UInt64
    }

    private let stores: any LogStores
    private let tree: SharedTree
    private let latch: FailureLatch
    private let progress: Mutex<Progress>
    private let stage = Stage("signet.log.tiles")

    /// An archiver for a log whose full tiles up to `size` entries are all kept.
    init(stores: any LogStores, tree: SharedTree, size: UInt64, latch: FailureLatch) {
        self.stores = stores
        self.tree = tree
        self.latch = latch
        progress = Mutex(Progress(archived: size, target: size))
    }

    /// Writes, soon, what is full in a log of `size` entries.
    func archive(upTo size: UInt64) {
        let isNeeded = progress.withLock { progress in
            progress.target = max(progress.target, size)
            return progress.archived / 256 < progress.target / 256
        }
        if isNeeded { stage.schedule { [self] in drain() } }
    }

    /// Returns when everything asked for has been written.
    func finish() async { await stage.finish() }

    private func drain() {
        while latch.failure == nil {
            let (archived, target) = progress.withLock { ($0.archived, $0.target) }
            guard archived < target else { return }
            // Nothing is put beside files that are not the log's. What is full stays in memory until a later checkpoint is published.
            guard stores.areKept else { return }
            do throws(LogFailure) { try write(from: archived, to: target) } catch {
                if !error.isOfMissingFile { latch.fail(error) }
                return
            }
        }
    }

    /// Writes, now, what is full at a head and was not written, and what comes after it.
    ///
    /// Only of stores in which this comes before signing: then nothing else calls this archiver.
    func place(_ head: TreeHead) throws(LogFailure) {
        let archived = progress.withLock { $0.archived }
        if archived < head.size { try write(from: archived, to: head.size) }
        let width = Int(head.size % UInt64(Tile.fullWidth))
        var rest: [UInt8] = []
        if width > 0, let tile = try? Tile(.entries, index: head.size / UInt64(Tile.fullWidth), width: width) {
            rest = try contents(of: tile)
        }
        try stores.finishPlacing(head, bundle: rest)
    }

    private func write(from archived: UInt64, to target: UInt64) throws(LogFailure) {
        for tile in Tile.added(from: archived, to: target) where tile.isFull {
            try stores.write(tile, try contents(of: tile))
        }
        progress.withLock { $0.archived = target }
        tree.removeRecent(before: target / 256)
    }

    private func contents(of tile: Tile) throws(LogFailure) -> [UInt8] {
        if tile.content == .entries {
            guard let bundle = tree.read({ $0.recent.bundle(tile.index, width: tile.width) }) else {
                throw .entriesLost(bundle: tile.index)
            }
            return bundle
        }
        do throws(MerkleTreeError) {
            return try tree.read { (tree) throws(MerkleTreeError) in try tree.merkle.bytes(of: tile) }
        } catch {
            throw .tree(error)
        }
    }
}

extension MerkleTree {
    /// The bytes of a hash tile.
    func bytes(of tile: Tile) throws(MerkleTreeError) -> [UInt8] { TreeHash.joined(try hashes(of: tile)) }
}
