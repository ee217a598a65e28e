// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// What evidence proves of a log. Only ``EvidenceVerifier`` makes one.
public struct ProvenFault: Hashable, Sendable {
    /// The log key whose signatures prove it.
    public let log: VerifierKey
    /// What it did.
    public let deed: Deed

    /// What a log did that no honest log does.
    public enum Deed: Hashable, Sendable {
        /// It signed two histories. The witnesses cosigned both, which no honest witness does.
        case fork(TreeHead, TreeHead, witnesses: [VerifierKey])
        /// It signed a tree with an entry of no known kind.
        case unknownEntry(at: UInt64)
        /// It signed a tree that does not end in an epoch record.
        case noEpochRecord(size: UInt64)
        /// It logged two steps of one label in one epoch.
        case secondStep(label: LabelIndex, first: UInt64, second: UInt64)
        /// It logged a version of a label that is not above an earlier one.
        case version(label: LabelIndex, earlier: UInt64, later: UInt64, at: UInt64)
        /// It logged an entry of a label after the record at `closed` that ended it.
        case stepAfterClose(label: LabelIndex, closed: UInt64, at: UInt64)
        /// It logged a succession whose number is not above an earlier one's.
        case succession(earlier: UInt64, later: UInt64, at: UInt64)
        /// It logged something after the record at `ended` that handed over to another log.
        case afterTheEnd(ended: UInt64, at: UInt64)
        /// It logged the end of another log elsewhere than at its beginning.
        case predecessorTooLate(at: UInt64)
        /// Two of its epoch records do not fit together.
        case epochs(EpochRecord, EpochRecord, at: UInt64)
        /// Replaying all its entries breaks this rule at this entry.
        case replayed(IndexFault, at: UInt64)
    }

    init(log: VerifierKey, deed: Deed) {
        self.log = log
        self.deed = deed
    }
}

/// Why evidence does not prove what it claims.
public enum EvidenceVerificationError: Error, Hashable, Sendable {
    /// A checkpoint is not one that a trusted log signed.
    case checkpoint(CheckpointVerificationError)
    /// The two checkpoints are of two logs.
    case otherOrigin
    /// The two checkpoints have one size and one root.
    case sameTree
    /// The first checkpoint is the larger one.
    case wrongOrder
    /// Two sizes, and nothing that links them: ask the log for a consistency proof between them.
    case linkMissing(from: UInt64, to: UInt64)
    /// A link between two checkpoints of one size.
    case linkNotNeeded
    /// The link does not lead to the larger tree.
    case link(ConsistencyProofError)
    /// The link shows that the larger tree begins with the smaller one: no fork.
    case linkShowsOneHistory
    /// An entry is not where it is said to be.
    case inclusion(index: UInt64, InclusionProofError)
    /// The entries are in the log, and do not show the fault.
    case entriesShowNoFault
    /// Only the whole log shows this fault: replay as many of its entries.
    case logNeeded(size: UInt64)
    /// The entries that were replayed are not those of the checkpoint.
    case otherEntries(computed: TreeHash)
    /// The entries of the checkpoint were replayed: they break no rule, or another one or elsewhere.
    case replayShowsOtherwise(AuditFinding)
}
