// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// When an entry of a label was logged: shown for each step of a recovery and each change of guardians, of which delays are counted.
///
/// The times in the steps are claims of their authors, and the time of the epoch is a claim of the server. Only what
/// the quorum cosigned before and after counts.
public struct LoggedStep: Hashable, Sendable {
    /// Which entry of the label it is, counted from 1.
    public let count: UInt64
    /// The position of the entry in the log.
    public let inclusion: InclusionProof
    /// The first epoch that ended after it.
    public let epoch: PlacedEpoch
    /// What shows that the quorum saw the log without the entry; nil shows nothing.
    public let absent: SeenCheckpoint?
    /// What shows that the quorum saw the log with the entry; nil shows nothing.
    public let seen: SeenCheckpoint?

    /// An entry in its epoch.
    public init(
        count: UInt64, inclusion: InclusionProof, epoch: PlacedEpoch, absent: SeenCheckpoint? = nil,
        seen: SeenCheckpoint? = nil
    ) {
        self.count = count
        self.inclusion = inclusion
        self.epoch = epoch
        self.absent = absent
        self.seen = seen
    }

    /// The entry is in the log with this head, and came in this epoch.
    ///
    /// Security: the epoch is the first that ended after *this* place in the log. That the log has no second copy of the
    /// entry, which its index hides, is what auditors check by replay.
    func verify(_ leaf: TreeHash, in head: TreeHead) throws(LoggedStepError) {
        do { try inclusion.verify(leaf: leaf, in: head) } catch { throw .entry(error) }
        do { try epoch.verify(in: head) } catch { throw .epoch(error) }
        guard epoch.covers(inclusion.index) else { throw .anotherEpoch }
    }
}

/// Why it is not shown in which epoch an entry was logged.
public enum LoggedStepError: Error, Hashable, Sendable {
    /// It is about no entry of the answer, or not in the order of the entries.
    case noSuchEntry
    /// The entry is not in the log.
    case entry(InclusionProofError)
    /// The epoch record is not in the log.
    case epoch(InclusionProofError)
    /// The entry came in another epoch.
    case anotherEpoch
}

extension ByteWriter {
    mutating func write(_ step: LoggedStep) {
        write(step.count)
        write(step.inclusion.index)
        write(path: step.inclusion.hashes)
        write(step.epoch)
        write(step.absent)
        write(step.seen)
    }
}

extension ByteReader {
    /// - Parameter isSeen: whether the form is one with checkpoints that the quorum saw.
    mutating func loggedStep(isSeen: Bool) throws -> LoggedStep {
        let count = try uint64()
        let inclusion = InclusionProof(index: try uint64(), hashes: try path())
        return LoggedStep(
            count: count, inclusion: inclusion, epoch: try placedEpoch(), absent: isSeen ? try seenCheckpoint() : nil,
            seen: isSeen ? try seenCheckpoint() : nil)
    }
}
