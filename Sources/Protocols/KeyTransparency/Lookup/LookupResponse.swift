// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VRF
public import VerifiableMap

/// What a directory answers: everything a client needs to check by itself which keys a handle has, or that it has none.
///
/// Log entries are not in it as such: the client builds them from what it has checked. Wire form, integers big-endian;
/// a path is a count (1 byte) and that many hashes of 32 bytes:
///
/// | bytes | what |
/// |---|---|
/// | 17 | `signet-lookup/v2` LF |
/// | 80 | VRF proof for the handle |
/// | 5 × 8 | the last epoch record: number, time, start, label count, milestone |
/// | 32 | its index root |
/// | 1 + 32n | path of the epoch record, the last entry of the log, to the log's root |
/// | 1 | kind of the label's last step: 0 none, 1 set, 2 reset, 3 close |
/// | | *none*: absence in the index |
/// | 1 + 64m | whether another leaf follows (0 or 1); its key and value |
/// | 2 + 33n | its path to the index root: count, steps |
/// | | *set, reset, close*: presence in the index |
/// | 2 + 33n | path of the label to the index root: count, steps |
/// | 8 + 32 | head of the label's history: count, root |
/// | 1 + 32n | path of its last entry, the state record, to that root |
/// | 1 + 32n | consistency from the known count |
/// | 8 + 1 + 32n | the state record in the log: index, path |
/// | | *set, reset* |
/// | 32 | opening of the commitment |
/// | 2 + n | the account state, with its length; with the X-Wing keys of its devices beside it if they were asked for |
/// | | *close* |
/// | 8 | version of the closing step |
/// | | *all* |
/// | 1 + 32n | consistency of the log from the known size |
/// | rest | the checkpoint, a signed note |
public struct LookupResponse: Hashable, Sendable {
    /// No response is longer, in bytes.
    public static let maximumByteCount = 262_144
    /// No Merkle path in a tree of fewer than 2^63 leaves is longer, in hashes.
    public static let maximumPathLength = 63

    /// What is said of the label.
    public enum Answer: Hashable, Sendable {
        /// It is not in the index.
        case absent(MapProof)
        /// It is, with this history.
        case present(LabelAnswer)
    }

    /// Proof that the label is the handle's.
    public let vrfProof: VRFProof
    /// The last entry of the log.
    public let epoch: EpochRecord
    /// Its path to the log's root.
    public let epochPath: [TreeHash]
    /// What is said of the label.
    public let answer: Answer
    /// That the checkpoint extends the one the client knows; empty if it knows none or the same.
    public let consistency: ConsistencyProof
    /// The checkpoint, a signed note as text.
    public let note: [UInt8]

    static let format = Array("signet-lookup/v2\n".utf8)

    /// An answer of these parts.
    public init(
        vrfProof: VRFProof, epoch: EpochRecord, epochPath: [TreeHash], answer: Answer,
        consistency: ConsistencyProof, note: [UInt8]
    ) {
        self.vrfProof = vrfProof
        self.epoch = epoch
        self.epochPath = epochPath
        self.answer = answer
        self.consistency = consistency
        self.note = note
    }
}

/// The part of an answer about a label that is in the index.
public struct LabelAnswer: Hashable, Sendable {
    /// The last step, as far as it must be sent.
    public enum Step: Hashable, Sendable {
        /// An account state under the opening of its commitment (32 bytes), logged with this kind: set or reset.
        case state(StateKind, opening: [UInt8], encoded: [UInt8])
        /// The account was closed at this version.
        case closed(version: UInt64)
    }

    /// The label's path to the index root.
    public let indexPath: MapPath
    /// The label's history, which the index holds.
    public let head: LabelHead
    /// The path of its last entry, the state record, to the history's root.
    public let lastPath: [TreeHash]
    /// That the history extends the one the client knows; empty if it knows none or the same.
    public let historyConsistency: ConsistencyProof
    /// That the state record is in the log.
    public let inclusion: InclusionProof
    /// The last step.
    public let step: Step

    /// An answer of these parts.
    public init(
        indexPath: MapPath, head: LabelHead, lastPath: [TreeHash], historyConsistency: ConsistencyProof,
        inclusion: InclusionProof, step: Step
    ) {
        self.indexPath = indexPath
        self.head = head
        self.lastPath = lastPath
        self.historyConsistency = historyConsistency
        self.inclusion = inclusion
        self.step = step
    }
}
