// SPDX-License-Identifier: Apache-2.0

import LogFencing
import Testing

@Suite("A leader that can show nothing")
struct ShowingWatchTests {
    private var watch = ShowingWatch()

    private static let justBefore = ShowingWatch.patience - .milliseconds(1)

    @Test func whoHasNothingToShowIsNeverStuck() {
        #expect(!watch.isStuck(at: .seconds(86_400)))
    }

    @Test mutating func whoMakesNoStepIsStuckAfterThePatience() {
        watch.step(at: .seconds(7))
        #expect(!watch.isStuck(at: .seconds(7) + Self.justBefore))
        #expect(watch.isStuck(at: .seconds(7) + ShowingWatch.patience))
    }

    /// Of a million entries there are eight thousand objects to put first.
    @Test mutating func eachStepGivesTimeForTheNextOne() {
        var now = Duration.zero
        for _ in 0..<10 {
            watch.step(at: now)
            now += Self.justBefore
            #expect(!watch.isStuck(at: now))
        }
    }

    @Test mutating func whatIsShownIsOwedNoMore() {
        watch.step(at: .zero)
        watch.rest()
        #expect(!watch.isStuck(at: .seconds(86_400)))
    }

    /// A patience that has grown is for who has shown nothing yet.
    @Test mutating func whoHasShownSomethingHasTheShortPatience() {
        watch = ShowingWatch(patience: .seconds(240))
        watch.step(at: .zero)
        #expect(!watch.isStuck(at: .seconds(239)) && watch.isStuck(at: .seconds(240)))
        watch.rest()
        watch.step(at: .zero)
        #expect(watch.isStuck(at: ShowingWatch.patience))
    }

    // MARK: The turns of a candidate

    private var turns = CandidateTurns()

    @Test mutating func whoCouldShowNothingLetsOthersTryFirst() {
        #expect(turns.mayTry(at: .zero))
        turns.end(isStuck: true, hasShown: false, at: .seconds(20))
        #expect(!turns.mayTry(at: .seconds(20) + CandidateTurns.pause - .milliseconds(1)))
        #expect(turns.mayTry(at: .seconds(20) + CandidateTurns.pause))
    }

    @Test mutating func whoseTurnEndedOtherwiseTriesAtOnce() {
        turns.end(isStuck: false, hasShown: true, at: .seconds(20))
        #expect(turns.mayTry(at: .seconds(20)))
        #expect(turns.patience == ShowingWatch.patience)
    }

    @Test mutating func thePatienceDoublesUpToABound() {
        var seconds: [Duration] = []
        for _ in 0..<7 {
            seconds.append(turns.patience)
            turns.end(isStuck: true, hasShown: false, at: .zero)
        }
        #expect(seconds == [15, 30, 60, 120, 240, 240, 240].map { .seconds($0) })
        // A turn that another one ended says nothing.
        turns.end(isStuck: false, hasShown: false, at: .zero)
        #expect(turns.patience == .seconds(240))
        turns.end(isStuck: true, hasShown: true, at: .zero)
        #expect(turns.patience == .seconds(30))
        turns.end(isStuck: false, hasShown: true, at: .zero)
        #expect(turns.patience == .seconds(15))
    }
}

@Suite("How far a clock is from the database's")
struct ClockDifferenceTests {
    private static let now: Int64 = 1_700_000_000_000

    private func difference(_ before: UInt64, _ after: UInt64? = nil) -> ClockDifference {
        ClockDifference(before: before, after: after ?? before, database: Self.now)
    }

    /// A clock of whole seconds may be nearly one second further than it says.
    @Test func aClockThatMayBeRightIsRight() {
        for second in UInt64(1_699_999_999)...1_700_000_001 { #expect(difference(second).seconds == 0) }
        #expect(ClockDifference(before: 1_700_000_000, after: 1_700_000_000, database: Self.now + 999).seconds == 0)
    }

    @Test func itIsAtLeastWhatBothReadingsSay() {
        #expect(difference(1_700_000_100).seconds == 99)
        #expect(difference(1_699_999_900).seconds == -99)
        // The answer took ten minutes, and the database may have told its time at any moment of them.
        #expect(difference(1_699_999_700, 1_700_000_300).seconds == 0)
        #expect(difference(1_700_000_100, 1_700_000_700).seconds == 99)
        #expect(difference(1_699_999_300, 1_699_999_900).seconds == -99)
    }

    @Test func whoIsTooFarAheadEndsNoEpoch_andWhoIsBehindIsTold() {
        #expect(difference(1_700_000_061).allowsEpochs && !difference(1_700_000_061).isLarge)
        #expect(!difference(1_700_000_062).allowsEpochs && difference(1_700_000_062).isLarge)
        #expect(difference(1_699_999_939).allowsEpochs && !difference(1_699_999_939).isLarge)
        #expect(difference(1_699_999_938).allowsEpochs && difference(1_699_999_938).isLarge)
        #expect(difference(0).allowsEpochs && !difference(.max).allowsEpochs)
    }
}

/// Two candidates, any of which can show something or not, changing every fifteen seconds; and whoever of those that try is the quicker one.
/// All that can come to be in two and a half minutes of that.
@Suite("Two candidates of which none may be able to show anything")
struct CandidateTurnsExplorationTests {
    private struct World: Hashable {
        var now = 0
        var turns = [CandidateTurns(), CandidateTurns()]
        var leader: Int?
        var watch = ShowingWatch()
        var patience = Duration.zero
        var hasShown = false
        /// The longest patience that anybody had.
        var longest = 0
        /// Since when nobody leads, nothing was shown, and a candidate could have shown something without a break.
        var leaderless = 0, silent = 0, able = [0, 0]
        /// Turns that ended since something was shown.
        var barren = 0
    }

    private enum Broken: Error { case harmful(after: Int), leaderless(Int), silent(Int) }

    private static let step = 15
    private static let end = 150
    private static let pause = Int(CandidateTurns.pause.components.seconds)

    /// One second, with those who can show something now and the one who is the quicker.
    private func advance(_ world: inout World, able: Int, first: Int) throws {
        let now = Duration.seconds(world.now)
        for one in 0..<2 where able & 1 << one == 0 { world.able[one] = world.now + 1 }
        if let leader = world.leader {
            if able & 1 << leader != 0 {
                world.watch.rest()
                (world.hasShown, world.silent, world.barren) = (true, world.now, 0)
                world.watch.step(at: now)
            } else if world.watch.isStuck(at: now) {
                try end(&world, leader, now)
            }
        }
        if world.leader == nil { begin(&world, first, now) }
        guard world.leader != nil || world.now - world.leaderless <= Self.pause else {
            throw Broken.leaderless(world.now)
        }
        for one in 0..<2 where world.now - max(world.able[one], world.silent) > world.longest + Self.pause {
            throw Broken.silent(world.now)
        }
        world.now += 1
    }

    private func end(_ world: inout World, _ leader: Int, _ now: Duration) throws {
        // The more turns were in vain, the longer each.
        guard world.hasShown || world.patience >= ShowingWatch.patience * (1 << (world.barren / 2)) else {
            throw Broken.harmful(after: world.barren)
        }
        world.barren += 1
        world.turns[leader].end(isStuck: true, hasShown: world.hasShown, at: now)
        (world.leader, world.leaderless) = (nil, world.now)
    }

    private func begin(_ world: inout World, _ first: Int, _ now: Duration) {
        guard let next = [first, 1 - first].first(where: { world.turns[$0].mayTry(at: now) }) else { return }
        (world.leader, world.hasShown, world.patience) = (next, false, world.turns[next].patience)
        world.longest = max(world.longest, Int(world.patience.components.seconds))
        world.watch = ShowingWatch(patience: world.patience)
        world.watch.step(at: now)
    }

    @Test func whoeverCanShowSomethingLeadsBeforeLong_andNobodyHandsOverOften() throws {
        var (worlds, count) = (Set([World()]), 0)
        for _ in 0..<Self.end / Self.step {
            var next: Set<World> = []
            for world in worlds {
                for able in 0..<4 {
                    for first in 0..<2 {
                        var after = world
                        for _ in 0..<Self.step { try advance(&after, able: able, first: first) }
                        next.insert(after)
                    }
                }
            }
            (worlds, count) = (next, count + next.count)
        }
        #expect(count > 100)
    }
}
