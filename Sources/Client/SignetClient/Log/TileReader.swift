// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

/// Proofs assembled from hash tiles. The tiles are not trusted: each proof is checked like any other.
package struct TileReader<Failure: Error> {
    private let size: UInt64
    private let missing: Failure
    private let fetch: (_ level: Int, _ index: UInt64) async throws(Failure) -> [TreeHash]
    private var tiles: [Tile: [TreeHash]] = [:]

    /// A reader of the tiles of a log of this size.
    ///
    /// - Parameters:
    ///   - missing: thrown if a tile is narrower than the size demands.
    ///   - fetch: returns the hashes of a tile, cut to the log's size.
    package init(
        size: UInt64, missing: Failure, fetch: @escaping (Int, UInt64) async throws(Failure) -> [TreeHash]
    ) {
        self.size = size
        self.missing = missing
        self.fetch = fetch
    }

    /// The root that the tree has at a size up to its own.
    package mutating func root(size: UInt64) async throws(Failure) -> TreeHash {
        try await root(from: 0, to: size)
    }

    /// The path from leaf `index` to the root.
    ///
    /// Spec: RFC 6962, section 2.1.1.
    package mutating func inclusionProof(index: UInt64) async throws(Failure) -> InclusionProof {
        var (start, end) = (UInt64(0), size)
        var hashes: [TreeHash] = []
        while end - start > 1 {
            let half = UInt64(1) << UInt64(63 - (end - start - 1).leadingZeroBitCount)
            if index - start < half {
                hashes.append(try await root(from: start + half, to: end))
                end = start + half
            } else {
                hashes.append(try await root(from: start, to: start + half))
                start += half
            }
        }
        return InclusionProof(index: index, hashes: hashes.reversed())
    }

    /// The proof that the tree only grew from `old` leaves; empty when there is nothing to prove.
    ///
    /// Spec: RFC 6962, section 2.1.2.
    package mutating func consistencyProof(from old: UInt64) async throws(Failure) -> ConsistencyProof {
        guard old > 0 && old < size else { return ConsistencyProof(hashes: []) }
        var (start, end) = (UInt64(0), size)
        var hashes: [TreeHash] = []
        while end > old {
            let half = UInt64(1) << UInt64(63 - (end - start - 1).leadingZeroBitCount)
            if old - start <= half {
                hashes.append(try await root(from: start + half, to: end))
                end = start + half
            } else {
                hashes.append(try await root(from: start, to: start + half))
                start += half
            }
        }
        // What is left is either the old tree itself, which the caller knows, or the last part of it.
        if start > 0 { hashes.append(try await root(from: start, to: end)) }
        return ConsistencyProof(hashes: hashes.reversed())
    }

    /// The hash over leaves that begin at a multiple of a power of two not less than their number.
    private mutating func root(from start: UInt64, to end: UInt64) async throws(Failure) -> TreeHash {
        var root: TreeHash?
        var end = end
        while end > start {
            let level = (end - start).trailingZeroBitCount
            let left = try await node(level: level, index: (end - 1) >> UInt64(level))
            root = root.map { .node(left, $0) } ?? left
            end -= 1 << UInt64(level)
        }
        return root ?? .emptyTree
    }

    /// A complete node: a hash in a tile, or the root of several adjacent hashes.
    private mutating func node(level: Int, index: UInt64) async throws(Failure) -> TreeHash {
        let (tileLevel, height) = (level / 8, level % 8)
        let first = index << UInt64(height)
        let hashes = try await tile(level: tileLevel, index: first / UInt64(Tile.fullWidth))
        let place = Int(first % UInt64(Tile.fullWidth))
        guard place + 1 << height <= hashes.count else { throw missing }
        return TreeHash.root(of: Array(hashes[place..<place + 1 << height]))
    }

    private mutating func tile(level: Int, index: UInt64) async throws(Failure) -> [TreeHash] {
        guard let key = try? Tile(.hashes(level: level), index: index) else { throw missing }
        if let known = tiles[key] { return known }
        let hashes = try await fetch(level, index)
        tiles[key] = hashes
        return hashes
    }
}
