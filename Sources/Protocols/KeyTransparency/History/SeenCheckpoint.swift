// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// A checkpoint as the quorum cosigned it when an entry was in the log, or was not yet: what shows how old the entry is, from
/// both sides.
///
/// An epoch's time is the server's own word, and the quorum bounds it only if the log ended in it when someone looked
/// (``EpochTimeRule``). An attacker who controls the server could log two epochs at once, and date the first one back
/// or the second one ahead. A cosignature over a log with the entry cannot be made later than it was made; and no
/// witness cosigns a log without the entry once it has cosigned one with it.
public struct SeenCheckpoint: Hashable, Sendable {
    /// The signed note, as it was published; 1 to 65,535 bytes.
    public let note: [UInt8]
    /// From that checkpoint to the log that is spoken of.
    public let consistency: ConsistencyProof

    /// A checkpoint and its proof.
    public init(note: [UInt8], consistency: ConsistencyProof) {
        self.note = note
        self.consistency = consistency
    }

    /// When the quorum had seen the log with an entry, or saw it without, in seconds since 1970; nil if this does not show that it
    /// did.
    ///
    /// - Parameters:
    ///   - entry: the entry's index in the log.
    ///   - isThere: whether the log has the entry at that time.
    ///   - checkpoint: the log that is spoken of.
    ///   - policy: whose log and quorum it must be. One that took the place of another does not know the other's witnesses.
    func time(of entry: UInt64, isThere: Bool, in checkpoint: Checkpoint, by policy: Policy) -> UInt64? {
        guard let note = try? SignedNote(decoding: note), let seen = try? policy.verify(note) else { return nil }
        let head = seen.checkpoint.head
        guard seen.checkpoint.origin == checkpoint.origin else { return nil }
        guard (entry < head.size) == isThere else { return nil }
        guard (try? consistency.verify(from: head, to: checkpoint.head)) != nil else { return nil }
        return isThere ? seen.completed(for: policy) : seen.quorumTime
    }
}

extension VerifiedCheckpoint {
    /// When so many had cosigned that they were a quorum, in seconds since 1970: one witness that was shown the checkpoint long before
    /// the others makes it no older.
    fileprivate func completed(for policy: Policy) -> UInt64? {
        cosignatures.map(\.time).sorted().first { time in
            policy.isQuorumMet(by: Set(cosignatures.filter { $0.time <= time }.map(\.name)))
        }
    }
}

/// When an entry was logged, as far as that is shown.
public struct LoggedMoment: Hashable, Sendable {
    /// The first epoch that ended after it.
    public let epoch: EpochRecord
    /// When the quorum saw the log without it, in seconds since 1970: it was logged later. Nil where that is not shown.
    public let absentAt: UInt64?
    /// When the quorum had seen the log with it, in seconds since 1970: it was logged before. Nil where that is not shown.
    public let seenAt: UInt64?
}

extension ByteWriter {
    mutating func write(_ seen: SeenCheckpoint?) {
        guard let seen, seen.note.count <= Int(UInt16.max) else { return write(UInt16(0)) }
        write(UInt16(seen.note.count))
        write(seen.note)
        write(path: seen.consistency.hashes)
    }
}

extension ByteReader {
    mutating func seenCheckpoint() throws -> SeenCheckpoint? {
        let count = Int(try uint16())
        guard count > 0 else { return nil }
        let note = Array(try bytes(count))
        return SeenCheckpoint(note: note, consistency: ConsistencyProof(hashes: try path()))
    }
}
