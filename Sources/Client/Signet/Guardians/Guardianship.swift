// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import KeyTransparency
public import RecoveryClient
public import SocialRecovery

/// The user's guardians, and what they guard.
public struct Guardianship: Sendable {
    /// The guardians in force, if this device chose them; nil if there are none, or if another device of the account chose
    /// them.
    public let current: RecoverySetup?
    /// The people who are being asked.
    public let next: RecoverySetup?
    /// The last check of the guardians in force.
    public let lastCheck: GuardianCheckRecord?
    /// The comparison that is now stored with each guardian.
    public let comparisons: [Handle: ComparisonState]
    /// What the guardians guard by now; nil if none are in force.
    public let guarded: GuardedNews?
    /// How many sites a recovery restores.
    public let guardedSiteCount: Int
    /// Whether the notes have just received another key, which the former parts do not open. A recovery paper of the former
    /// guardians is void.
    public let areNotesTurned: Bool
    /// Sites whose recovery key the former parts still open. Give each a new key, at different times.
    public let sitesToTurn: [VerifiedHost]
    /// Why the people who are being asked are not in force, although enough of them have answered.
    public let refusal: GuardianRefusal?
}

/// The user's guardians as this device last left them.
public struct ChosenGuardians: Sendable {
    /// The guardians in force, if this device chose them.
    public let current: RecoverySetup?
    /// The people who are being asked.
    public let next: RecoverySetup?
    /// The comparison that is now stored with each of them.
    public let comparisons: [Handle: ComparisonState]
}

/// Why new guardians do not replace the former ones yet.
public enum GuardianRefusal: Hashable, Sendable {
    /// A recovery of the user's identity has been requested; it has to end first.
    case recoveryIsOpen
    /// The guardians changed recently; until this time, in seconds since 1970, a recovery may begin with the former guardians.
    case changedTooSoon(until: UInt64)

    /// The error that the step reported.
    package var error: RecoveryClientError {
        switch self {
        case .recoveryIsOpen: .recoveryIsOpen
        case .changedTooSoon(let until): .changedTooSoon(until: until)
        }
    }
}

/// Why a period in which the user's other devices can stop a recovery protects less than its length suggests.
public enum WaitWeakness: Hashable, Sendable {
    /// Friends cannot tell the wait from none, because it is not longer than `least` seconds.
    case uncountable(least: UInt64)
    /// The directory's answers may be `age` seconds old, so that it could hide the whole wait from the user's devices.
    case hidable(age: UInt64)
}

extension OpenHome {
    /// Why a wait is too short for this directory; nil if it is not.
    ///
    /// - Parameter wait: in seconds.
    public func weakness(ofWait wait: UInt64) -> WaitWeakness? {
        let age = profile.trust.freshness.maximumAge
        if wait <= RecoveryDelay.uncountable { return .uncountable(least: RecoveryDelay.uncountable) }
        return wait <= age ? .hidable(age: age) : nil
    }
}
