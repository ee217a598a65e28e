// SPDX-License-Identifier: Apache-2.0

/// What may become of a signal on its way to a device.
enum SignalChoice: CaseIterable {
    /// It never comes, as when a connection breaks.
    case lost
    /// It is three seconds late, and everything behind it waits.
    case late

    /// In milliseconds.
    static let delay: UInt64 = 3000
}

/// Plays a call again and again, each time with other faults: every choice of so many signals, each lost or late.
///
/// Otherwise signals take the same time and keep their order; a device seals a frame after each that it gets, so that one lies
/// between any two events. Everything runs through the real participants.
public struct SignalSearch: Sendable {
    /// A play that came to what must not be.
    public struct Finding: Sendable {
        /// The outcomes of chosen deliveries, by their number from 0.
        let choices: [Int: SignalChoice]
        /// Rules that were broken; none if the devices ended in more than one call.
        public let violations: [Outcome.Violation: Int]
    }

    private let script: Scenario
    private let window: ClosedRange<UInt64>
    /// How many plays there were.
    public private(set) var plays = 0
    /// The first few.
    public private(set) var findings: [Finding] = []

    /// Three devices, and what happens to them.
    ///
    /// - Parameters:
    ///   - faults: what happens beside the search's choices.
    ///   - depth: how many signals are lost or late in a play at most.
    ///   - packets: what becomes of all packets beside them.
    ///   - window: when they are sent, in milliseconds.
    init(
        _ faults: [Scenario.Fault], depth: Int, packets: Scenario.PacketWay = .open, in window: ClosedRange<UInt64>
    ) {
        self.window = window
        var script = Scenario()
        (script.participants, script.rotations, script.rotationInterval) = (3, 1, 1000)
        (script.loss, script.jitter, script.duplication, script.skew) = (0, 0, 0, 0)
        (script.frameInterval, script.coolDown) = (500, 28_000)
        (script.isAudited, script.faults, script.packets) = (true, faults, packets)
        self.script = script
        play([:], after: -1, depth)
    }

    private mutating func play(_ choices: [Int: SignalChoice], after last: Int, _ more: Int) {
        var scenario = script
        scenario.choices = choices
        let outcome = scenario.run()
        plays += 1
        if findings.count < 5, !outcome.violations.isEmpty || !outcome.isOneCall {
            findings.append(Finding(choices: choices, violations: outcome.violations))
        }
        guard more > 0 else { return }
        for (number, time) in outcome.deliveryTimes.enumerated().dropFirst(last + 1) where window.contains(time) {
            for choice in SignalChoice.allCases {
                play(choices.merging([number: choice]) { $1 }, after: number, more - 1)
            }
        }
    }
}
