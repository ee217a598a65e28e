// SPDX-License-Identifier: Apache-2.0

/// Entries in the order of their keys, and where each leaves the trie that they are for.
struct SortedBatch {
    let entries: [MapEntry]
    /// For each entry the first bit in which its key differs from every key of the trie; 256 when the trie has it.
    let departures: [UInt16]
    /// How many keys the trie has not.
    let newCount: Int

    /// - Throws: ``MapBatchError/duplicateKey(_:)``.
    init(_ unsorted: [MapEntry], for root: NodeLink, in memory: TrieMemory) throws(MapBatchError) {
        let entries = unsorted.sorted { $0.key < $1.key }
        for (entry, next) in zip(entries, entries.dropFirst()) where entry.key == next.key {
            throw .duplicateKey(entry.key)
        }
        self.entries = entries
        departures = root == .none ? [] : Self.departures(of: entries, from: root, in: memory)
        newCount = entries.count - departures.count { $0 == Words32.bitCount }
    }

    private static func departures(
        of entries: [MapEntry], from root: NodeLink, in memory: TrieMemory
    ) -> [UInt16] {
        entries.map { entry in
            let leaf = memory.leaves.address(memory.nearestLeaf(to: entry.key, below: root))
            let bit = leaf.pointee.entry.key.words.firstDifference(from: entry.key.words)
            return UInt16(truncatingIfNeeded: bit)
        }
    }

    /// The first bit in which any entry of the range, which is not empty, leaves the trie.
    func firstDeparture(in range: Range<Int>) -> Int {
        var first = UInt16.max
        for index in range { first = min(first, departures[index]) }
        return Int(first)
    }

    /// Where in the range the keys with a one in this bit begin. The keys agree in all bits before.
    func split(_ range: Range<Int>, at bit: UInt8) -> Int {
        var low = range.lowerBound
        var high = range.upperBound
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key.words.bit(bit) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
