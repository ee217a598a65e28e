// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CallSimulation

/// The quality that calls promise, each figure in its own scenario. `Documentation/calls.md` has the table
/// of longer runs, and each figure here has a longer run of its own: `SIGNET_SEEDS=10000`.
struct QualityTests {
    private func scenario(_ change: (inout Scenario) -> Void) -> Scenario {
        var scenario = Scenario()
        change(&scenario)
        return scenario
    }

    @Test func noFrameIsLostAt5PercentLossAnd200MillisecondsJitter() {
        let count = Int(Seeds.share(of: 1000, atLeast: 200))
        let outcome = scenario {
            $0.rotations = count
            $0.participants = 4
            $0.frameInterval = 60
        }.run()
        #expect(outcome.undecryptable == 0 && outcome.rotations == count && outcome.frames > count * 300)
    }

    /// Steady rotations, over the first forty seeds; the first four without the long run.
    @Test func at30PercentFewerThanOneFrameInAMillionIsLostToARotation() {
        let series = Series(
            scenario {
                $0.rotations = 20
                $0.loss = 0.3
            }, seeds: 1...Seeds.share(of: 40, atLeast: 4))
        #expect(series.frames > (Seeds.isEverything ? 1_000_000 : 100_000))
        #expect(series.undecryptablePerMillion < 1, "seed \(series.worstSeed)")
        #expect(series.withheldPerThousand < 1)
    }

    @Test func theSumsOfASeriesAddUp_andItNamesTheWorstSeed() {
        let one = scenario { ($0.rotations, $0.loss, $0.faults) = (1, 0.3, [.join(at: 6000)]) }
        let outcomes = (5...8 as ClosedRange<UInt64>).map { seed -> Outcome in
            var scenario = one
            scenario.seed = seed
            return scenario.run()
        }
        let series = Series(one, seeds: 5...8)
        #expect(series.frames == outcomes.reduce(0) { $0 + $1.frames })
        #expect(series.undecryptable == outcomes.reduce(0) { $0 + $1.undecryptable })
        #expect(series.withheld == outcomes.reduce(0) { $0 + $1.withheld })
        let worst = outcomes.map(\.undecryptablePerMillion).max() ?? 0
        #expect(outcomes[Int(series.worstSeed) - 5].undecryptablePerMillion == worst)
        #expect(Series(one.split(withHost: 2, cut: 6000), seeds: 1...2).reunitedAfter != nil)
    }

    @Test func aMissedRotationIsRecoveredWithinASecond_andHalfOfThemWithinAQuarter() throws {
        let count = Int(Seeds.share(of: 60, atLeast: 20))
        let outcome = scenario {
            $0.rotations = count
            $0.rotationInterval = 9000
            $0.jitter = 20
            $0.faults = [.missedRotations]
        }.run()
        #expect(outcome.undecryptable == 0 && outcome.recoveries.count * 3 > count * 2)
        #expect(try #require(Outcome.percentile(outcome.recoveries, 0.5)) <= 250)
        #expect(try #require(Outcome.percentile(outcome.recoveries, 0.99)) <= 1000)
    }

    @Test func noOldKeyIsUsed1500MillisecondsAfterALeave() throws {
        let seeds = Seeds.share(of: 50, atLeast: 12)
        var uses: [UInt64] = []
        for seed in 0..<seeds {
            let outcome = scenario {
                $0.seed = seed
                $0.rotations = 2
                $0.faults = [.leave(2, at: 5500)]
            }.run()
            #expect(outcome.undecryptable == 0)
            uses += outcome.oldKeyUses
        }
        #expect(uses.count * 10 >= Int(seeds) * 9)
        #expect(try #require(uses.max()) <= 1500)
    }

    @Test func aNewHostTakesOverWithinSevenSecondsOfACrash_andNoFrameIsLost() throws {
        var times: [UInt64] = []
        let seeds = Seeds.share(of: 30, atLeast: 6)
        for seed in 0..<seeds {
            let outcome = scenario {
                $0.seed = seed
                $0.rotations = 1
                $0.coolDown = 14_000
                $0.faults = [.hostCrash(at: 5000 + seed * 71)]
            }.run()
            #expect(outcome.undecryptable == 0)
            times += outcome.successions
        }
        #expect(times.count == Int(seeds))
        #expect(try #require(times.max()) <= 7000)
    }

    @Test func halfOfTheJoinersHearAFrameWithin300Milliseconds_andNoFrameIsLost() throws {
        var times: [UInt64] = []
        for seed in 0..<Seeds.share(of: 50, atLeast: 10) {
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

    @Test func otherRotationRulesLoseFramesWhereOursDoNot() {
        let late = scenario {
            $0.faults = [.missedRotations]; $0.rotationInterval = 9000; $0.jitter = 20; $0.rotations = 6
        }
        #expect(late.run(.seed).undecryptable > 0)
        #expect(late.run(.liveKit).undecryptable > 1000)
        #expect(late.run(.signet).undecryptable == 0)
    }
}
