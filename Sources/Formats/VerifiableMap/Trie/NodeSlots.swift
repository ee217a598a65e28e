// SPDX-License-Identifier: Apache-2.0

/// Which slots are in use, and by how many parents: what only the writer knows.
///
/// Readers never see these counts, so they need no lock.
struct NodeSlots<Node: BitwiseCopyable & Sendable>: Sendable {
    private let memory: NodeMemory<Node>
    /// For every slot the inner nodes and versions that point to it; zero when it is free.
    private var owners: [UInt32] = []
    private var free: [UInt32] = []

    init(_ memory: NodeMemory<Node>) { self.memory = memory }

    /// How many more nodes can be added.
    var room: Int { NodeMemory<Node>.capacity - owners.count + free.count }

    /// How many nodes there are.
    var count: Int { owners.count - free.count }

    /// A slot with this node, owned once.
    mutating func add(_ node: Node) -> UInt32 {
        let slot: UInt32
        if let reused = free.popLast() {
            slot = reused
            owners[Int(slot)] = 1
        } else {
            slot = UInt32(truncatingIfNeeded: owners.count)
            owners.append(1)
        }
        memory.fill(slot, with: node)
        return slot
    }

    mutating func retain(_ slot: UInt32) { owners[Int(slot)] += 1 }

    /// Takes one owner away and returns whether it was the last.
    mutating func release(_ slot: UInt32) -> Bool {
        owners[Int(slot)] -= 1
        guard owners[Int(slot)] == 0 else { return false }
        free.append(slot)
        return true
    }
}
