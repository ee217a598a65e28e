public import TransparencyLog
public import VRF

/// Why a lookup was refused: one case a check, so that the case names the row of the page.
public enum LookupError: Error, Hashable, Sendable {
    /// ``LookupCheck/envelope``
    case envelope(LookupMessageError)
    /// ``LookupCheck/vrf``
    case vrf(VRFProofError)
    /// ``LookupCheck/accountState``: malformed or unsigned.
    case accountState(AccountStateError)
    /// ``LookupCheck/accountState``: properly signed, of somebody else.
    case anotherAccount(Handle)
    /// ``LookupCheck/accountState``: the account was closed at this version.
    case accountClosed(version: UInt64)
    /// ``LookupCheck/leaves``: as many proofs as log entries are needed.
    case leafCount(expected: Int, received: Int)
    /// ``LookupCheck/checkpointText``: not a signed note.
    case note(NoteError)
    /// ``LookupCheck/checkpointText``: the note's text is not a checkpoint.
    case checkpointText(CheckpointError)
    /// ``LookupCheck/origin``: no log of the policy has this name.
    case origin(KeyName)
    /// ``LookupCheck/logSignature``
    case logSignature(CheckpointVerificationError)
    /// ``LookupCheck/cosignatures``
    case cosignatures(CheckpointVerificationError)
    /// ``LookupCheck/inclusion`` of the entry at this place in the list of leaves.
    case inclusion(leaf: Int, InclusionProofError)
    /// ``LookupCheck/freshness``
    case freshness(FreshnessError)
    /// ``LookupCheck/consistency``: holds both checkpoints.
    case consistency(LogContradiction)
    /// ``LookupCheck/consistency``: a first visit needs no consistency proof, yet one came.
    case uncalledForConsistencyProof

    /// Whether `check` had been made and held when the answer was refused.
    ///
    /// A smaller log and a fork show without a proof and are refused before inclusion and freshness are looked at.
    public func wasPassed(_ check: LookupCheck) -> Bool {
        let isSeenEarly =
            if case .consistency(let contradiction) = self {
                contradiction.fault == .rollback || contradiction.fault == .fork
            } else { false }
        return check.rawValue < (isSeenEarly ? LookupCheck.inclusion : self.check).rawValue
    }

    /// The check that refused.
    public var check: LookupCheck {
        switch self {
        case .envelope: .envelope
        case .vrf: .vrf
        case .accountState, .anotherAccount, .accountClosed: .accountState
        case .leafCount: .leaves
        case .note, .checkpointText: .checkpointText
        case .origin: .origin
        case .logSignature: .logSignature
        case .cosignatures: .cosignatures
        case .inclusion: .inclusion
        case .freshness: .freshness
        case .consistency, .uncalledForConsistencyProof: .consistency
        }
    }
}
