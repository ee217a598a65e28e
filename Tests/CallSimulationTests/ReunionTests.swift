// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallSimulation

/// A network that is split for a while, in every possible way: afterwards there is one call.
struct ReunionTests {
    struct Split: Sendable, CustomStringConvertible {
        let devices: Int
        /// The number of devices on the side of the host, including the host.
        let withHost: Int
        let loss: Double
        let cut: UInt64
        let seed: UInt64

        var description: String {
            "\(devices) = \(withHost) with the host | \(devices - withHost), \(Int(loss * 100)) %, \(cut) ms, seed \(seed)"
        }

        func play(isAudited: Bool = false) -> Outcome {
            var scenario = Scenario()
            (scenario.participants, scenario.loss, scenario.seed) = (devices, loss, seed)
            (scenario.rotations, scenario.frameInterval) = (1, 200)
            scenario.coolDown = 3000 + cut + 25_000
            scenario.isAudited = isAudited
            scenario.faults = [.partition(Set(withHost..<devices), from: 8000, until: 8000 + cut)]
            return scenario.run()
        }
    }

    static let seeds = Seeds.share(of: 2, atLeast: 1)

    /// All splits of two to eight devices.
    static func splits(_ loss: Double, _ cut: UInt64, _ seeds: ClosedRange<UInt64>) -> [Split] {
        (2...8).flatMap { devices in
            (1..<devices).flatMap { side in
                seeds.map { Split(devices: devices, withHost: side, loss: loss, cut: cut, seed: $0) }
            }
        }
    }

    /// Shorter and longer than the time after which a host, and a member, is given up.
    @Test(arguments: [6000, 12_000, 30_000] as [UInt64])
    func afterEverySplitThereIsOneCall_andNoFrameIsLostTenSecondsLater(_ cut: UInt64) async {
        for split in Self.splits(0, cut, 1...Self.seeds) {
            await Task.yield()
            let outcome = split.play()
            #expect((outcome.reunitedAfter ?? .max) <= 7000, "\(split): \(outcome.reunitedAfter ?? .max)")
            #expect(outcome.lateLosses == 0, "\(split): \(outcome.lateLosses)")
        }
    }

    /// A signal that is lost five times in a row is six seconds late, and delays the signals behind it: for some seeds
    /// that is too late for the ten seconds, and the devices form one call nevertheless.
    @Test(arguments: Seeds.isEverything ? [6000, 12_000, 30_000] : [12_000] as [UInt64])
    func at30PercentLossThereIsOneCallAfterEverySplit(_ cut: UInt64) async {
        let splits = Self.splits(0.3, cut, 1...Self.seeds)
        var (late, worst) = (0, (0 as UInt64, ""))
        for split in splits {
            await Task.yield()
            let outcome = split.play()
            let time = outcome.reunitedAfter ?? .max
            if outcome.lateLosses > 0 { late += 1 }
            if time > worst.0 { worst = (time, "\(split)") }
        }
        #expect(worst.0 <= 20_000, "\(worst)")
        #expect(late <= (splits.count * 5 + 99) / 100, "\(late) of \(splits.count)")
    }

    /// The rules are checked while the network splits and joins again.
    @Test func noRuleIsBrokenByASplit() async {
        for split in Self.splits(0.1, 12_000, 1...1) {
            await Task.yield()
            #expect(split.play(isAudited: true).violations.isEmpty, "\(split)")
        }
    }
}
