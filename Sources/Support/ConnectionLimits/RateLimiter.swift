// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A token bucket for each client, in bounded memory.
///
/// A bucket is one number, the time at which it will be full again: taking a token moves it by the interval
/// between two requests, and a request is refused while it is further away than a whole burst.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private let interval: Atomic<UInt64>
    private let burst: Atomic<UInt64>
    private let fullAgainAt: Mutex<RecencyTable<Key, UInt64>>

    /// A rate of so many tokens a second, 0 for any number; `burst` of them at once, after a pause long enough.
    package init(perSecond: UInt32, burst: UInt32, remembering capacity: Int) {
        let rate = Self.nanoseconds(perSecond, burst)
        interval = Atomic(rate.interval)
        self.burst = Atomic(rate.burst)
        fullAgainAt = Mutex(RecencyTable(capacity: capacity))
    }

    /// Changes the rate. A bucket keeps the time at which it will be full, so that nobody's tokens come back at once.
    package func change(perSecond: UInt32, burst: UInt32) {
        let rate = Self.nanoseconds(perSecond, burst)
        interval.store(rate.interval, ordering: .relaxed)
        self.burst.store(rate.burst, ordering: .relaxed)
    }

    private static func nanoseconds(_ perSecond: UInt32, _ burst: UInt32) -> (interval: UInt64, burst: UInt64) {
        let interval = perSecond == 0 ? 0 : 1_000_000_000 / UInt64(perSecond)
        return (interval, interval * UInt64(max(1, burst)))
    }

    /// The number of clients remembered.
    package var count: Int { fullAgainAt.withLock { $0.count } }

    /// Takes tokens from the client's bucket.
    ///
    /// - Parameter now: nanoseconds of a clock that does not go back.
    /// - Returns: nil, or, if the bucket has too few, after how many nanoseconds it will have enough.
    package func take(_ cost: UInt64 = 1, of key: Key, at now: UInt64) -> UInt64? {
        let (interval, burst) = (interval.load(ordering: .relaxed), burst.load(ordering: .relaxed))
        guard interval > 0 else { return nil }
        let weight = min(cost * interval, burst)
        return fullAgainAt.withLock { table in
            table.withValue(of: key, initial: 0) { full in
                let next = max(full, now) + weight
                guard next - now <= burst else { return next - now - burst }
                full = next
                return nil
            }
        }
    }
}
