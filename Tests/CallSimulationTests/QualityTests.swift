import Foundation
import Testing

@testable import CallSimulation

/// The quality that calls promise, each figure in the scenario that it is about. `Documentation/calls.md` has the table
/// of longer runs.
struct QualityTests {
    private func scenario(_ change: (inout Scenario) -> Void) -> Scenario {
        var scenario = Scenario()
        change(&scenario)
        return scenario
    }

    @Test func noFrameIsLostAt5PercentLossAnd200MillisecondsJitter() {
        let outcome = scenario {
            $0.rotations = 1000
            $0.participants = 4
            $0.frameInterval = 60
        }.run()
        #expect(outcome.undecryptable == 0 && outcome.rotations == 1000 && outcome.frames > 300_000)
    }

    /// Steady rotations, over forty seeds and none of them picked.
    @Test func at30PercentFewerThanOneFrameInAMillionIsLostToARotation() {
        let series = Series(
            scenario {
                $0.rotations = 20
                $0.loss = 0.3
            }, seeds: 1...40)
        #expect(series.frames > 1_000_000 && series.undecryptablePerMillion < 1, "seed \(series.worstSeed)")
        #expect(series.withheld * 1000 < series.frames)
    }

    @Test func aSeriesAddsUpAndNamesTheWorst() {
        let one = scenario { ($0.rotations, $0.loss, $0.faults) = (1, 0.3, [.join(at: 6000)]) }
        let outcomes = (1...8 as ClosedRange<UInt64>).map { seed -> Outcome in
            var scenario = one
            scenario.seed = seed
            return scenario.run()
        }
        let series = Series(one, seeds: 1...8)
        #expect(series.frames == outcomes.reduce(0) { $0 + $1.frames })
        #expect(series.undecryptable == outcomes.reduce(0) { $0 + $1.undecryptable })
        #expect(series.withheld == outcomes.reduce(0) { $0 + $1.withheld })
        let worst = outcomes.map(\.undecryptablePerMillion).max() ?? 0
        #expect(outcomes[Int(series.worstSeed) - 1].undecryptablePerMillion == worst)
        #expect(Series(one.split(withHost: 2, cut: 6000), seeds: 1...2).reunitedAfter != nil)
    }

    @Test func aMissedRotationIsMadeUpForWithinASecond_halfOfThemWithinAQuarter() throws {
        let outcome = scenario {
            $0.rotations = 60
            $0.rotationInterval = 9000
            $0.jitter = 20
            $0.faults = [.missedRotations]
        }.run()
        #expect(outcome.undecryptable == 0 && outcome.recoveries.count > 40)
        #expect(try #require(Outcome.percentile(outcome.recoveries, 0.5)) <= 250)
        #expect(try #require(Outcome.percentile(outcome.recoveries, 0.99)) <= 1000)
    }

    @Test func noOldKeyIsUsed1500MillisecondsAfterALeave() throws {
        var uses: [UInt64] = []
        for seed in 0..<50 as Range<UInt64> {
            let outcome = scenario {
                $0.seed = seed
                $0.rotations = 2
                $0.faults = [.leave(2, at: 5500)]
            }.run()
            #expect(outcome.undecryptable == 0)
            uses += outcome.oldKeyUses
        }
        #expect(uses.count >= 45)
        #expect(try #require(uses.max()) <= 1500)
    }

    @Test func aNewHostReignsSevenSecondsAfterACrash_andMediaGoesOn() throws {
        var times: [UInt64] = []
        for seed in 0..<30 as Range<UInt64> {
            let outcome = scenario {
                $0.seed = seed
                $0.rotations = 1
                $0.coolDown = 14_000
                $0.faults = [.hostCrash(at: 5000 + seed * 71)]
            }.run()
            #expect(outcome.undecryptable == 0)
            times += outcome.successions
        }
        #expect(times.count == 30)
        #expect(try #require(times.max()) <= 7000)
    }

    @Test func aJoinerHearsSomethingWithin300Milliseconds_andNobodyLosesAnything() throws {
        var times: [UInt64] = []
        for seed in 0..<50 as Range<UInt64> {
            let outcome = scenario {
                $0.seed = seed
                $0.rotations = 1
                $0.jitter = 20
                $0.faults = [.join(at: 6000)]
            }.run()
            #expect(outcome.undecryptable == 0)
            times += outcome.joins
        }
        #expect(try #require(Outcome.percentile(times, 0.5)) <= 300)
    }

    @Test func theSameSeedGivesTheSameCall() {
        let scenario = scenario { $0.faults = [.hostCrash(at: 5000), .join(at: 6000), .missedRotations] }
        let (one, two) = (scenario.run(), scenario.run())
        #expect(one.frames == two.frames && one.recoveries == two.recoveries && one.switches == two.switches)
    }

    @Test func theRulesOfOthersLoseFramesWhereOursDoNot() {
        let late = scenario {
            $0.faults = [.missedRotations]; $0.rotationInterval = 9000; $0.jitter = 20
        }
        #expect(late.run(.seed).undecryptable > 0)
        #expect(late.run(.liveKit).undecryptable > 1000)
        #expect(late.run(.signet).undecryptable == 0)
    }
}
