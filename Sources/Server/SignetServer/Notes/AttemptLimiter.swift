// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Synchronization

/// How many logins may fail.
public struct LoginLimits: Hashable, Sendable {
    /// Attempts at once, and after how many seconds each comes back.
    public struct Rate: Hashable, Sendable {
        /// At once; 0 for any number.
        public var burst: UInt64
        /// Seconds until one more.
        public var secondsPerAttempt: UInt64

        /// A rate.
        public init(burst: UInt64, secondsPerAttempt: UInt64) {
            self.burst = burst
            self.secondsPerAttempt = secondsPerAttempt
        }
    }

    /// Of one account from one address, whether the account exists or not.
    public var account = Rate(burst: 10, secondsPerAttempt: 60)
    /// Of one account from all addresses together from which it was not seen before.
    public var strangers = Rate(burst: 100, secondsPerAttempt: 10)
    /// Of one address.
    public var address = Rate(burst: 60, secondsPerAttempt: 10)
    /// Accounts, and addresses, whose attempts are remembered; the longest unseen is forgotten first.
    public var rememberedClients = 65_536

    /// The limits `signetd` starts with.
    public init() {}
}

/// Counts attempts in bounded memory; an attempt that is not to count is given back.
///
/// A count is one number, the time at which all attempts will be there again.
final class AttemptLimiter<Key: Hashable & Sendable>: Sendable {
    /// After so many nanoseconds an attempt comes back.
    let interval: UInt64
    private let burst: UInt64
    private let wholeAgainAt: Mutex<RecencyTable<Key, UInt64>>

    init(_ rate: LoginLimits.Rate, remembering capacity: Int) {
        // So many that nobody waits before the clock ends: whatever is larger does not overflow.
        let (seconds, most) = (min(rate.secondsPerAttempt, 1 << 32), UInt64(1) << 62)
        interval = rate.burst == 0 ? 0 : seconds * 1_000_000_000
        burst = interval == 0 ? 0 : min(rate.burst, most / interval) * interval
        wholeAgainAt = Mutex(RecencyTable(capacity: capacity))
    }

    /// Takes an attempt; whether there was one.
    ///
    /// - Parameter now: nanoseconds of a clock that does not go back.
    func take(of key: Key, at now: UInt64) -> Bool {
        wholeAgainAt.withLock { table in
            table.withValue(of: key, initial: 0) { whole in
                let next = max(whole, now) + interval
                guard next - now <= burst else { return false }
                whole = next
                return true
            }
        }
    }

    /// Undoes a ``take(of:at:)``.
    func giveBack(to key: Key) {
        wholeAgainAt.withLock { table in
            table.withValue(of: key, initial: 0) { whole in whole = whole > interval ? whole - interval : 0 }
        }
    }
}
