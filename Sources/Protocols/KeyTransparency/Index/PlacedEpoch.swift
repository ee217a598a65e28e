// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// An epoch record, where it stands in a log, and its path to the log's root.
public struct PlacedEpoch: Hashable, Sendable {
    /// The log index of the record.
    public let index: UInt64
    /// The record.
    public let record: EpochRecord
    /// Its path to the root of the log that is spoken of.
    public let path: [TreeHash]

    /// A record in its place.
    public init(index: UInt64, record: EpochRecord, path: [TreeHash]) {
        self.index = index
        self.record = record
        self.path = path
    }

    /// The record has this place in the log with this head.
    ///
    /// - Throws: `InclusionProofError`.
    func verify(in head: TreeHead) throws(InclusionProofError) {
        try InclusionProof(index: index, hashes: path).verify(leaf: .leaf(record.entry), in: head)
    }

    /// Whether an entry of the log came in this epoch.
    func covers(_ entry: UInt64) -> Bool { record.start <= entry && entry < index }
}

extension ByteWriter {
    mutating func write(_ epoch: PlacedEpoch) {
        write(epoch.index)
        write(epoch.record)
        write(path: epoch.path)
    }

    mutating func write(_ epoch: PlacedEpoch?) {
        write(UInt8(epoch == nil ? 0 : 1))
        if let epoch { write(epoch) }
    }
}

extension ByteReader {
    mutating func placedEpoch() throws -> PlacedEpoch {
        PlacedEpoch(index: try uint64(), record: try epochRecord(), path: try path())
    }

    mutating func placedEpochOrNone() throws -> PlacedEpoch? {
        switch try uint8() {
        case 0: return nil
        case 1: return try placedEpoch()
        case let byte: throw LookupMessageError.unknownAnswer(byte)
        }
    }
}
