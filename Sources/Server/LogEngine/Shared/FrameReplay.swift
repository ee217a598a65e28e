// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import TransparencyLog

/// A log that is being opened: its frames are read one after the other, and become its tree and the state of its sealer.
package final class FrameReplay {
    private(set) var tree = LogTree()
    private let sealing: (any LogSealing)?
    private let sealer: ReplayStage?
    private let keptBundle: UInt64

    /// - Parameters:
    ///   - shown: at most the size of the checkpoint that will be shown first.
    ///   - placed: of bundles that are full at this size the entries are not kept; nil: of none that is full.
    package init(sealing: (any LogSealing)?, shown: UInt64, placed: UInt64? = nil) {
        self.sealing = sealing
        sealer = sealing.map { ReplayStage($0, shown: shown) }
        keptBundle = placed.map { $0 / UInt64(Tile.fullWidth) } ?? .max
    }

    deinit { sealer?.drain() }

    /// Takes the next frame.
    ///
    /// - Throws: ``LogOpenError``.
    package func take(_ frame: Frame) throws(LogOpenError) {
        guard frame.endIndex <= LeafIndex.capacity else { throw .tooLarge }
        let leaves = frame.leaves
        tree.appendReplayed(frame.payload, leaves: leaves, keeping: keptBundle)
        try sealer?.take(frame, leaves)
        // Now and then, so that the leaf hashes are not all in memory twice.
        if tree.merkle.size >> 16 != frame.firstIndex >> 16 { sealing?.share(tree.merkle) }
    }

    /// Makes the table of leaves, beside the sealer, which is still at work.
    func indexLeaves() { tree.indexLeaves() }

    /// Waits until the sealer has taken everything.
    ///
    /// - Throws: ``LogOpenError/breaksRule(_:)``.
    func finishSealing() throws(LogOpenError) {
        try sealer?.finish()
        sealing?.share(tree.merkle)
    }

    /// Everything was read.
    ///
    /// - Throws: ``LogOpenError/breaksRule(_:)``.
    package func finish() throws(LogOpenError) {
        indexLeaves()
        try finishSealing()
    }

    /// How many entries were read.
    package var size: UInt64 { tree.merkle.size }

    /// Whether an entry with this hash was read; not before ``finish()``.
    package func contains(_ leaf: TreeHash) -> Bool { tree.index(of: leaf) != nil }

    /// The root of the first entries; nil beyond what was read.
    package func root(size: UInt64) -> TreeHash? { try? tree.merkle.root(size: size) }

    /// What a full tile or a bundle holds, if its entries were kept.
    package func contents(of tile: Tile) -> [UInt8]? {
        tile.content == .entries
            ? tree.recent.bundle(tile.index, width: tile.width) : try? tree.merkle.bytes(of: tile)
    }

    /// The right edge of the tree; nil if the tree lacks a node that it must have: our bug, or bad memory.
    package var frontier: MerkleFrontier? { tree.merkle.frontier }

    /// Reads a log, and once more from its beginning if the sealer was led astray by something that is not the log.
    ///
    /// - Parameter read: gives all frames in order to the replay.
    /// - Throws: ``LogOpenError``, or what `read` throws.
    package static func run(
        sealing: (any LogSealing)?, shown: UInt64, placed: UInt64?, _ read: (FrameReplay) throws(LogOpenError) -> Void
    ) throws(LogOpenError) -> FrameReplay {
        do throws(LogOpenError) { return try once(sealing, shown, placed, read) } catch {
            guard case .breaksRule(let fault) = error, sealing?.beginsAgain(after: fault) == true else { throw error }
            return try once(sealing, shown, placed, read)
        }
    }

    private static func once(
        _ sealing: (any LogSealing)?, _ shown: UInt64, _ placed: UInt64?,
        _ read: (FrameReplay) throws(LogOpenError) -> Void
    ) throws(LogOpenError) -> FrameReplay {
        let replay = FrameReplay(sealing: sealing, shown: shown, placed: placed)
        try read(replay)
        try replay.finish()
        return replay
    }
}

extension MerkleTree {
    /// The right edge; nil if a node is not there that must be.
    var frontier: MerkleFrontier? {
        var hashes: [TreeHash] = []
        var start: UInt64 = 0
        for level in stride(from: 63, through: 0, by: -1) where size >> UInt64(level) & 1 == 1 {
            guard let hash = try? self.hash(level: level, index: start >> UInt64(level)) else { return nil }
            hashes.append(hash)
            start += 1 << UInt64(level)
        }
        return MerkleFrontier(size: size, hashes: hashes)
    }
}
