// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// An attack by a dishonest directory, which holds all of its own keys.
public enum Attack: String, CaseIterable, Hashable, Sendable {
    /// Another key in place of the account's, with an account state to match.
    case swappedKey = "swapped-key"
    /// The honest answer about another account.
    case anotherUsersLabel = "another-users-label"
    /// The checkpoint's root is edited after signing.
    case editedRoot = "edited-root"
    /// The checkpoint's size is edited after signing.
    case editedSize = "edited-size"
    /// A checkpoint signed by a key that is not the log's.
    case otherLogKey = "other-log-key"
    /// Cosignatures are made by keys that the policy does not name.
    case unknownCosigners = "unknown-cosigners"
    /// A checkpoint that is older and smaller than one this client has seen.
    case rollback
    /// A second log, properly signed, kept for this client alone.
    case splitView = "split-view"
    /// A second log of exactly the size that the client knows, cosigned by the same witnesses.
    case forkedWitness = "forked-witness"
    /// A checkpoint that was signed two days ago.
    case staleCheckpoint = "stale-checkpoint"
    /// A checkpoint that is cosigned with tomorrow's time.
    case futureCheckpoint = "future-checkpoint"
    /// An old log, cosigned again: its last epoch ended two hours ago, and later entries are hidden. A client that has seen the
    /// log sees a second one; for a new client, only its age reveals the attack.
    case frozenView = "frozen-view"
    /// An epoch that ends tomorrow.
    case futureEpoch = "future-epoch"
    /// The index root of an epoch before the last one.
    case oldIndexRoot = "old-index-root"
    /// A log that does not end in an epoch record.
    case missingEpochRecord = "missing-epoch-record"
    /// A device is left out of the account.
    case omittedDevice = "omitted-device"
    /// The state before the account's latest one.
    case oldState = "old-state"
    /// A new identity is logged under the account's handle, without the owner's consent.
    case replacedAccount = "replaced-account"
    /// The same, with the account's own devices in it, as for a device that is being linked.
    case foreignIdentity = "foreign-identity"
    /// A claim that the handle is not registered, with the proof for another handle.
    case deniedAccount = "denied-account"
    /// A claim that the handle is not registered, in an index from which the account was removed.
    case erasedLabel = "erased-label"
    /// An account that the index does not have.
    case inventedAccount = "invented-account"
    /// A device's key is logged under the account's handle, but is in no account state.
    case hiddenDevice = "hidden-device"
    /// Another identity for one epoch, followed by the old one again.
    case flashKey = "flash-key"
    /// A logged version that skips one, followed by the old one again.
    case wrongStep = "wrong-step"
    /// Random bytes.
    case garbage
    /// The honest answer, cut short.
    case truncated
    /// The honest answer with a long tail.
    case surplus
    /// More bytes than any valid answer has.
    case oversized
    /// The HTML page of a broken proxy.
    case errorPage = "error-page"

    /// The attack in a few words.
    public var summary: String {
        switch self {
        case .swappedKey: "another key in place of the person's"
        case .anotherUsersLabel: "another person's key and hidden label"
        case .editedRoot: "the log's root edited"
        case .editedSize: "the log's size edited"
        case .otherLogKey: "a log signed by another key"
        case .unknownCosigners: "a log cosigned by strangers"
        case .rollback: "an older log than was shown before"
        case .splitView: "a second log for this client alone"
        case .forkedWitness: "two logs of one size with the same witnesses"
        case .staleCheckpoint: "a log as it was two days ago"
        case .futureCheckpoint: "a log that witnesses see tomorrow"
        case .frozenView: "an old log with fresh cosignatures"
        case .futureEpoch: "an epoch that ends tomorrow"
        case .oldIndexRoot: "an index as it was before"
        case .missingEpochRecord: "a log that goes on after its last index"
        case .omittedDevice: "a device left out"
        case .oldState: "the person's keys as they were before"
        case .replacedAccount: "a new identity under the person's name"
        case .foreignIdentity: "a new identity over the person's own devices"
        case .deniedAccount: "no account of that name, with another name's proof"
        case .erasedLabel: "no account of that name, in an index without the person"
        case .inventedAccount: "an account that is in no index"
        case .hiddenDevice: "a device's key that no account state names"
        case .flashKey: "another identity for one epoch"
        case .wrongStep: "a version that skips one"
        case .garbage: "random bytes"
        case .truncated: "an answer cut short"
        case .surplus: "an answer with bytes to spare"
        case .oversized: "an endless answer"
        case .errorPage: "a web page"
        }
    }

    /// What must stop the attack at a client that knows the account and has seen the log.
    public enum Stop: Hashable, Sendable {
        /// This check refuses the answer.
        case check(LookupCheck)
        /// The answer is in the log, but differs from what was accepted before.
        case changedKeys
        /// Lookups by other people succeed; the monitor on the owner's devices raises the alarm.
        case monitor
        /// The limits on an answer.
        case transport
    }

    /// What must stop the attack.
    public var stop: Stop {
        switch self {
        case .garbage, .errorPage: .check(.envelope)
        case .anotherUsersLabel: .check(.vrf)
        case .omittedDevice: .check(.accountState)
        case .truncated, .surplus: .check(.checkpointText)
        case .editedRoot, .editedSize, .otherLogKey: .check(.logSignature)
        case .unknownCosigners: .check(.cosignatures)
        case .futureEpoch, .oldIndexRoot, .missingEpochRecord: .check(.epoch)
        case .deniedAccount, .inventedAccount: .check(.index)
        case .swappedKey, .oldState, .erasedLabel: .check(.history)
        case .staleCheckpoint, .futureCheckpoint: .check(.freshness)
        case .rollback, .splitView, .forkedWitness, .frozenView: .check(.consistency)
        case .replacedAccount, .foreignIdentity: .changedKeys
        case .hiddenDevice, .flashKey, .wrongStep: .monitor
        case .oversized: .transport
        }
    }

    /// Whether history requests get the same lie, so that the lookup and the history are consistent.
    package var changesHistory: Bool { stop == .monitor || self == .erasedLabel || changesIdentity }
    private var changesIdentity: Bool { self == .replacedAccount || self == .foreignIdentity }
}
