// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// Finds the first entry with a given leaf hash: an open-addressing table of 32-bit entry indexes.
///
/// The hashes themselves are looked up in the tree, so that a million entries take 8 MiB here. Places are chosen with
/// the process's random seed: an attacker cannot prepare entries that collide.
struct LeafIndex: Sendable {
    /// The most entries a table can tell apart; one value marks a free place.
    static let capacity = UInt64(UInt32.max)
    private static let free = UInt32.max

    private var places: [UInt32]
    private var count = 0

    /// The table of all leaves of `tree`.
    init(of tree: MerkleTree = MerkleTree()) {
        var placeCount = 1024
        while Self.isCrowded(Int(clamping: tree.size), placeCount) { placeCount *= 2 }
        places = [UInt32](repeating: Self.free, count: placeCount)
        for index in 0..<tree.leaves.count { insert(tree.leaves[index], at: UInt64(index), in: tree) }
    }

    /// The index of the first entry whose leaf hash is `leaf`.
    func index(of leaf: TreeHash, in tree: MerkleTree) -> UInt64? {
        let found = places[place(of: leaf, in: tree)]
        return found == Self.free ? nil : UInt64(found)
    }

    /// Remembers the newest leaf of `tree`, unless an earlier one has the same hash.
    mutating func addLast(_ leaf: TreeHash, of tree: MerkleTree) {
        if Self.isCrowded(count, places.count) {
            self = LeafIndex(of: tree)
        } else {
            insert(leaf, at: tree.size - 1, in: tree)
        }
    }

    private mutating func insert(_ leaf: TreeHash, at index: UInt64, in tree: MerkleTree) {
        let place = place(of: leaf, in: tree)
        guard places[place] == Self.free else { return }
        places[place] = UInt32(truncatingIfNeeded: index)
        count += 1
    }

    /// Where `leaf` is, or where it would go.
    private func place(of leaf: TreeHash, in tree: MerkleTree) -> Int {
        var place = leaf.hashValue & (places.count - 1)
        while places[place] != Self.free && tree.leaves[Int(places[place])] != leaf {
            place = (place + 1) & (places.count - 1)
        }
        return place
    }

    private static func isCrowded(_ count: Int, _ placeCount: Int) -> Bool { count >= placeCount / 4 * 3 }
}
