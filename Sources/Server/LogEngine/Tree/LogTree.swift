// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// What the log keeps in memory: every tree hash, the table of leaves, and the entries not yet in bundle files.
///
/// It may be ahead of the published size; readers look no further than that.
struct LogTree: Sendable {
    private(set) var merkle = MerkleTree()
    private var leaves = LeafIndex()
    private(set) var recent = RecentEntries()

    /// Adds the next entries.
    ///
    /// - Parameter payload: each behind its length.
    mutating func append(_ payload: ArraySlice<UInt8>, leaves hashes: ArraySlice<TreeHash>) {
        recent.append(payload, count: hashes.count)
        for leaf in hashes {
            merkle.append(leaf)
            leaves.addLast(leaf, of: merkle)
        }
    }

    /// Adds the next entries while the log is being opened; ``indexLeaves()`` follows when all are there. Entries of full
    /// bundles are not kept, unless they are to be kept from a bundle on.
    mutating func appendReplayed(_ payload: ArraySlice<UInt8>, leaves hashes: [TreeHash], keeping bundle: UInt64) {
        recent.append(payload, count: hashes.count)
        for leaf in hashes { merkle.append(leaf) }
        recent.removeBundles(before: min(bundle, merkle.size / UInt64(Tile.fullWidth)))
    }

    /// Rebuilds the table of leaves.
    mutating func indexLeaves() { leaves = LeafIndex(of: merkle) }

    /// The index of the first entry with this leaf hash.
    func index(of leaf: TreeHash) -> UInt64? { leaves.index(of: leaf, in: merkle) }

    /// Forgets the entries of bundles before `index`, which are in files.
    mutating func removeRecent(before index: UInt64) { recent.removeBundles(before: index) }
}
