// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VRF
public import VerifiableMap

/// Why a lookup was refused: one case a check, so that the case names the row of the page.
public enum LookupError: Error, Hashable, Sendable {
    /// ``LookupCheck/envelope``
    case envelope(LookupMessageError)
    /// ``LookupCheck/vrf``
    case vrf(VRFProofError)
    /// ``LookupCheck/accountState``: malformed or unsigned.
    case accountState(AccountStateError)
    /// ``LookupCheck/accountState``: properly signed, but of another account.
    case anotherAccount(Handle)
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
    /// ``LookupCheck/freshness``
    case freshness(FreshnessError)
    /// ``LookupCheck/epoch``
    case epoch(EpochError)
    /// ``LookupCheck/index``
    case index(MapProofError)
    /// ``LookupCheck/history``
    case history(HistoryError)
    /// ``LookupCheck/inclusion``
    case inclusion(InclusionProofError)
    /// ``LookupCheck/consistency``: holds both checkpoints.
    case consistency(LogContradiction)
    /// ``LookupCheck/consistency``: a first visit needs no consistency proof, yet one came.
    case uncalledForConsistencyProof

    /// Whether `check` had been made and held when the answer was refused.
    ///
    /// A smaller log and a fork show without a proof and are refused before what follows the cosignatures is looked at.
    public func wasPassed(_ check: LookupCheck) -> Bool {
        let isSeenEarly =
            if case .consistency(let contradiction) = self {
                contradiction.fault == .rollback || contradiction.fault == .fork
            } else { false }
        return check.rawValue < (isSeenEarly ? LookupCheck.freshness : self.check).rawValue
    }

    /// The check that refused.
    public var check: LookupCheck {
        switch self {
        case .envelope: .envelope
        case .vrf: .vrf
        case .accountState, .anotherAccount: .accountState
        case .note, .checkpointText: .checkpointText
        case .origin: .origin
        case .logSignature: .logSignature
        case .cosignatures: .cosignatures
        case .freshness: .freshness
        case .epoch: .epoch
        case .index: .index
        case .history: .history
        case .inclusion: .inclusion
        case .consistency, .uncalledForConsistencyProof: .consistency
        }
    }
}

/// Why the epoch record of an answer was refused.
public enum EpochError: Error, Hashable, Sendable {
    /// It is not the last entry of the log that was signed.
    case notTheLastEntry(InclusionProofError)
    /// The log is empty: there is no epoch.
    case emptyLog
    /// It does not fit the size of the log: an epoch has at least its own record.
    case start(UInt64, size: UInt64)
    /// It is ahead of this device's clock.
    case fromTheFuture(secondsAhead: UInt64)
    /// It ended longer before it was seen than ``EpochTimeRule/maximumLag`` allows; in seconds. The directory shows an
    /// old log as the present one, or its clock stands still. Of a log that goes on from another one: it ended as much longer
    /// before that one's end.
    case behind(seconds: UInt64)
    /// It ended later than it was seen; in seconds.
    case ahead(seconds: UInt64)
    /// Its number or time is less than that of an epoch this client has verified in a log that was no larger.
    case runsBack(known: EpochMark, received: EpochMark)
}

/// Why what is said of a label's history was refused.
public enum HistoryError: Error, Hashable, Sendable {
    /// A label in the index has at least one entry.
    case empty
    /// The state record is not its last entry.
    case notTheLastEntry(InclusionProofError)
    /// It has fewer entries than this client has verified.
    case shrunk(known: UInt64, received: UInt64)
    /// It does not begin with the entries that this client has verified: the past of a person was changed.
    case rewritten(ConsistencyProofError)
    /// The label has left the index.
    case vanished(known: UInt64)
    /// Nothing was known, yet a consistency proof came.
    case uncalledForConsistencyProof
}
