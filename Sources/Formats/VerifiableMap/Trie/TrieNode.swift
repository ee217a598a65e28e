// SPDX-License-Identifier: Apache-2.0

/// Where a node is: a leaf or an inner node, and its slot.
struct NodeLink: Hashable, Sendable, BitwiseCopyable {
    private let rawValue: UInt32
    private static let leafBit: UInt32 = 1 << 31

    /// The root of a trie without entries. No slot has this number.
    static let none = NodeLink(rawValue: .max)

    private init(rawValue: UInt32) { self.rawValue = rawValue }

    static func leaf(_ slot: UInt32) -> NodeLink { NodeLink(rawValue: slot | leafBit) }
    static func inner(_ slot: UInt32) -> NodeLink { NodeLink(rawValue: slot) }

    /// Meaningless for ``none``.
    var isLeaf: Bool { rawValue & Self.leafBit != 0 }
    var slot: UInt32 { rawValue & ~Self.leafBit }
}

/// An entry: 96 bytes.
struct LeafNode: Sendable, BitwiseCopyable {
    let entry: MapEntry
    let hash: MapHash

    init(_ entry: MapEntry) {
        self.entry = entry
        hash = .leaf(entry)
    }
}

/// Where two groups of keys part: 48 bytes.
struct InnerNode: Sendable, BitwiseCopyable {
    let hash: MapHash
    let left, right: NodeLink
    let bit: UInt8
}
