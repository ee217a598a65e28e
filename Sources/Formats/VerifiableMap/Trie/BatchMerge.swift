// SPDX-License-Identifier: Apache-2.0

extension TrieNodes {
    /// The trie below `root` with all entries of the batch, owned by the caller. `root` stays as it is.
    ///
    /// Every node on the way to an entry is copied once, however many entries are below it.
    mutating func merge(_ batch: SortedBatch, into root: NodeLink) -> NodeLink {
        let all = batch.entries.indices
        if root == .none { return all.isEmpty ? .none : build(batch, all) }
        return merge(batch, all, into: root)
    }

    private mutating func merge(_ batch: SortedBatch, _ range: Range<Int>, into link: NodeLink) -> NodeLink {
        guard !range.isEmpty else {
            retain(link)
            return link
        }
        let departure = batch.firstDeparture(in: range)
        if link.isLeaf {
            // At a leaf, no departure means the leaf's own key, and no key is in a batch twice.
            guard departure < Words32.bitCount else { return addLeaf(batch.entries[range.lowerBound]) }
            return branch(batch, range, beside: link, at: UInt8(truncatingIfNeeded: departure))
        }
        let node = memory.inner[link.slot]
        if departure < Int(node.bit) {
            return branch(batch, range, beside: link, at: UInt8(truncatingIfNeeded: departure))
        }
        let split = batch.split(range, at: node.bit)
        let left = merge(batch, range.lowerBound..<split, into: node.left)
        let right = merge(batch, split..<range.upperBound, into: node.right)
        return addInner(bit: node.bit, left: left, right: right)
    }

    /// A new node above `link`, at a bit in which all keys below `link` agree and where the first entries leave them.
    ///
    /// On one side are only such entries; the other entries go with `link`.
    private mutating func branch(
        _ batch: SortedBatch, _ range: Range<Int>, beside link: NodeLink, at bit: UInt8
    ) -> NodeLink {
        let split = batch.split(range, at: bit)
        let (zeros, ones) = (range.lowerBound..<split, split..<range.upperBound)
        if !zeros.isEmpty && batch.departures[zeros.lowerBound] == UInt16(bit) {
            let left = build(batch, zeros)
            return addInner(bit: bit, left: left, right: merge(batch, ones, into: link))
        }
        let left = merge(batch, zeros, into: link)
        return addInner(bit: bit, left: left, right: build(batch, ones))
    }

    /// A trie of the entries of the range, which is not empty.
    private mutating func build(_ batch: SortedBatch, _ range: Range<Int>) -> NodeLink {
        let first = batch.entries[range.lowerBound]
        guard range.count > 1 else { return addLeaf(first) }
        let last = batch.entries[range.upperBound - 1]
        let bit = UInt8(truncatingIfNeeded: first.key.words.firstDifference(from: last.key.words))
        let split = batch.split(range, at: bit)
        let left = build(batch, range.lowerBound..<split)
        return addInner(bit: bit, left: left, right: build(batch, split..<range.upperBound))
    }
}
