// SPDX-License-Identifier: Apache-2.0

import VerifiableMap

/// The trie as it is described, on byte arrays and without any storage: the slow one that ours is compared with.
struct RecursiveMap {
    private(set) var entries: [[UInt8]: [UInt8]] = [:]

    mutating func update(_ batch: [MapEntry]) {
        for entry in batch { entries[entry.key.bytes] = entry.value.bytes }
    }

    var root: [UInt8] { entries.isEmpty ? sha256([]) : Self.root(sorted) }

    /// The bytes of a proof, of presence or absence.
    func proof(of key: [UInt8]) -> [UInt8] {
        guard !entries.isEmpty else { return [] }
        let (leaf, path) = Self.walk(key, sorted)
        return leaf.key == key ? path : leaf.key + leaf.value + path
    }

    private typealias Leaf = (key: [UInt8], value: [UInt8])

    private var sorted: ArraySlice<Leaf> {
        entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }[...]
    }

    private static func bit(_ key: [UInt8], _ index: Int) -> Bool {
        key[index / 8] >> (7 - index % 8) & 1 == 1
    }

    /// The first bit in which the keys differ, and the two groups.
    private static func part(
        _ leaves: ArraySlice<Leaf>
    ) -> (bit: Int, left: ArraySlice<Leaf>, right: ArraySlice<Leaf>) {
        var bit = 0
        while true {
            let split = leaves.firstIndex { Self.bit($0.key, bit) } ?? leaves.endIndex
            if split != leaves.startIndex && split != leaves.endIndex {
                return (bit, leaves[..<split], leaves[split...])
            }
            bit += 1
        }
    }

    private static func root(_ leaves: ArraySlice<Leaf>) -> [UInt8] {
        if leaves.count == 1, let leaf = leaves.first { return sha256(leaf.key + leaf.value) }
        let (bit, left, right) = part(leaves)
        return sha256(root(left) + root(right) + [UInt8(bit)])
    }

    private static func walk(_ key: [UInt8], _ leaves: ArraySlice<Leaf>) -> (leaf: Leaf, path: [UInt8]) {
        if leaves.count == 1, let leaf = leaves.first { return (leaf, []) }
        let (bit, left, right) = part(leaves)
        let goesRight = Self.bit(key, bit)
        let (leaf, path) = walk(key, goesRight ? right : left)
        return (leaf, path + [UInt8(bit)] + root(goesRight ? left : right))
    }
}
