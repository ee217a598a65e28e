// SPDX-License-Identifier: Apache-2.0

import Platform

/// Milliseconds since 1970 that never go back: the time of day when the clock was made, and what a steady clock says since.
public struct CallClock: Sendable {
    private let start: UInt64
    private let origin = ContinuousClock.now

    /// A clock.
    public init() { start = UInt64(max(0, time(nil))) * 1000 }

    /// The time.
    public var now: UInt64 {
        let passed = (ContinuousClock.now - origin).components
        return start + UInt64(passed.seconds) * 1000 + UInt64(passed.attoseconds / 1_000_000_000_000_000)
    }
}
