// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing
import TransparencyLog

/// The right edge of a tree beside the whole tree, and beside published ones.
struct MerkleFrontierTests {
    @Test func theRootOfEverySizeUpTo300IsTheOneOfTheRFC() throws {
        let leaves = distinctLeaves(300)
        var (frontier, tree) = (MerkleFrontier(), MerkleTree())
        for size in 0...leaves.count {
            #expect(frontier.head == (try tree.head(size: UInt64(size))))
            if size < 80 { #expect(frontier.root.bytes == RecursiveTree.root(leaves[..<size])) }
            #expect(frontier.hashes.count == size.nonzeroBitCount)
            guard size < leaves.count else { return }
            let leaf = try TreeHash(tested: leaves[size])
            frontier.append(leaf)
            tree.append(leaf)
        }
    }

    @Test func aClaimedFrontierGoesOnAsTheOneItWasTakenFrom() throws {
        let leaves = try distinctLeaves(40).map { try TreeHash(tested: $0) }
        for split in 0...leaves.count {
            var whole = MerkleFrontier()
            for leaf in leaves[..<split] { whole.append(leaf) }
            var claimed = try #require(MerkleFrontier(size: whole.size, hashes: whole.hashes))
            for leaf in leaves[split...] {
                whole.append(leaf)
                claimed.append(leaf)
            }
            #expect(claimed == whole)
        }
    }

    @Test(arguments: [(0, 1), (1, 0), (1, 2), (7, 2), (8, 4), (.max, 63)] as [(UInt64, Int)])
    func frontier_refusesAnotherNumberOfHashes(size: UInt64, count: Int) {
        #expect(MerkleFrontier(size: size, hashes: Array(repeating: .emptyTree, count: count)) == nil)
    }

    @Test func nothingIsAddedToTheLargestTree() throws {
        let hashes = Array(repeating: TreeHash.leaf([]), count: 63)
        var frontier = try #require(MerkleFrontier(size: .max - 1, hashes: hashes))
        frontier.append(.leaf([1]))
        #expect(frontier.size == .max && frontier.hashes.count == 64)
        let full = frontier
        frontier.append(.leaf([2]))
        #expect(frontier == full)
    }

    // MARK: Published trees

    /// The eight leaves of the reference trees of Certificate Transparency.
    static let referenceLeaves: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43], Array(0x50...0x57),
        Array(0x60...0x6F),
    ]

    @Test(.enabled(if: OutsideVectors.present, "the outside vectors are not here"))
    func itLeadsToTheRootsOfThePublishedCases() throws {
        var frontier = MerkleFrontier()
        var roots: [UInt64: TreeHash] = [:]
        for leaf in Self.referenceLeaves {
            frontier.append(.leaf(leaf))
            roots[frontier.size] = frontier.root
        }
        let inclusion: [MerkleVectorTests.InclusionCase] = try OutsideVectors.list("merkle/inclusion.json")
        let consistency: [MerkleVectorTests.ConsistencyCase] = try OutsideVectors.list("merkle/consistency.json")
        let published =
            inclusion.filter { !$0.wantErr && $0.name.contains("happy-path") }.map { ($0.treeSize, $0.root) }
            + consistency.filter { !$0.wantErr && $0.name.contains("happy-path") }
            .flatMap { [($0.size1, $0.root1), ($0.size2, $0.root2)] }
        #expect(Set(published.map(\.0)) == [1, 2, 3, 5, 6, 7, 8])
        for (size, root) in published { #expect(roots[size]?.bytes == Array(root)) }
    }

    @Test(.enabled(if: OutsideVectors.present, "the outside vectors are not here"))
    func itLeadsToEveryCheckpointOfAPublishedLog() throws {
        let bundle = try EntryBundle(
            decoding: OutsideVectors.bytes("tiles-log/tile/entries/000.p/15"), width: 15)
        var frontier = MerkleFrontier()
        for size in 0...15 {
            let note = try SignedNote(decoding: OutsideVectors.bytes("tiles-log/checkpoint.\(size)"))
            #expect(try Checkpoint(decoding: note.text).head == frontier.head)
            if size < 15 { frontier.append(.leaf(bundle.entries[size])) }
        }
    }
}
