// SPDX-License-Identifier: Apache-2.0

import Crypto
package import KeyTransparency
package import TransparencyLog
package import VRF
import VerifiableMap

/// The log and index of a directory, filled with people who do not matter: one device and one state each.
package struct OtherPeople: ~Copyable {
    package private(set) var tree = MerkleTree()
    package private(set) var histories = LabelHistories()
    package private(set) var index = EpochIndex()
    package private(set) var count: UInt64 = 0
    /// Whether the log's tree is kept; proofs of the log need it, the index does not.
    private let keepsTree: Bool

    /// A directory without people.
    package init(keepsTree: Bool = true) { self.keepsTree = keepsTree }

    /// The label of the nth person, from 1: as random as a VRF hash.
    package static func label(_ number: UInt64) throws -> VRFHash {
        let seed = SHA512.hash(data: withUnsafeBytes(of: number.bigEndian) { Array($0) })
        guard let label = VRFHash(Array(seed)) else { throw BenchFault.notInTheIndex }
        return label
    }

    /// Logs this many people more.
    package mutating func come(_ number: Int) throws {
        for _ in 0..<number {
            count += 1
            let label = try Self.label(count)
            guard let leaf = DeviceLeaf(label: label, publicKey: Array(label.bytes.prefix(32))),
                let commitment = StateCommitment(Array(label.bytes.suffix(32)))
            else { throw BenchFault.notInTheIndex }
            let record = StateRecord(label: LabelIndex(label), version: 1, kind: .set, commitment: commitment)
            try log(.device(leaf), leaf: .leaf(leaf.entry))
            try log(.state(record), leaf: .leaf(record.entry))
        }
    }

    /// Logs an entry.
    package mutating func log(_ entry: LogEntry, leaf: TreeHash) throws {
        try histories.add(entry, leaf: leaf)
        if keepsTree { tree.append(leaf) }
    }

    /// Ends the epoch.
    @discardableResult
    package mutating func endEpoch(at time: UInt64) throws -> EpochRecord {
        let record = try index.close(histories.settle(), at: time, index: histories.size)
        try log(.epoch(record), leaf: .leaf(record.entry))
        return record
    }
}

/// Why there is nothing to measure.
package enum BenchFault: Error {
    /// The person who was logged is not in the index.
    case notInTheIndex
}
