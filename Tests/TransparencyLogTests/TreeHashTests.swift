// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing
import TransparencyLog

struct TreeHashTests {
    /// The eight entries and roots of the Certificate Transparency reference tree.
    static let entries: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43], Array(0x50...0x57),
        Array(0x60...0x6F),
    ]
    static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test func theReferenceTreeHasItsPublishedRoots() throws {
        var tree = MerkleTree()
        for (entry, root) in zip(Self.entries, Self.roots) {
            tree.append(.leaf(entry))
            #expect(try Hex.encode(tree.root(size: tree.size).bytes) == Array(root.utf8))
        }
        for (size, root) in Self.roots.enumerated() {
            #expect(try Hex.encode(tree.root(size: UInt64(size + 1)).bytes) == Array(root.utf8))
            let nodes = Self.entries[...size].map { TreeHash.leaf($0) }
            #expect(Hex.encode(TreeHash.root(of: nodes).bytes) == Array(root.utf8))
        }
    }

    @Test func theEmptyTreeHashesNothing() throws {
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(Hex.encode(TreeHash.emptyTree.bytes) == Array(expected.utf8))
        #expect(try MerkleTree().root(size: 0) == .emptyTree)
        #expect(TreeHash.root(of: []) == .emptyTree)
    }

    @Test func leavesOfEveryLengthHashAsThePrefixAndTheEntry() throws {
        for count in [0, 1, 55, 63, 64, 1022, 1023, 1024, 1025, 70_000] {
            let entry = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            #expect(TreeHash.leaf(entry).bytes == RecursiveTree.leaf(entry), "\(count) bytes")
        }
    }

    @Test func aNodeHashesAsThePrefixAndItsChildren() throws {
        let left = RecursiveTree.sha256([1]), right = RecursiveTree.sha256([2])
        let node = TreeHash.node(try TreeHash(tested: left), try TreeHash(tested: right))
        #expect(node.bytes == RecursiveTree.sha256([0x01] + left + right))
    }

    @Test func onlyThirtyTwoBytesAreAHash() {
        for count in [0, 1, 31, 33, 64] {
            let bytes = [UInt8](repeating: 7, count: count)
            #expect(TreeHash(bytes) == nil)
            #expect(TreeHash(bytes.span) == nil)
        }
        let bytes = Array<UInt8>(0..<32)
        #expect(TreeHash(bytes)?.bytes == bytes)
        #expect(TreeHash(bytes.span)?.bytes == bytes)
        #expect(TreeHash(bytes[...])?.hashValue == TreeHash(bytes)?.hashValue)
    }

    @Test func hashesThatDifferInOneByteAreNotEqual() {
        let bytes = Array<UInt8>(0..<32)
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 1
            #expect(TreeHash(bytes) != TreeHash(other))
        }
    }
}
