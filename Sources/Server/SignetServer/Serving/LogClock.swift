// SPDX-License-Identifier: Apache-2.0

import LogWitness
import Synchronization

/// The clock by which a log of one machine gets its times: that of the machine, unless it is far ahead of what the log has signed, or of the
/// witnesses.
///
/// An epoch with a time that has not come yet cannot be taken back: clients refuse the log until it has come. So a clock that leaps by more than
/// ``longestPause`` is not followed while the server runs, nor one that is ahead of every witness by more than clients allow; and a start with
/// such a clock wants the operator's word. Where there are witnesses and none has answered yet, epochs get no later time than the log had, and
/// what has passed since: nobody could publish them, and they cannot be taken back.
///
/// Security: without witnesses, a smaller error is followed; clients refuse the log for as long as it was ahead. A witness that names
/// a time of the future takes the comparison with the others away, and nothing else. One that names a time of the past holds the log's time
/// back for as long as no other witness answers.
package final class LogClock: Sendable {
    /// A server may be off, or a machine stand still, for so long that the log need not be told by a person: a week, in seconds.
    package static let longestPause: UInt64 = 7 * 86_400

    /// A time in seconds since 1970, and when it was that, in nanoseconds that never go back.
    private struct Moment {
        var time: UInt64
        var uptime: UInt64

        /// What time it is at a later moment.
        func now(at uptime: UInt64) -> UInt64 {
            time + (uptime > self.uptime ? (uptime - self.uptime) / 1_000_000_000 : 0)
        }
    }

    private struct State {
        /// The latest time that the log has.
        var newest: Moment
        /// The latest that a witness has named.
        var witnessed: Moment?
        /// How far the machine's clock is ahead, in seconds, while it is not followed.
        var lead: UInt64 = 0
        /// How far it is behind the witnesses', in seconds, while too few of them cosign.
        var lag: UInt64 = 0
    }

    private let clock: ServerClock
    /// What was signed last; epochs go by its time until a witness has named the time. Nil: no witness is waited for.
    private let signed: Moment?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - newest: the time of what the log signed last, in seconds since 1970; nil: it has signed nothing.
    ///   - witnessed: the latest time that a witness names now; nil: none does.
    ///   - isWitnessed: whether there are witnesses, who will name the time.
    ///   - isAccepted: whether the operator vouches for what the machine's clock is now.
    /// - Throws: ``ClockAhead``: nothing may be signed by this clock.
    package init(
        after newest: UInt64?, witnessed: UInt64? = nil, isWitnessed: Bool = false, isAccepted: Bool = false,
        _ clock: ServerClock = .system
    ) throws(ClockAhead) {
        let (now, uptime) = (clock.time(), clock.uptime())
        let newest = newest ?? now
        if !isAccepted {
            if let witnessed, now > witnessed, now - witnessed > Readiness.clockSkew {
                throw ClockAhead(of: .witnesses, seconds: now - witnessed)
            }
            try ClockAhead.check(now, after: newest)
        }
        self.clock = clock
        signed = isWitnessed && !isAccepted ? Moment(time: newest, uptime: uptime) : nil
        state = Mutex(State(newest: Moment(time: max(newest, now), uptime: uptime)))
        if let witnessed { heard(witnessed) }
    }

    /// Takes down what time it is by a witness's clock, in seconds since 1970. The latest counts.
    ///
    /// - Parameter isEnough: whether enough witnesses have cosigned in the same round.
    package func heard(_ time: UInt64, isEnough: Bool = true) {
        let (now, uptime) = (clock.time(), clock.uptime())
        state.withLock { state in
            let isFar = time > now && time - now > WitnessQuorum.Configuration().tolerance
            state.lag = isFar && !isEnough ? time - now : 0
            if let known = state.witnessed, known.now(at: uptime) >= time { return }
            state.witnessed = Moment(time: time, uptime: uptime)
        }
    }

    /// Seconds since 1970.
    package func time() -> UInt64 {
        let (now, uptime) = (clock.time(), clock.uptime())
        return state.withLock { state in
            let passed = state.newest.now(at: uptime).allowing(Self.longestPause, for: now)
            let named = state.witnessed?.now(at: uptime).allowing(Readiness.clockSkew, for: now) ?? now
            let believed = min(passed, named)
            state.lead = now - believed
            if believed == now, now > state.newest.time { state.newest = Moment(time: now, uptime: uptime) }
            return believed
        }
    }

    /// For what is logged, in seconds since 1970.
    package func epochTime() -> UInt64 {
        let time = time()
        guard let signed, state.withLock({ $0.witnessed == nil }) else { return time }
        return min(time, signed.now(at: clock.uptime()))
    }

    /// How far the machine's clock is ahead of the one that is in use, in seconds; 0: it is in use itself.
    package var lead: UInt64 {
        _ = time()
        return state.withLock { $0.lead }
    }

    /// What is wrong with the machine's clock; nil: nothing is known.
    package var fault: ClockFault? {
        let (lead, lag) = (lead, state.withLock { $0.lag })
        return lead > 0 ? .ahead(seconds: lead) : lag > 0 ? .behind(seconds: lag) : nil
    }
}

/// What is wrong with a machine's clock.
package enum ClockFault: Hashable, Sendable {
    /// It is so many seconds ahead of the time that has passed, or of the witnesses', and the log does not follow it.
    case ahead(seconds: UInt64)
    /// It is so many seconds behind the witnesses', so that they do not cosign.
    case behind(seconds: UInt64)
}

extension UInt64 {
    /// A clock's time if it is ahead of this one by no more than so many seconds; otherwise this one.
    fileprivate func allowing(_ seconds: UInt64, for clock: UInt64) -> UInt64 {
        clock > self && clock - self > seconds ? self : clock
    }
}

/// The machine's clock is ahead.
public struct ClockAhead: Error, Hashable, Sendable {
    /// Of what a clock can be ahead.
    public enum Reference: Hashable, Sendable {
        /// The time of what the log signed last.
        case log
        /// The time that the witnesses name.
        case witnesses
    }

    /// What it is ahead of.
    public let of: Reference
    /// By so many seconds.
    public let seconds: UInt64

    /// Demands that a time is at most ``LogClock/longestPause`` after what a log signed last, both in seconds since 1970.
    static func check(_ now: UInt64, after signed: UInt64) throws(ClockAhead) {
        guard now <= signed || now - signed <= LogClock.longestPause else {
            throw ClockAhead(of: .log, seconds: now - signed)
        }
    }
}
