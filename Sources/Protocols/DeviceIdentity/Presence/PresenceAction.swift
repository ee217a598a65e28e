// SPDX-License-Identifier: Apache-2.0

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
    /// Show the list of sites.
    case showSites
    /// Forget a site, and with it the only key to the account there.
    case forgetSite(VerifiedHost)
    /// Give a site new keys, in the name of the recovery key that it has on file.
    case reRegister(VerifiedHost)
    /// Stop new keys for oneself that a site was asked for.
    case objectAt(VerifiedHost)
    /// Look at the cards that were issued to the person, or change which are kept.
    case carryCards
    /// Show a part of a card to a site.
    case showCard(VerifiedHost)
    /// Publish a change of the account: a new name for a device, a refreshed list.
    case updateAccount
    /// Give another device the right to act for the account.
    case linkDevice
    /// Take that right from the device with this number.
    case revokeDevice(UInt16)
    /// Choose or change guardians.
    case setUpGuardians
    /// Help a person to recover their identity.
    case confirmRecovery(of: Handle)
    /// Take one's own identity over, with what guardians gave.
    case recoverIdentity
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

/// Leave for one use of a private key for one action. It cannot be copied, and a ``PrivateKeyStore`` uses it up.
///
/// Security: only ``PresenceGate`` makes one, after the person answered a question that named the action.
public struct PresenceGrant: ~Copyable, Sendable {
    /// What the person agreed to.
    public let action: PresenceAction

    init(_ action: PresenceAction) { self.action = action }

    /// One more grant for the same action, when it takes several uses of keys: the person agrees to what is done, not to
    /// each signature that it needs.
    package func again() -> PresenceGrant { PresenceGrant(action) }
}
