// SPDX-License-Identifier: Apache-2.0

/// The map at one moment. Later changes of the trie do not affect it.
///
/// Any thread may read it at any time without waiting. It keeps its nodes for as long as it is kept; what it has in
/// common with other versions is held once.
public struct MapVersion: Sendable {
    /// What all copies of a version share. The trie frees the version's nodes when it holds the last reference.
    final class Token: Sendable {
        let memory: TrieMemory
        let link: NodeLink
        let count: Int

        init(memory: TrieMemory, link: NodeLink, count: Int) {
            self.memory = memory
            self.link = link
            self.count = count
        }
    }

    let token: Token

    init(_ token: Token) { self.token = token }

    /// How many keys have a value.
    public var count: Int { token.count }

    /// The hash that stands for the whole map; ``MapHash/emptyTrie`` for a map without entries.
    public var root: MapHash { token.link == .none ? .emptyTrie : token.memory.hash(token.link) }

    /// The value of a key, nil when it has none.
    public func value(of key: MapKey) -> MapValue? {
        guard token.link != .none else { return nil }
        let memory = token.memory
        let entry = memory.leaves.address(memory.nearestLeaf(to: key, below: token.link)).pointee.entry
        return entry.key == key ? entry.value : nil
    }

    /// A proof of the key's value, or of its absence, for a verifier that knows ``root``.
    public func proof(of key: MapKey) -> MapProof {
        guard token.link != .none else { return .absentFromEmptyTrie }
        var steps: [MapPath.Step] = []
        steps.reserveCapacity(32)
        let leaf = walk(to: key, &steps)
        steps.reverse()
        let path = MapPath(walked: steps)
        return leaf.key == key ? .present(value: leaf.value, path: path) : .absent(beside: leaf, path: path)
    }

    /// The entry at which a search for `key` ends, and the steps to it from the root down.
    private func walk(to key: MapKey, _ steps: inout [MapPath.Step]) -> MapEntry {
        let memory = token.memory
        var link = token.link
        while !link.isLeaf {
            let node = memory.inner[link.slot]
            let goesRight = key.words.bit(node.bit)
            steps.append(.init(bit: node.bit, sibling: memory.hash(goesRight ? node.left : node.right)))
            link = goesRight ? node.right : node.left
        }
        return memory.leaves[link.slot].entry
    }
}
