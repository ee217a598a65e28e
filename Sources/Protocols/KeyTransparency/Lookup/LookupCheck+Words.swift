// SPDX-License-Identifier: Apache-2.0

extension LookupCheck {
    /// A name that scripts may rely on.
    public var name: String {
        switch self {
        case .envelope: "envelope"
        case .vrf: "vrf"
        case .accountState: "account-state"
        case .checkpointText: "checkpoint-text"
        case .origin: "origin"
        case .logSignature: "log-signature"
        case .cosignatures: "cosignatures"
        case .epoch: "epoch"
        case .index: "index"
        case .history: "history"
        case .inclusion: "inclusion"
        case .freshness: "freshness"
        case .consistency: "consistency"
        }
    }

    /// What holds when it passed, for people; without a full stop.
    public var statement: String {
        switch self {
        case .envelope: "The answer is complete and well formed"
        case .vrf: "It is about this handle and no other"
        case .accountState: "An account in it is signed by the person's own identity"
        case .checkpointText: "The directory's statement is well formed"
        case .origin: "It comes from the directory you chose"
        case .logSignature: "The directory signed it"
        case .cosignatures: "The witnesses that the directory file names signed it too"
        case .epoch: "The log ends in the record of its last epoch"
        case .index: "That epoch's index says the same about this handle"
        case .history: "Nothing came after it, and what you knew of the person's past is unchanged"
        case .inclusion: "It is in the public log"
        case .freshness: "The witnesses saw it recently"
        case .consistency: "The log only grew since you last looked"
        }
    }
}
