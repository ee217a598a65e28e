// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import SignetServer

/// A log that has an epoch of next year is refused by all clients until next year.
struct LogClockTests {
    private static let now: UInt64 = 1_800_000_000
    private static let year: UInt64 = 365 * 86_400

    /// A machine with a clock that can be set, and one that cannot.
    private final class Machine: Sendable {
        private let clocks = Mutex((time: LogClockTests.now, uptime: UInt64(5)))

        var clock: ServerClock {
            ServerClock(time: { self.clocks.withLock { $0.time } }, uptime: { self.clocks.withLock { $0.uptime } })
        }

        func set(_ time: UInt64) { clocks.withLock { $0.time = time } }

        func pass(_ seconds: UInt64) {
            clocks.withLock { $0 = ($0.time + seconds, $0.uptime + seconds * 1_000_000_000) }
        }
    }

    @Test func aStartFarAfterWhatWasSignedWantsAWord() throws {
        let machine = Machine()
        let pause = LogClock.longestPause
        #expect(throws: ClockAhead(seconds: pause + 1)) {
            try LogClock(after: Self.now - pause - 1, machine.clock)
        }
        #expect(try LogClock(after: Self.now - pause, machine.clock).time() == Self.now)
        #expect(try LogClock(after: nil, machine.clock).time() == Self.now)
        let accepted = try LogClock(after: Self.now - Self.year, isAccepted: true, machine.clock)
        #expect(accepted.time() == Self.now && accepted.lead == 0)
    }

    @Test func aLeapIsNotFollowed_andTimeGoesOn() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, machine.clock)
        machine.pass(60)
        #expect(clock.time() == Self.now + 60)
        machine.set(Self.now + 60 + Self.year)
        #expect(clock.time() == Self.now + 60 && clock.lead == Self.year)
        machine.pass(1000)
        #expect(clock.time() == Self.now + 1060 && clock.lead == Self.year)
        machine.set(Self.now + 1060)
        #expect(clock.time() == Self.now + 1060 && clock.lead == 0)
    }

    /// As long as it is asked now and then, any time may pass.
    @Test func timeThatPassesIsFollowed() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, machine.clock)
        for day in 1...400 as ClosedRange<UInt64> {
            machine.pass(86_400)
            #expect(clock.time() == Self.now + day * 86_400)
        }
        machine.pass(Self.year)
        #expect(clock.time() == Self.now + 400 * 86_400 + Self.year && clock.lead == 0)
    }

    /// A machine whose clock has no battery begins in 1970, until the network has set it.
    @Test func aClockThatWasBehindMayBeSet() throws {
        let machine = Machine()
        machine.set(0)
        let clock = try LogClock(after: Self.now, machine.clock)
        machine.pass(30)
        #expect(clock.time() == 30, "clients see an old checkpoint meanwhile")
        machine.set(Self.now + 40)
        #expect(clock.time() == Self.now + 40 && clock.lead == 0)
    }
}
