// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallSimulation

/// Three devices, and every choice of lost or late signals: one signal in each call, two with `SIGNET_SEEDS=10000`.
struct SignalSearchTests {
    struct Script: Sendable, CustomStringConvertible {
        let description: String
        let faults: [Scenario.Fault]
        /// For how long signals may be lost or late, in milliseconds.
        var length: UInt64 = 2500
    }

    private static let at: UInt64 = 6000

    static let scripts = [
        Script(description: "one leaves", faults: [.leave(2, at: at)]),
        Script(description: "both leave", faults: [.leave(2, at: at), .leave(1, at: at + 600)]),
        Script(description: "the host leaves", faults: [.leave(0, at: at)]),
        Script(description: "the host crashes", faults: [.hostCrash(at: at)]),
        Script(description: "one joins", faults: [.join(at: at)]),
        Script(description: "one joins and leaves", faults: [.join(at: at), .leave(3, at: at + 1000)]),
        Script(description: "one is cut off", faults: [.partition([2], from: at, until: at + 6000)], length: 10_000),
        Script(
            description: "the host is cut off", faults: [.partition([1, 2], from: at, until: at + 9000)],
            length: 10_000),
        Script(
            description: "one leaves while another is cut off",
            faults: [.partition([2], from: at, until: at + 3000), .leave(1, at: at + 1000)], length: 5000),
    ]

    /// Each with packets that arrive, that never arrive, and that arrive three seconds after the signals.
    @Test(arguments: scripts, Scenario.PacketWay.allCases)
    func noLostOrLateSignalBreaksARuleOrSplitsTheCall(_ script: Script, _ packets: Scenario.PacketWay) async {
        await Task.yield()
        let window = Self.at - 500...Self.at + script.length
        let search = SignalSearch(
            script.faults, depth: Seeds.isEverything ? 2 : 1, packets: packets, in: window)
        #expect(search.findings.isEmpty, "\(script), \(packets): \(search.findings)")
        #expect(search.plays > 8)
    }

    /// The leave is two signals; the new key, its acknowledgment and the commit are one each, and a heartbeat may be
    /// another.
    @Test func everyChoiceOfLostOrLateSignalsIsPlayed() {
        let plays = (0...2).map { depth in
            SignalSearch([.leave(2, at: Self.at)], depth: depth, in: Self.at...Self.at + 300).plays
        }
        let count = (plays[1] - 1) / 2
        #expect(plays[0] == 1 && (4...8).contains(count))
        // Each pair is played in four ways; a choice may bring one signal more into the window, or one fewer.
        #expect(plays[2] > plays[1] + count * (count - 2) && plays[2] < plays[1] + 4 * count * count)
    }
}
