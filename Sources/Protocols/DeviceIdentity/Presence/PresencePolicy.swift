// SPDX-License-Identifier: Apache-2.0

/// When and how often a person is asked. All times in seconds.
public struct PresencePolicy: Hashable, Sendable {
    /// For how long an answer holds for the same action again. Zero: every use asks.
    public let reuseWindow: UInt64
    /// After how long without a touch the program locks.
    public let autoLockAfter: UInt64
    /// How many wrong answers in a row are free.
    public let freeFailures: Int
    /// How long the next wrong answer blocks; it doubles with each further one.
    public let firstCooldown: UInt64
    /// The longest block.
    public let maximumCooldown: UInt64
    /// How long a question may stand.
    public let promptLifetime: UInt64

    /// Every use asks; five minutes lock; five free failures, then half a minute up to an hour; a minute to answer.
    public static let standard = PresencePolicy()

    /// A policy; what is not named is as in ``standard``.
    public init(
        reuseWindow: UInt64 = 0, autoLockAfter: UInt64 = 300, freeFailures: Int = 5, firstCooldown: UInt64 = 30,
        maximumCooldown: UInt64 = 3600, promptLifetime: UInt64 = 60
    ) {
        self.reuseWindow = reuseWindow
        self.autoLockAfter = autoLockAfter
        self.freeFailures = max(0, freeFailures)
        self.firstCooldown = firstCooldown
        self.maximumCooldown = maximumCooldown
        self.promptLifetime = promptLifetime
    }

    /// How long so many wrong answers in a row block.
    func cooldown(afterFailures failures: Int) -> UInt64 {
        guard failures > freeFailures else { return 0 }
        let doublings = min(failures - freeFailures - 1, 40)
        let (product, overflow) = firstCooldown.multipliedReportingOverflow(by: 1 << UInt64(doublings))
        return overflow ? maximumCooldown : min(product, maximumCooldown)
    }
}
