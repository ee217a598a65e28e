// SPDX-License-Identifier: Apache-2.0

/// Spec: C2SP tlog-tiles, "Merkle Tree": a tile is its hashes, one after the other, 32 bytes each.
extension Tile {
    /// The bytes of a hash tile.
    ///
    /// - Throws: ``TileError/wrongLength(expected:actual:)``: not as many hashes as the tile is wide.
    public func encode(_ hashes: [TreeHash]) throws(TileError) -> [UInt8] {
        guard hashes.count == width else { throw .wrongLength(expected: width, actual: hashes.count) }
        return TreeHash.joined(hashes)
    }

    /// The hashes in the bytes of a hash tile.
    ///
    /// - Throws: ``TileError/wrongLength(expected:actual:)``: not 32 bytes for each hash.
    public func hashes(decoding bytes: [UInt8]) throws(TileError) -> [TreeHash] {
        let expected = width * TreeHash.byteCount
        guard bytes.count == expected else { throw .wrongLength(expected: expected, actual: bytes.count) }
        return stride(from: 0, to: bytes.count, by: TreeHash.byteCount).compactMap {
            TreeHash(bytes[$0..<$0 + TreeHash.byteCount])
        }
    }
}

extension TreeHash {
    /// The bytes of hashes, one behind the other.
    package static func joined(_ hashes: [TreeHash]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hashes.count * byteCount)
        for hash in hashes { hash.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        return bytes
    }
}

extension MerkleTree {
    /// The hashes that a hash tile holds; for an entry bundle, the leaf hashes of its entries.
    ///
    /// - Throws: ``MerkleTreeError/noSuchNode(level:index:)``: the tree has not grown that far.
    public func hashes(of tile: Tile) throws(MerkleTreeError) -> [TreeHash] {
        let level = if case .hashes(let level) = tile.content { 8 * level } else { 0 }
        let (start, overflow) = tile.index.multipliedReportingOverflow(by: UInt64(Tile.fullWidth))
        guard !overflow else { throw .noSuchNode(level: level, index: tile.index) }
        var hashes: [TreeHash] = []
        hashes.reserveCapacity(tile.width)
        for offset in 0..<UInt64(tile.width) { hashes.append(try hash(level: level, index: start + offset)) }
        return hashes
    }
}
