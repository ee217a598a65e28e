public import KeyTransparency

/// What a dishonest directory does, holding all of its own keys.
public enum Attack: String, CaseIterable, Hashable, Sendable {
    /// Another key in place of the person's, with an account state to match.
    case swappedKey = "swapped-key"
    /// The honest answer about somebody else.
    case anotherUsersLabel = "another-users-label"
    /// The checkpoint's root edited after signing.
    case editedRoot = "edited-root"
    /// The checkpoint's size edited after signing.
    case editedSize = "edited-size"
    /// A checkpoint signed by a key that is not the log's.
    case otherLogKey = "other-log-key"
    /// An older, smaller checkpoint than this client has seen.
    case rollback
    /// A second log, properly signed, kept for this client alone.
    case splitView = "split-view"
    /// A checkpoint that was signed two days ago.
    case staleCheckpoint = "stale-checkpoint"
    /// A device left out of the answer.
    case omittedDevice = "omitted-device"
    /// The account's state before its latest.
    case oldState = "old-state"
    /// A new identity logged under the person's name, without their consent.
    case replacedAccount = "replaced-account"
    /// Random bytes.
    case garbage
    /// The honest answer, cut short.
    case truncated
    /// The honest answer with a long tail.
    case surplus
    /// More bytes than any answer has.
    case oversized
    /// The HTML page of a broken proxy.
    case errorPage = "error-page"

    /// What the attack is, in a few words.
    public var summary: String {
        switch self {
        case .swappedKey: "another key in place of the person's"
        case .anotherUsersLabel: "somebody else's key and hidden label"
        case .editedRoot: "the log's root edited"
        case .editedSize: "the log's size edited"
        case .otherLogKey: "a log signed by another key"
        case .rollback: "an older log than was shown before"
        case .splitView: "a second log for this client alone"
        case .staleCheckpoint: "a log as it was two days ago"
        case .omittedDevice: "a device left out"
        case .oldState: "the person's keys as they were before"
        case .replacedAccount: "a new identity under the person's name"
        case .garbage: "random bytes"
        case .truncated: "an answer cut short"
        case .surplus: "an answer with bytes to spare"
        case .oversized: "an endless answer"
        case .errorPage: "a web page"
        }
    }

    /// What must stop it at a client that knows the person and has seen the log.
    public enum Stop: Hashable, Sendable {
        /// One of these checks refuses the answer.
        case check(Set<LookupCheck>)
        /// The answer is in the log, but not what was accepted before.
        case changedKeys
        /// The bounds on an answer.
        case transport
    }

    /// What must stop it.
    public var stop: Stop {
        switch self {
        case .swappedKey, .oldState: .check([.history])
        case .anotherUsersLabel: .check([.vrf])
        case .editedRoot, .editedSize, .otherLogKey: .check([.logSignature])
        case .rollback, .splitView: .check([.consistency])
        case .staleCheckpoint: .check([.freshness])
        case .omittedDevice: .check([.accountState])
        case .replacedAccount: .changedKeys
        case .garbage, .errorPage: .check([.envelope])
        case .truncated, .surplus: .check([.checkpointText])
        case .oversized: .transport
        }
    }
}
