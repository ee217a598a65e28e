// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

struct MerkleTreeTests {
    @Test func everyProofOfEverySizeUpTo130IsTheOneOfTheRFC() async throws {
        let leaves = distinctLeaves(130)
        let hashes = try leaves.map { try TreeHash(tested: $0) }
        var tree = MerkleTree()
        for hash in hashes { tree.append(hash) }
        for size in 0...leaves.count {
            await Task.yield()  // Tests of real servers share the threads.
            let head = try tree.head(size: UInt64(size))
            #expect(head.root.bytes == RecursiveTree.root(leaves[..<size]))
            for index in 0..<size {
                let proof = try tree.inclusionProof(index: UInt64(index), size: UInt64(size))
                #expect(proof.hashes.map(\.bytes) == RecursiveTree.path(index, leaves[..<size]))
                try proof.verify(leaf: hashes[index], in: head)
            }
            for old in 1..<max(1, size) {
                let proof = try tree.consistencyProof(from: UInt64(old), to: UInt64(size))
                #expect(proof.hashes.map(\.bytes) == RecursiveTree.consistency(old, leaves[..<size]))
                try proof.verify(from: try tree.head(size: UInt64(old)), to: head)
            }
        }
    }

    @Test func noProofHoldsForAnotherSizeIndexOrLeaf() throws {
        let hashes = try distinctLeaves(40).map { try TreeHash(tested: $0) }
        var tree = MerkleTree()
        for hash in hashes { tree.append(hash) }
        for size in 1...20 {
            let head = try tree.head(size: UInt64(size))
            for index in 0..<size {
                let proof = try tree.inclusionProof(index: UInt64(index), size: UInt64(size))
                for other in 0..<40 where other != index {
                    #expect(throws: InclusionProofError.self) {
                        try proof.verify(leaf: hashes[other], in: head)
                    }
                    let moved = InclusionProof(index: UInt64(other), hashes: proof.hashes)
                    #expect(throws: InclusionProofError.self) {
                        try moved.verify(leaf: hashes[index], in: head)
                    }
                }
            }
        }
    }

    @Test func aTreeKeepsItsValueWhenACopyGrows() throws {
        var tree = MerkleTree()
        for hash in try distinctLeaves(5).map({ try TreeHash(tested: $0) }) { tree.append(hash) }
        let copy = tree
        tree.append(.leaf([9]))
        #expect(copy.size == 5 && tree.size == 6)
        #expect(try copy.root(size: 5) == tree.root(size: 5))
        #expect(throws: MerkleTreeError.sizeBeyondTree(requested: 6, size: 5)) { try copy.root(size: 6) }
    }

    @Test func storageChunksMeetWithoutSeam() throws {
        var tree = MerkleTree()
        var hashes: [TreeHash] = []
        for number in 0..<9000 {
            hashes.append(.leaf(Array("\(number)".utf8)))
            tree.append(hashes[number])
        }
        for size in [4095, 4096, 4097, 8191, 8192, 8193, 9000] {
            #expect(try tree.root(size: UInt64(size)) == TreeHash.root(of: Array(hashes[..<size])))
            let head = try tree.head(size: UInt64(size))
            for index in [0, 4094, size - 1] {
                try tree.inclusionProof(index: UInt64(index), size: UInt64(size)).verify(
                    leaf: hashes[index], in: head)
            }
        }
    }

    @Test func requestsBeyondTheTreeAreTypedErrors() throws {
        var tree = MerkleTree()
        for hash in try distinctLeaves(3).map({ try TreeHash(tested: $0) }) { tree.append(hash) }
        #expect(throws: MerkleTreeError.sizeBeyondTree(requested: 4, size: 3)) { try tree.root(size: 4) }
        #expect(throws: MerkleTreeError.sizeBeyondTree(requested: .max, size: 3)) {
            try tree.head(size: .max)
        }
        #expect(throws: MerkleTreeError.indexBeyondSize(index: 2, size: 2)) {
            try tree.inclusionProof(index: 2, size: 2)
        }
        #expect(throws: MerkleTreeError.sizeBeyondTree(requested: 4, size: 3)) {
            try tree.inclusionProof(index: 0, size: 4)
        }
        #expect(throws: MerkleTreeError.sizesOutOfOrder(from: 3, to: 2)) {
            try tree.consistencyProof(from: 3, to: 2)
        }
        #expect(throws: MerkleTreeError.sizeBeyondTree(requested: 4, size: 3)) {
            try tree.consistencyProof(from: 1, to: 4)
        }
        for (level, index) in [(1, UInt64(1)), (2, 0), (0, 3), (-1, 0), (64, 0), (0, .max)] {
            #expect(throws: MerkleTreeError.noSuchNode(level: level, index: index)) {
                try tree.hash(level: level, index: index)
            }
        }
        #expect(try tree.consistencyProof(from: 0, to: 3).hashes.isEmpty)
        #expect(try tree.consistencyProof(from: 3, to: 3).hashes.isEmpty)
    }

    @Test func eachFaultOfAnInclusionProofIsNamed() throws {
        let log = try SmallLog()
        let head = try log.tree.head(size: 11)
        let proof = try log.tree.inclusionProof(index: 3, size: 11)
        let leaf = TreeHash.leaf(log.entries[3])
        let beyond = InclusionProof(index: 11, hashes: proof.hashes)
        #expect(throws: InclusionProofError.indexBeyondSize(index: 11, size: 11)) {
            try beyond.verify(leaf: leaf, in: head)
        }
        let short = InclusionProof(index: 3, hashes: proof.hashes.dropLast())
        #expect(throws: InclusionProofError.wrongHashCount(expected: 4, actual: 3)) {
            try short.verify(leaf: leaf, in: head)
        }
        #expect(throws: InclusionProofError.rootMismatch) { try proof.verify(leaf: .leaf([]), in: head) }
        let huge = InclusionProof(index: .max - 1, hashes: [])
        #expect(throws: InclusionProofError.wrongHashCount(expected: 63, actual: 0)) {
            try huge.root(leaf: leaf, size: .max)
        }
    }

    @Test func eachFaultOfAConsistencyProofIsNamed() throws {
        let log = try SmallLog()
        let old = try log.tree.head(size: 6), new = try log.tree.head(size: 11)
        let proof = try log.tree.consistencyProof(from: 6, to: 11)
        let wrong = TreeHash.leaf([1])
        try proof.verify(from: old, to: new)
        #expect(throws: ConsistencyProofError.shrunk(from: 11, to: 6)) {
            try proof.verify(from: new, to: old)
        }
        #expect(throws: ConsistencyProofError.fromEmptyTree) { try proof.verify(from: .empty, to: new) }
        let short = ConsistencyProof(hashes: proof.hashes.dropLast())
        #expect(throws: ConsistencyProofError.wrongHashCount(expected: 4, actual: 3)) {
            try short.verify(from: old, to: new)
        }
        #expect(throws: ConsistencyProofError.wrongHashCount(expected: 0, actual: 4)) {
            try proof.verify(from: old, to: old)
        }
        #expect(throws: ConsistencyProofError.oldRootMismatch) {
            try proof.verify(from: TreeHead(size: 6, root: wrong), to: new)
        }
        #expect(throws: ConsistencyProofError.newRootMismatch) {
            try proof.verify(from: old, to: TreeHead(size: 11, root: wrong))
        }
        #expect(throws: ConsistencyProofError.newRootMismatch) {
            try ConsistencyProof(hashes: []).verify(from: old, to: TreeHead(size: 6, root: wrong))
        }
    }
}
