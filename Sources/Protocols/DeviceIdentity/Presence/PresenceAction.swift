public import KeyTransparency

/// What a private key is about to be used for, so that the question to the person can name it.
///
/// The sentences are the interface's.
public enum PresenceAction: Hashable, Sendable {
    /// Unlock the program after it was closed or idle.
    case unlock
    /// Sign in at a site.
    case signIn(VerifiedHost)
    /// Become known to a site.
    case register(VerifiedHost)
    /// Publish a change of the account: a new name for a device, a refreshed list.
    case updateAccount
    /// Give another device the right to act for the account.
    case linkDevice
    /// Take that right from the device with this number.
    case revokeDevice(UInt16)
    /// Choose or change guardians.
    case setUpGuardians
    /// Help somebody to recover their identity.
    case confirmRecovery(of: Handle)
    /// Stop a recovery of one's own identity.
    case cancelRecovery
    /// Show a share in words.
    case showPaperShare
    /// Take the identity key to another device.
    case exportIdentity
}

/// A question to the person.
public struct PresencePrompt: Hashable, Sendable {
    /// What for.
    public let action: PresenceAction
    /// Running number: an answer is good for one question.
    public let number: UInt64
    /// When the answer comes too late, in seconds of the caller's clock.
    public let expires: UInt64
}

/// How the person answered.
public enum PresenceOutcome: Hashable, Sendable {
    /// They are there: passphrase, PIN, finger or face was right.
    case present
    /// The answer was wrong.
    case failed
    /// They closed the question, or did not answer.
    case declined
}

/// Asks the person. On Linux for a passphrase or PIN, on Apple systems for Face ID; in tests from a script.
public protocol Presence: Sendable {
    /// Shows the question and waits for the answer.
    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome
}

/// Leave for one use of a private key for one action. It cannot be copied, and a ``Keystore`` uses it up.
///
/// Security: only ``PresenceGate`` makes one, after the person answered a question that named the action.
public struct PresenceGrant: ~Copyable, Sendable {
    /// What the person agreed to.
    public let action: PresenceAction

    init(_ action: PresenceAction) { self.action = action }
}
