// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallSimulation

/// The rules of calls over many calls with chance in everything: 1,000 seeds, or as many as `SIGNET_SEEDS` says.
struct PropertyTests {
    static let count = Seeds.count

    /// A short call: few frames, and rotations that overlap.
    private func scenario(_ seed: UInt64) -> Scenario {
        var chance = Chance(seed: seed)
        var scenario = Scenario()
        scenario.seed = seed
        scenario.isAudited = true
        scenario.participants = 2 + Int(chance.upTo(2))
        scenario.rotations = 1 + Int(chance.upTo(3))
        scenario.rotationInterval = 300 + chance.upTo(900)
        scenario.frameInterval = 100 + chance.upTo(150)
        scenario.loss = Double(chance.upTo(30)) / 100
        scenario.jitter = chance.upTo(300)
        scenario.skew = chance.upTo(2000)
        scenario.warmUp = 1200
        scenario.coolDown = 2500
        return scenario
    }

    private func fault(_ scenario: Scenario, _ chance: inout Chance) -> Scenario.Fault {
        let at = scenario.warmUp + chance.upTo(2000)
        let device = 1 + Int(chance.upTo(UInt64(scenario.participants - 2)))
        switch chance.upTo(8) {
        case 0: return .leave(device, at: at)
        case 1: return .join(at: at)
        case 2: return .crash(device, at: at)
        case 3: return .hostCrash(at: at)
        case 4: return .partition([device], from: at, until: at + chance.upTo(3000))
        case 5: return .missedRotations
        case 6: return .replayingServer
        case 7: return .junk(from: at)
        default: return .leave(0, at: at)
        }
    }

    private func withFaults(_ seed: UInt64) -> Scenario {
        var scenario = scenario(seed)
        var chance = Chance(seed: ~seed)
        for _ in 0..<chance.upTo(3) { scenario.faults.append(fault(scenario, &chance)) }
        return scenario
    }

    /// Yields after each call: tests of real servers share the threads.
    private func check(_ seeds: Range<UInt64>, _ make: (UInt64) -> Scenario) async {
        for seed in seeds {
            await Task.yield()
            let scenario = make(seed)
            let outcome = scenario.run()
            #expect(outcome.violations.isEmpty, "\(scenario)")
        }
    }

    private static let parts: [Range<UInt64>] = (0..<4).map { count * $0 / 5..<count * ($0 + 1) / 5 }

    /// Four fifths of the seeds.
    @Test(arguments: parts)
    func noRandomCallBreaksARule(_ seeds: Range<UInt64>) async {
        await check(seeds, withFaults)
    }

    /// In this call, a device that received no join and no leave followed the key steps of others, and so sent frames
    /// that a device which had left could read.
    @Test func noRuleIsBrokenWithTheSeedOfAFormerFault() async {
        await check(3058..<3059, withFaults)
    }

    /// The last fifth, with calls so long that another host takes over, or two hosts at once.
    @Test func noRuleIsBrokenWhenHostsChange() async {
        await check(Self.count * 4 / 5..<Self.count) { seed in
            var scenario = scenario(seed)
            var chance = Chance(seed: ~seed)
            scenario.frameInterval *= 2
            scenario.participants += 1
            scenario.rotationInterval = 2000
            scenario.coolDown = 10_000
            let at = scenario.warmUp + chance.upTo(2000)
            let side = Set((0..<scenario.participants).filter { _ in chance.happens(0.5) })
            scenario.faults = [chance.happens(0.5) ? .hostCrash(at: at) : .partition(side, from: at, until: at + 8000)]
            return scenario
        }
    }

    @Test func onAnOrdinaryNetworkNoFrameIsLost() {
        for seed in 0..<max(1, Self.count / 20) {
            var scenario = scenario(seed)
            scenario.loss = min(scenario.loss, 0.05)
            scenario.jitter = min(scenario.jitter, 200)
            var chance = Chance(seed: ~seed)
            scenario.faults =
                [[], [.leave(1, at: 2000)], [.join(at: 1700)], [.replayingServer], [.junk(from: 1000)]][
                    Int(chance.upTo(4))]
            let outcome = scenario.run()
            #expect(outcome.undecryptable == 0 && outcome.frames > 0, "\(scenario)")
        }
    }
}
