// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VRF

/// What a client must know of a directory before it believes any answer: pinned, never fetched.
public struct DirectoryTrust: Hashable, Sendable {
    /// Whose signatures a checkpoint needs (C2SP tlog-policy).
    public let policy: Policy
    /// The key under which handles become labels.
    public let vrfKey: VRFPublicKey
    /// How old an answer may be.
    public let freshness: FreshnessRule

    /// The trust in one directory.
    public init(policy: Policy, vrfKey: VRFPublicKey, freshness: FreshnessRule) {
        self.policy = policy
        self.vrfKey = vrfKey
        self.freshness = freshness
    }
}

/// How old the quorum's newest word on a checkpoint may be. A log signature carries no time; the
/// cosignatures do.
public struct FreshnessRule: Hashable, Sendable {
    /// Older checkpoints are refused, in seconds.
    public let maximumAge: UInt64
    /// From this age on a checkpoint is reported as old, in seconds.
    public let warningAge: UInt64
    /// How far a cosigner's clock may run ahead of ours, in seconds.
    public let clockSkew: UInt64

    /// One day at most, a remark from one hour on, five minutes of skew.
    public static let standard = FreshnessRule(maximumAge: 86_400, warningAge: 3_600, clockSkew: 300)

    /// The standard rule with another greatest age, in seconds.
    public init(maximumAge: UInt64) {
        let standard = Self.standard
        self.init(
            maximumAge: maximumAge, warningAge: min(standard.warningAge, maximumAge), clockSkew: standard.clockSkew)
    }

    /// A rule; ages in seconds.
    public init(maximumAge: UInt64, warningAge: UInt64, clockSkew: UInt64) {
        self.maximumAge = maximumAge
        self.warningAge = warningAge
        self.clockSkew = clockSkew
    }

    /// The age of a checkpoint at `now`, in seconds; 0 if it is ahead of our clock within the skew.
    ///
    /// - Parameters:
    ///   - quorumTime: when the quorum last vouched for it, in seconds since 1970; nil if no quorum did.
    ///   - now: the reader's clock, in seconds since 1970.
    /// - Throws: ``FreshnessError``. ``FreshnessError/stale(age:maximum:)`` and a corrected clock are
    ///   worth a retry.
    public func age(of quorumTime: UInt64?, at now: UInt64) throws(FreshnessError) -> UInt64 {
        guard let quorumTime else { throw .noTime }
        let (latest, overflow) = now.addingReportingOverflow(clockSkew)
        guard overflow || quorumTime <= latest else {
            throw .fromTheFuture(secondsAhead: quorumTime - now)
        }
        let age = now > quorumTime ? now - quorumTime : 0
        guard age <= maximumAge else { throw .stale(age: age, maximum: maximumAge) }
        return age
    }
}

/// Why a checkpoint is not recent.
public enum FreshnessError: Error, Hashable, Sendable {
    /// The policy's quorum has no cosigner, so nothing in the answer carries a time.
    case noTime
    /// The newest time that the quorum vouches for is too long ago; both in seconds.
    case stale(age: UInt64, maximum: UInt64)
    /// It is ahead of this device's clock.
    case fromTheFuture(secondsAhead: UInt64)
}
