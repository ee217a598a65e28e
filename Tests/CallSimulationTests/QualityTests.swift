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

    @Test func noFrameIsLostAt30Percent() {
        let outcome = scenario {
            $0.rotations = 50
            $0.participants = 4
            $0.loss = 0.3
        }.run()
        #expect(outcome.undecryptablePerMillion < 1)
    }

    @Test func aMissedRotationIsMadeUpForWithinASecond_halfOfThemWithinAQuarter() throws {
        let outcome = scenario {
            $0.rotations = 60
            $0.rotationInterval = 5000
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
            $0.faults = [.missedRotations]; $0.rotationInterval = 5000; $0.jitter = 20
        }
        #expect(late.run(.seed).undecryptable > 0)
        #expect(late.run(.liveKit).undecryptable > 1000)
        #expect(late.run(.signet).undecryptable == 0)
    }
}
