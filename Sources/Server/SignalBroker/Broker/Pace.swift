// SPDX-License-Identifier: Apache-2.0

/// How fast accounts may go: a bucket for each, which fills at a rate.
struct Pace: Sendable {
    private let perSecond: UInt64
    private let burst: UInt64
    /// When each bucket will be full again, in microseconds of the uptime.
    private var full: [Int64: UInt64] = [:]

    /// - Parameter perSecond: 0 for no bound.
    init(perSecond: UInt64, burst: UInt64) { (self.perSecond, self.burst) = (perSecond, burst) }

    /// Takes so much of an account's bucket; returns false, and takes nothing, if there is not as much in it.
    mutating func take(_ count: UInt64, of account: Int64, at uptime: UInt64) -> Bool {
        guard perSecond > 0 else { return true }
        let time = uptime * 1000
        let after = max(full[account] ?? 0, time) + count * 1_000_000 / perSecond
        guard after - time <= burst * 1_000_000 / perSecond else { return false }
        full[account] = after
        return true
    }

    /// Forgets buckets that are full.
    mutating func sweep(at uptime: UInt64) { full = full.filter { $0.value > uptime * 1000 } }
}
