// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The clock by which a log of one machine gets its times: that of the machine, unless it is far ahead of what the log has signed.
///
/// An epoch with a time that has not come yet cannot be taken back: clients refuse the log until it has come. So a clock that leaps by more than
/// ``longestPause`` is not followed while the server runs, and a start with such a clock wants the operator's word.
///
/// Security: a smaller error is followed; clients refuse the log for as long as it was ahead.
package final class LogClock: Sendable {
    /// A server may be off, or a machine stand still, for so long that the log need not be told by a person: a week, in seconds.
    package static let longestPause: UInt64 = 7 * 86_400

    private struct State {
        /// The latest time that the log has.
        var newest: UInt64
        /// When it was reached, in nanoseconds that never go back.
        var reached: UInt64
        /// How far the machine's clock is ahead, in seconds, while it is not followed.
        var lead: UInt64 = 0
    }

    private let clock: ServerClock
    private let state: Mutex<State>

    /// - Parameters:
    ///   - newest: the time of what the log signed last, in seconds since 1970; nil: it has signed nothing.
    ///   - isAccepted: whether the operator vouches for the machine's clock.
    /// - Throws: ``ClockAhead``: nothing may be signed by this clock.
    package init(
        after newest: UInt64?, isAccepted: Bool = false, _ clock: ServerClock = .system
    ) throws(ClockAhead) {
        let now = clock.time()
        let newest = newest ?? now
        if !isAccepted, now > newest, now - newest > Self.longestPause { throw ClockAhead(seconds: now - newest) }
        self.clock = clock
        state = Mutex(State(newest: isAccepted ? max(newest, now) : newest, reached: clock.uptime()))
    }

    /// Seconds since 1970.
    package func time() -> UInt64 {
        let (now, uptime) = (clock.time(), clock.uptime())
        return state.withLock { state in
            let elapsed = uptime > state.reached ? (uptime - state.reached) / 1_000_000_000 : 0
            let expected = state.newest + elapsed
            guard now <= expected || now - expected <= Self.longestPause else {
                state.lead = now - expected
                return expected
            }
            state.lead = 0
            if now > state.newest { (state.newest, state.reached) = (now, uptime) }
            return now
        }
    }

    /// How far the machine's clock is ahead of the one that is in use, in seconds; 0: it is in use itself.
    package var lead: UInt64 {
        _ = time()
        return state.withLock { $0.lead }
    }
}

/// The machine's clock is so many seconds after the time of what the log signed last.
package struct ClockAhead: Error, Hashable, Sendable {
    package let seconds: UInt64
}
