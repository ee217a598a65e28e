// SPDX-License-Identifier: Apache-2.0

extension MapVersion {
    /// All entries in the order of their keys.
    public var entries: MapEntries { MapEntries(version: self) }
}

/// The entries of a version in the order of their keys, read from the trie as they are asked for.
public struct MapEntries: Sequence, Sendable {
    let version: MapVersion

    /// Starts at the entry with the lowest key.
    public func makeIterator() -> Iterator { Iterator(version) }

    /// One walk through the entries.
    public struct Iterator: IteratorProtocol {
        private let version: MapVersion
        /// What is still to be visited, the next last: at most one node a level.
        private var waiting: [NodeLink]

        init(_ version: MapVersion) {
            self.version = version
            waiting = version.token.link == .none ? [] : [version.token.link]
        }

        /// The entry with the next higher key.
        public mutating func next() -> MapEntry? {
            let memory = version.token.memory
            while let link = waiting.popLast() {
                guard !link.isLeaf else { return memory.leaves.address(link.slot).pointee.entry }
                let node = memory.inner[link.slot]
                waiting.append(node.right)
                waiting.append(node.left)
            }
            return nil
        }
    }
}
