// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VRF

/// A moment of the directory that was shown to be recent and to extend everything this client knew. Only
/// ``LookupVerifier`` makes one.
public struct VerifiedEpoch: Hashable, Sendable {
    /// The last entry of the log.
    public let record: EpochRecord
    /// The checkpoint that covers it, with the signatures that counted.
    public let checkpoint: VerifiedCheckpoint
    /// The size of the log that the record ends.
    public var size: UInt64 { checkpoint.checkpoint.head.size }
    /// Seconds since the quorum vouched for the checkpoint.
    public let age: UInt64
    /// The largest checkpoint known now; store it before using the answer.
    public let view: LogView

    init(record: EpochRecord, checkpoint: VerifiedCheckpoint, age: UInt64, view: LogView) {
        self.record = record
        self.checkpoint = checkpoint
        self.age = age
        self.view = view
    }
}

/// What the directory provably holds for a handle. Only ``LookupVerifier`` makes one.
public enum VerifiedAnswer: Hashable, Sendable {
    /// These are its keys.
    case registered(VerifiedLookup)
    /// The account was closed.
    case closed(VerifiedClosure)
    /// It is not registered.
    case absent(VerifiedAbsence)

    /// The moment for which it holds.
    public var epoch: VerifiedEpoch {
        switch self {
        case .registered(let lookup): lookup.epoch
        case .closed(let closure): closure.epoch
        case .absent(let absence): absence.epoch
        }
    }

    /// The same answer with X-Wing keys that are at hand, as in ``VerifiedLookup/completed(_:)``.
    package func completed(_ find: ([UInt8]) -> [UInt8]?) -> VerifiedAnswer {
        guard case .registered(let lookup) = self else { return self }
        return .registered(lookup.completed(find))
    }

    /// Whether the X-Wing key of each device of a registered account is there.
    package var hasAllKeys: Bool { if case .registered(let lookup) = self { lookup.state.hasAllKeys } else { true } }

    init(
        _ step: CheckedStep, of handle: Handle, _ label: VRFHash, in epoch: VerifiedEpoch, _ response: LookupResponse
    ) {
        switch (step, response.answer) {
        case (.state(let state, let record, let inclusion), .present(let answer)):
            self = .registered(
                VerifiedLookup(
                    handle: handle, label: label, state: state, record: record, inclusion: inclusion,
                    history: answer.head, epoch: epoch, vrfProof: response.vrfProof))
        case (.closed(let record, _), .present(let answer)):
            self = .closed(
                VerifiedClosure(
                    handle: handle, label: label, version: record.version, history: answer.head, epoch: epoch))
        default: self = .absent(VerifiedAbsence(handle: handle, label: label, epoch: epoch))
        }
    }
}

/// Proof that a handle is not registered. Only ``LookupVerifier`` makes one.
public struct VerifiedAbsence: Hashable, Sendable {
    /// The handle that was asked for.
    public let handle: Handle
    /// The hidden label it would stand under.
    public let label: VRFHash
    /// The moment for which it holds.
    public let epoch: VerifiedEpoch
}

/// Proof that an account was closed. Only ``LookupVerifier`` makes one.
public struct VerifiedClosure: Hashable, Sendable {
    /// Whose account it was.
    public let handle: Handle
    /// The hidden label it stood under.
    public let label: VRFHash
    /// The version of the closing step.
    public let version: UInt64
    /// The label's history, which ends here.
    public let history: LabelHead
    /// The moment for which it holds.
    public let epoch: VerifiedEpoch
}

/// Keys that are provably the latest that the directory's log holds for a handle. Only ``LookupVerifier`` makes one.
///
/// Security: the server, or a holder of the account's identity key, may still have logged a key that the person does
/// not know of; comparing with what was pinned is the next decision, ``PeerTrust``.
public struct VerifiedLookup: Hashable, Sendable {
    /// Whose keys.
    public let handle: Handle
    /// The hidden label the handle stands under.
    public let label: VRFHash
    /// The account as it describes itself.
    public let state: AccountState
    /// The log entry for the step that led to this state.
    public let record: StateRecord
    /// That it is in the log.
    public let inclusion: InclusionProof
    /// All entries of the label; what a contact remembers.
    public let history: LabelHead
    /// The moment for which it holds.
    public let epoch: VerifiedEpoch
    private let vrfProof: VRFProof

    init(
        handle: Handle, label: VRFHash, state: AccountState, record: StateRecord, inclusion: InclusionProof,
        history: LabelHead, epoch: VerifiedEpoch, vrfProof: VRFProof
    ) {
        self.handle = handle
        self.label = label
        self.state = state
        self.record = record
        self.inclusion = inclusion
        self.history = history
        self.epoch = epoch
        self.vrfProof = vrfProof
    }

    /// Kind of the step that led to this state.
    public var kind: StateKind { record.kind }
    /// The checkpoint that covers it, with the signatures that counted.
    public var checkpoint: VerifiedCheckpoint { epoch.checkpoint }
    /// Seconds since the quorum vouched for the checkpoint.
    public var age: UInt64 { epoch.age }
    /// The largest checkpoint known now; store it before using the keys.
    public var view: LogView { epoch.view }

    /// The same lookup with X-Wing keys that are at hand, such as those that came with an earlier one. Keys that are not those
    /// that the state lists are left out.
    ///
    /// - Parameter find: gives the X-Wing key of the device whose keys have this hash, or nil.
    package func completed(_ find: ([UInt8]) -> [UInt8]?) -> VerifiedLookup {
        VerifiedLookup(
            handle: handle, label: label, state: state.completed(find), record: record, inclusion: inclusion,
            history: history, epoch: epoch, vrfProof: vrfProof)
    }

    /// An offline proof of the state record, in the form of C2SP tlog-proof, with the VRF proof in its `extra` line.
    ///
    /// - Throws: `TlogProofError`: the parts do not make a proof, which is a bug of ours.
    public func tlogProof() throws(TlogProofError) -> TlogProof {
        try TlogProof(extra: vrfProof.bytes, inclusion: inclusion, note: checkpoint.note)
    }
}
