// SPDX-License-Identifier: Apache-2.0

/// The writer's view of the nodes: it adds nodes and takes them away, and never changes one.
///
/// A version shares with the one before it all nodes below which nothing changed. Every node knows how many others point to
/// it; when the last one goes, it goes too.
struct TrieNodes: Sendable {
    let memory: TrieMemory
    private var inner: NodeSlots<InnerNode>
    private var leaves: NodeSlots<LeafNode>

    init() {
        memory = TrieMemory()
        inner = NodeSlots(memory.inner)
        leaves = NodeSlots(memory.leaves)
    }

    /// How many nodes all versions have together.
    var count: Int { inner.count + leaves.count }

    /// Whether a batch of `count` entries surely fits on a trie of `size` entries: every inner node may have to be
    /// copied, and there is one more for every new entry.
    func hasRoom(for count: Int, on size: Int) -> Bool { leaves.room >= count && inner.room >= count + size }

    mutating func addLeaf(_ entry: MapEntry) -> NodeLink { .leaf(leaves.add(LeafNode(entry))) }

    /// An inner node, which becomes the owner of its children.
    mutating func addInner(bit: UInt8, left: NodeLink, right: NodeLink) -> NodeLink {
        let hash = MapHash.node(memory.hash(left), memory.hash(right), bit: bit)
        return .inner(inner.add(InnerNode(hash: hash, left: left, right: right, bit: bit)))
    }

    mutating func retain(_ link: NodeLink) {
        if link.isLeaf { leaves.retain(link.slot) } else { inner.retain(link.slot) }
    }

    /// Takes one owner away, and everything that then has none. At most 256 deep, as the trie is.
    mutating func release(_ link: NodeLink) {
        guard link != .none else { return }
        if link.isLeaf {
            _ = leaves.release(link.slot)
        } else if inner.release(link.slot) {
            let node = memory.inner[link.slot]
            release(node.left)
            release(node.right)
        }
    }
}
