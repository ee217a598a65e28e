// SPDX-License-Identifier: Apache-2.0

/// Why a tree cannot answer. The caller asked for something the tree does not have.
public enum MerkleTreeError: Error, Hashable, Sendable {
    /// The tree has only this many leaves.
    case sizeBeyondTree(requested: UInt64, size: UInt64)
    /// A tree of this size has no leaf with this index.
    case indexBeyondSize(index: UInt64, size: UInt64)
    /// The later size is smaller than the earlier one.
    case sizesOutOfOrder(from: UInt64, to: UInt64)
    /// There is no complete node here.
    case noSuchNode(level: Int, index: UInt64)
}

/// An append-only RFC 6962 tree: its leaf hashes, and every complete node that is at least three levels above them; 40 bytes for
/// each leaf.
///
/// The nodes between, three quarters of all that are above the leaves, are computed when they are asked for: at most three hashes.
/// It answers for its present size and for every earlier one, in time logarithmic in the size. A copy
/// shares its storage until one of the two grows.
///
/// Spec: RFC 6962, section 2.1.
public struct MerkleTree: Sendable {
    /// How far above the leaves the first level is whose nodes are kept.
    private static let keptLevel = 3

    /// The leaf hashes.
    package private(set) var leaves = LeafList()
    /// The complete nodes of ``keptLevel`` and of the levels above it.
    private var kept: [LeafList] = []

    /// The tree without leaves.
    public init() {}

    /// The number of leaves.
    public var size: UInt64 { UInt64(leaves.count) }

    /// Adds a leaf hash at the right, and every node it completes.
    public mutating func append(_ leaf: TreeHash) {
        leaves.append(leaf)
        guard leaves.count.isMultiple(of: 1 << Self.keptLevel) else { return }
        var node = computed(Self.keptLevel, UInt64(leaves.count >> Self.keptLevel - 1))
        var place = 0
        while true {
            if place == kept.count { kept.append(LeafList()) }
            kept[place].append(node)
            guard let pair = kept[place].lastPair else { return }
            node = .node(pair.left, pair.right)
            place += 1
        }
    }

    /// The root of the first `size` leaves.
    ///
    /// - Throws: ``MerkleTreeError/sizeBeyondTree(requested:size:)``.
    public func root(size: UInt64) throws(MerkleTreeError) -> TreeHash {
        try checkSize(size)
        return rangeRoot(from: 0, to: size)
    }

    /// The head of the first `size` leaves.
    ///
    /// - Throws: ``MerkleTreeError/sizeBeyondTree(requested:size:)``.
    public func head(size: UInt64) throws(MerkleTreeError) -> TreeHead {
        TreeHead(size: size, root: try root(size: size))
    }

    /// The complete node `index` of `level`: the hash over the leaves from `index`·2^`level` on.
    ///
    /// - Throws: ``MerkleTreeError/noSuchNode(level:index:)``: not, or not yet, complete.
    public func hash(level: Int, index: UInt64) throws(MerkleTreeError) -> TreeHash {
        guard level >= 0, level < levelCount, index < size >> UInt64(level) else {
            throw .noSuchNode(level: level, index: index)
        }
        return node(level, index)
    }

    /// The path from leaf `index` to the root of the first `size` leaves.
    ///
    /// - Throws: ``MerkleTreeError``: the tree has no such size, or that size no such index.
    public func inclusionProof(index: UInt64, size: UInt64) throws(MerkleTreeError) -> InclusionProof {
        try checkSize(size)
        guard index < size else { throw .indexBeyondSize(index: index, size: size) }
        return InclusionProof(index: index, hashes: siblings(of: index, size: size, fromLevel: 0))
    }

    /// The hashes that show that the first `to` leaves begin with the first `from` leaves.
    ///
    /// Empty when `from` is zero or equals `to`.
    ///
    /// - Throws: ``MerkleTreeError``: the tree has no such size, or the sizes are out of order.
    public func consistencyProof(from: UInt64, to: UInt64) throws(MerkleTreeError) -> ConsistencyProof {
        guard from <= to else { throw .sizesOutOfOrder(from: from, to: to) }
        try checkSize(to)
        guard from > 0 && from < to else { return ConsistencyProof(hashes: []) }
        let path = ConsistencyPath(from: from, to: to)
        let start = path.startsAtOldRoot ? [] : [node(path.level, path.index)]
        return ConsistencyProof(hashes: start + siblings(of: from - 1, size: to, fromLevel: path.level))
    }
}

extension MerkleTree {
    private func checkSize(_ requested: UInt64) throws(MerkleTreeError) {
        guard requested <= size else { throw .sizeBeyondTree(requested: requested, size: size) }
    }

    /// How many levels have complete nodes.
    private var levelCount: Int { UInt64.bitWidth - size.leadingZeroBitCount }

    /// A node that the caller knows to be complete.
    private func node(_ level: Int, _ index: UInt64) -> TreeHash {
        level < Self.keptLevel ? computed(level, index) : kept[level - Self.keptLevel][Int(index)]
    }

    /// A complete node from the leaves below it.
    private func computed(_ level: Int, _ index: UInt64) -> TreeHash {
        guard level > 0 else { return leaves[Int(index)] }
        return .node(computed(level - 1, 2 * index), computed(level - 1, 2 * index + 1))
    }

    /// The siblings on the path of leaf `index`, without those below `fromLevel`.
    private func siblings(of index: UInt64, size: UInt64, fromLevel: Int) -> [TreeHash] {
        let path = TreePath(index: index, size: size)
        var hashes: [TreeHash] = []
        hashes.reserveCapacity(path.hashCount)
        for level in fromLevel..<max(fromLevel, path.innerCount) {
            let sibling = index >> UInt64(level) ^ 1
            let start = sibling << UInt64(level)
            hashes.append(rangeRoot(from: start, to: min(size, start + 1 << UInt64(level))))
        }
        for level in path.innerCount..<max(path.innerCount, levelCount)
        where index >> UInt64(level) & 1 == 1 {
            hashes.append(node(level, index >> UInt64(level) ^ 1))
        }
        return hashes
    }

    /// The hash over the leaves from `start` to `end`, where `start` is a multiple of a power of two that is
    /// at least the distance: complete nodes, joined from the right.
    private func rangeRoot(from start: UInt64, to end: UInt64) -> TreeHash {
        var root: TreeHash?
        var end = end
        while end > start {
            let level = (end - start).trailingZeroBitCount
            let left = node(level, (end - 1) >> UInt64(level))
            root = root.map { .node(left, $0) } ?? left
            end -= 1 << UInt64(level)
        }
        return root ?? .emptyTree
    }
}
