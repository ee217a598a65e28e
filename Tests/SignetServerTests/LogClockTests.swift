// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import SignetServer

/// A log that has an epoch of next year is refused by all clients until next year.
struct LogClockTests {
    private static let now: UInt64 = 1_800_000_000
    private static let hour: UInt64 = 3600
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
        #expect(throws: ClockAhead(of: .log, seconds: pause + 1)) {
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

    /// The attack: a start with a clock that is three hours ahead would lock everybody out for three hours.
    @Test func aStartAheadOfAllWitnessesWantsAWord() throws {
        let machine = Machine()
        let skew = Readiness.clockSkew
        #expect(throws: ClockAhead(of: .witnesses, seconds: skew + 1)) {
            try LogClock(after: Self.now - 60, witnessed: Self.now - skew - 1, machine.clock)
        }
        #expect(try LogClock(after: Self.now - 60, witnessed: Self.now - skew, machine.clock).time() == Self.now)
        #expect(try LogClock(after: Self.now - 60, witnessed: Self.now + 1000, machine.clock).time() == Self.now)
        let accepted = try LogClock(
            after: Self.now - 60, witnessed: nil, isWitnessed: true, isAccepted: true, machine.clock)
        #expect(accepted.epochTime() == Self.now && accepted.lead == 0)
    }

    /// The operator vouches for a start, and for nothing that comes after it.
    @Test func aClockThatWasAcceptedIsComparedFromThenOn() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now - Self.year, isWitnessed: true, isAccepted: true, machine.clock)
        clock.heard(Self.now)
        machine.set(Self.now + 2 * 86_400)
        #expect(clock.time() == Self.now && clock.fault == .ahead(seconds: 2 * 86_400))
    }

    /// The attack: a boot without a network, with a clock two days ahead. What is logged then would be published when the network is there.
    @Test func nothingIsLoggedWithATimeThatNoWitnessHasNamed() throws {
        let machine = Machine()
        let signed = Self.now - 2 * 86_400
        let clock = try LogClock(after: signed, isWitnessed: true, machine.clock)
        machine.pass(7)
        #expect(clock.epochTime() == signed + 7 && clock.time() == Self.now + 7)
        clock.heard(Self.now + 6)
        #expect(clock.epochTime() == Self.now + 7, "the clock was right: the server was off for two days")
        let alone = try LogClock(after: signed, machine.clock)
        #expect(alone.epochTime() == Self.now + 7, "nobody is there to ask")
    }

    @Test func aClockBehindTheWitnessesIsNamed_whileTheyDoNotCosign() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, isWitnessed: true, machine.clock)
        clock.heard(Self.now + 600, isEnough: false)
        #expect(clock.fault == .behind(seconds: 600))
        clock.heard(Self.now + 600, isEnough: true)
        #expect(clock.fault == nil, "one witness is ahead, and the others cosign")
        clock.heard(Self.now + 60, isEnough: false)
        #expect(clock.fault == nil, "they do not cosign for another reason")
    }

    /// A witness that names a time of the future does not move the other limit.
    @Test func aWitnessOfTheFutureVouchesForNoLeap() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, witnessed: Self.now + 2 * Self.year, machine.clock)
        machine.set(Self.now + Self.year)
        #expect(clock.time() == Self.now && clock.lead == Self.year)
    }

    @Test func aClockThatLeapsAheadOfTheWitnessesIsNotFollowed() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, machine.clock)
        clock.heard(Self.now)
        machine.pass(100)
        clock.heard(Self.now)
        #expect(clock.time() == Self.now + 100, "an older word does not count")
        machine.set(Self.now + 100 + Self.hour)
        #expect(clock.time() == Self.now + 100 && clock.lead == Self.hour)
        machine.pass(50)
        #expect(clock.time() == Self.now + 150)
        machine.set(Self.now + 150)
        #expect(clock.time() == Self.now + 150 && clock.lead == 0)
    }

    /// A virtual machine stands still for an hour, and its clock is right afterwards: the first round with the witnesses says so.
    @Test func timeThatTheMachineDidNotCountIsFollowedOnceAWitnessNamesIt() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, witnessed: Self.now, machine.clock)
        machine.set(Self.now + Self.hour)
        #expect(clock.time() == Self.now)
        clock.heard(Self.now + Self.hour - 2)
        #expect(clock.time() == Self.now + Self.hour && clock.lead == 0)
    }

    /// The witnesses did not answer at the start, and say later that the clock was wrong then.
    @Test func aClockThatWasWrongFromTheStartIsNotFollowedOnceAWitnessNamesTheTime() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now - Self.hour, machine.clock)
        #expect(clock.time() == Self.now)
        clock.heard(Self.now - Self.hour)
        #expect(clock.time() == Self.now - Self.hour && clock.lead == Self.hour)
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
