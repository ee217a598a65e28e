// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import TransparencyLog
public import VerifiableMap

/// The history of one label in two numbers: how many log entries it has, and the root over their leaf hashes.
///
/// A label's entries, in the order of the log, are the leaves of a Merkle tree of their own, so that what an RFC 6962
/// proof shows of a log it shows of a person: what came last, and that nothing earlier was changed.
public struct LabelHead: Hashable, Sendable {
    /// How many entries.
    public var count: UInt64 { tree.size }
    /// The root over their leaf hashes.
    public var root: TreeHash { tree.root }
    /// The same as the head of a tree.
    public let tree: TreeHead

    /// The head of a label's history.
    public init(_ tree: TreeHead) { self.tree = tree }

    /// What the index holds for the label: SHA-256("kt-head/v1" || count, 8 bytes || root).
    public var value: MapValue {
        var writer = ByteWriter()
        writer.write("kt-head/v1")
        writer.write(count)
        writer.write(root.bytes)
        return MapValue(SHA256.hash(data: writer.bytes))
    }
}
