// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CallSimulation
import Foundation
import Signet

extension Call {
    /// `signet call simulate`
    struct Simulate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "simulate",
            abstract: "Simulate a group call in virtual time, on a bad network, while its keys rotate.",
            discussion: """
                Simulates the call by Signet's rules, and again with a server that withholds each new key from one \
                device; the recovery times come from that second run. The same seed gives the same call.

                Example: signet call simulate --participants 8 --loss 0.1
                """)

        @Option(help: "Devices in the call, 2 to 100.") var participants: Int?
        @Option(help: "How often the key is replaced, 1 to 100000.") var rotations = 20
        @Option(help: "The chance that a packet is lost, 0 to 0.9; 0.05 by default.") var loss: Double?
        @Option(help: ArgumentHelp("How much longer than the latency a packet may take.", valueName: "ms"))
        var jitter: UInt64 = 200
        @Option(help: ArgumentHelp("The shortest time that a packet takes.", valueName: "ms")) var latency: UInt64 = 50
        @Option(help: "The seed of all random choices.") var seed: UInt64 = 1
        @Option(
            help: ArgumentHelp(
                "Simulate each of these seeds, print totals, and name the worst.", valueName: "first-last"))
        var seeds: SeedRange?
        @Option(
            help: ArgumentHelp(
                "Split the network once: this many devices with the host, this many without.",
                valueName: "with/without"))
        var split: SideCounts?
        @Option(help: ArgumentHelp("How long the --split lasts; up to 600000.", valueName: "ms")) var cut: UInt64 = 6000
        @Flag(help: "Compare with other systems under several conditions, and print a Markdown table.")
        var compare = false
        @Flag(
            help: """
                Simulate rotations, a leave, a join, a crash and a partition with each of --seeds, 1-40 by default, \
                and print a Markdown table: calls of 3, 5, 8 and 20 devices at 0, 5 and 30 % loss, or those of \
                --participants and --loss.
                """)
        var events = false
        @Flag(help: "Follow the call guide as written: its three keys, messages and wraps.")
        var legacy = false
        @Option(help: ArgumentHelp("Write the comparison as a chart to this file.", valueName: "file"))
        var svg: String?
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (2...100).contains(count) else { throw ValidationError("--participants must be from 2 to 100.") }
            guard (1...100_000).contains(rotations) else {
                throw ValidationError("--rotations must be from 1 to 100000.")
            }
            guard (0...0.9).contains(loss ?? 0) else { throw ValidationError("--loss must be from 0 to 0.9.") }
            if let split, let participants, participants != split.withHost + split.without {
                throw ValidationError("The two numbers of --split must add up to --participants.")
            }
            if legacy && (compare || events || svg != nil || split != nil) {
                throw ValidationError(
                    "--legacy can only be used with one call or with --seeds: the guide defines no leave.")
            }
            if events && (count < 3 || split != nil || svg != nil || compare) {
                throw ValidationError(
                    "--events needs at least 3 --participants, and cannot be used with --split, --compare or --svg.")
            }
            guard cut <= 600_000 else { throw ValidationError("--cut must be at most 600000.") }
            guard jitter <= 10_000, latency <= 10_000 else {
                throw ValidationError("--jitter and --latency must be at most 10000.")
            }
        }

        func run() async throws {
            if compare || svg != nil { return try runComparison() }
            if events { return await runEvents() }
            seeds == nil && split == nil ? runOne() : runSeries()
        }

        private var count: Int { split.map { $0.withHost + $0.without } ?? participants ?? 5 }

        private var policy: KeyChangePolicy { legacy ? .seed : .signet }

        private var scenario: Scenario {
            var scenario = Scenario()
            (scenario.participants, scenario.rotations, scenario.loss) = (count, rotations, loss ?? 0.05)
            (scenario.jitter, scenario.latency, scenario.seed) = (jitter, latency, seed)
            return split.map { scenario.split(withHost: $0.withHost, cut: cut) } ?? scenario
        }

        /// Sums over many seeds, or one call that falls apart.
        private func runSeries() {
            let series = Series(scenario, seeds: seeds?.range ?? seed...seed, policy)
            var json: [String: PrintedValue] = [
                "frames": .number(UInt64(series.frames)), "messages": .number(UInt64(series.messages)),
                "policy": .string(policy.name),
                "rotations": .number(UInt64(series.rotations)), "seedsWithLoss": .number(UInt64(series.seedsWithLoss)),
                "undecryptable": .number(UInt64(series.undecryptable)), "withheld": .number(UInt64(series.withheld)),
                "worstSeed": .number(series.worstSeed),
            ]
            if split != nil { json["reunitedAfterMs"] = series.reunitedAfter.map { .number($0) } ?? .null }
            let reunion = split.map { _ in
                series.reunitedAfter.map { "one call again after at most \($0) ms" } ?? "not always one call again"
            }
            output.emit(
                .object(json),
                """
                \(policy.name): \(count) devices, \(series.rotations) rotations\(reunion.map { ", \($0)" } ?? "")
                  \(series.undecryptable) of \(series.frames) frames that arrived could not be opened, \(series.withheld) were not sent
                  the worst seed is \(series.worstSeed)
                """)
        }

        private func runOne() {
            let outcome = scenario.run(policy)
            let missed = scenario.withMissedRotations.run(policy)
            let times = [0.5, 0.99].map { Outcome.percentile(missed.recoveries, $0) ?? 0 }
            let change = Outcome.percentile(outcome.switches, 0.5) ?? 0
            output.emit(
                [
                    "frames": .number(UInt64(outcome.frames)), "messages": .number(UInt64(outcome.messages)),
                    "missedRotations": .number(UInt64(missed.recoveries.count)),
                    "recoveryMs": .number(times[0]), "recoveryP99Ms": .number(times[1]),
                    "policy": .string(policy.name), "rotations": .number(UInt64(outcome.rotations)),
                    "seed": .number(seed), "switchMs": .number(change),
                    "undecryptable": .number(UInt64(outcome.undecryptable)),
                    "undecryptableAfterMissedRotations": .number(UInt64(missed.undecryptable)),
                ],
                """
                \(policy.name): \(count) devices, \(outcome.rotations) rotations, seed \(seed)
                  \(outcome.undecryptable) of \(outcome.frames) frames that arrived could not be opened
                  half of the rotations were over within \(change) ms
                With each new key kept from one device:
                  \(missed.undecryptable) of \(missed.frames) frames could not be opened
                  a missing key arrived within \(times[0]) ms in half of \(missed.recoveries.count) cases, \
                \(times[1]) ms in 99 of 100
                """)
        }

        private func runEvents() async {
            let table = await EventTable(
                devices: participants.map { [$0] } ?? EventTable.allDevices,
                losses: loss.map { [$0] } ?? EventTable.allLosses,
                seeds: seeds?.range ?? 1...40
            ) { Output.progress("playing \($0)") }
            Output.progress(nil)
            let rows: [PrintedValue] = table.rows.map { row in
                [
                    "devices": .number(UInt64(row.devices)), "event": .string(row.event.name(devices: row.devices)),
                    "frames": .number(UInt64(row.series.frames)), "lossPercent": .number(UInt64(row.loss * 100)),
                    "missed": .array(row.missed.map { .string($0.rawValue) }),
                    "sent": .number(UInt64(row.series.sent)),
                    "undecryptable": .number(UInt64(row.series.undecryptable)),
                    "withheld": .number(UInt64(row.series.withheld)), "worstSeed": .number(row.series.worstSeed),
                ]
            }
            output.emit(["events": .array(rows)], table.markdown)
        }

        private func runComparison() throws {
            let comparison = SystemComparison(scenario) { Output.progress("playing \($0)") }
            Output.progress(nil)
            if let svg { try write(comparison.svg, to: svg) }
            output.emit(json(comparison), comparison.markdown)
        }

        private func json(_ comparison: SystemComparison) -> PrintedValue {
            let entries: [PrintedValue] = comparison.rows.flatMap { row in
                row.outcomes.map { policy, outcome in
                    [
                        "condition": .string(row.condition), "frames": .number(UInt64(outcome.frames)),
                        "policy": .string(policy.name),
                        "recoveryMs": .number(Outcome.percentile(outcome.recoveries, 0.5) ?? 0),
                        "rotations": .number(UInt64(outcome.rotations)),
                        "rotationsWithLoss": .number(UInt64(outcome.rotationsWithLoss)),
                        "undecryptable": .number(UInt64(outcome.undecryptable)),
                    ]
                }
            }
            return ["comparison": .array(entries)]
        }

        private func write(_ text: String, to path: String) throws {
            try OutputFile.write(Array(text.utf8), to: path, outside: HomeFolder.standard) {
                $0.starts(with: "<svg".utf8)
            }
        }
    }
}

/// Seeds, from the first to the last.
struct SeedRange: ExpressibleByArgument {
    let range: ClosedRange<UInt64>

    init?(argument: String) {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        guard parts.count == 2, let first = parts[0], let last = parts[1], first <= last, last - first < 10_000 else {
            return nil
        }
        range = first...last
    }
}

/// How many devices are on each side.
struct SideCounts: ExpressibleByArgument {
    let withHost: Int
    let without: Int

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let withHost = parts[0], let without = parts[1], (1...99).contains(withHost),
            (1...99).contains(without)
        else { return nil }
        (self.withHost, self.without) = (withHost, without)
    }
}
