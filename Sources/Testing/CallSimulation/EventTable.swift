// SPDX-License-Identifier: Apache-2.0

/// What can happen in calls of several sizes, each over the same seeds: what becomes of the frames, how long it takes, and which
/// goals are missed.
public struct EventTable: Sendable {
    /// Something that happens in a call.
    public enum Event: Sendable, CaseIterable {
        /// Twenty-five rotations, one every two seconds: a thousand over forty seeds.
        case rotations
        /// A member leaves.
        case leave
        /// The host leaves.
        case hostLeave
        /// A device joins.
        case join
        /// The host falls silent for good.
        case crash
        /// The host and as many as make half, rounded down, are cut off from the rest for six seconds.
        case split

        /// Its name in the table.
        public func name(devices: Int) -> String {
            switch self {
            case .rotations: "25 rotations"
            case .leave: "a leave"
            case .hostLeave: "the host leaves"
            case .join: "a join"
            case .crash: "the host crashes"
            case .split: "6 s apart, \(devices / 2) and \(devices - devices / 2)"
            }
        }

        /// The call, for any seed.
        func scenario(devices: Int, loss: Double) -> Scenario {
            var scenario = Scenario()
            (scenario.participants, scenario.loss) = (devices, loss)
            scenario.rotations = self == .rotations ? 25 : 1
            // Fourteen devices join by a step each. A device that joins by a rotation hears no other until it is in
            // use, and at 30 % loss the signals of some device stall for seconds while twenty join: the event is played
            // when all are there.
            if devices > 15 { (scenario.warmUp, scenario.firstFrame, scenario.frameInterval) = (10_000, 9000, 100) }
            let start = scenario.warmUp
            switch self {
            case .rotations: break
            case .leave: scenario.faults = [.leave(2, at: start + 2500)]
            case .hostLeave: scenario.faults = [.leave(0, at: start + 2500)]
            case .join: scenario.faults = [.join(at: start + 3000)]
            case .crash: (scenario.faults, scenario.coolDown) = ([.hostCrash(at: start + 2000)], 14_000)
            case .split: return scenario.split(withHost: devices / 2, cut: 6000)
            }
            return scenario
        }
    }

    /// What is asked of a row.
    public enum Goal: String, Sendable, CaseIterable {
        /// Rotations: no frame at up to 5 % loss, and fewer than one in a million above. A leave, a join, a crash: fewer than a hundred.
        case lost
        /// Fewer than one in a thousand is not sent; of a partition nothing is asked.
        case withheld = "not sent"
        /// A key that a departed member had is in use for 1.5 s at most at up to 5 % loss, and 2.5 s above.
        case oldKey = "old key"
        /// After 99 of 100 crashes a frame of the new host's is opened within seven seconds.
        case newHost = "new host"
    }

    /// An event in a call of so many devices at a chance of loss, and what came of it.
    public struct Row: Sendable {
        /// What happened.
        public let event: Event
        /// Devices when the call begins.
        public let devices: Int
        /// The chance that a packet is lost.
        public let loss: Double
        /// The seeds.
        public let seeds: ClosedRange<UInt64>
        /// Its result.
        public let series: Series

        /// Plays an event with each seed.
        public init(_ event: Event, devices: Int, loss: Double, seeds: ClosedRange<UInt64>) async {
            let series = await Series(playing: event.scenario(devices: devices, loss: loss), seeds: seeds)
            self.init(event, devices: devices, loss: loss, seeds: seeds, series)
        }

        init(_ event: Event, devices: Int, loss: Double, seeds: ClosedRange<UInt64>, _ series: Series) {
            (self.event, self.devices, self.loss, self.seeds, self.series) = (event, devices, loss, seeds, series)
        }

        /// The goals that the row misses.
        public var missed: [Goal] { Goal.allCases.filter { !isMet($0) } }

        private func isMet(_ goal: Goal) -> Bool {
            let isSteady = loss <= 0.05
            switch goal {
            case .lost:
                let (limit, share) = (event == .rotations ? isSteady ? 0 : 1 : 100, series.undecryptablePerMillion)
                return event == .split || series.undecryptable == 0 || share < Double(limit)
            case .withheld: return event == .split || series.withheldPerThousand < 1
            case .oldKey:
                let isOver = series.oldKeyUses.count == seeds.count
                return event != .leave && event != .hostLeave
                    || isOver && (series.oldKeyUses.max() ?? 0) <= (isSteady ? 1500 : 2500)
            case .newHost:
                // A call without a new host is one that took longer.
                let late = series.successions.count { $0 > 7000 } + seeds.count - series.successions.count
                return event != .crash || late * 100 <= seeds.count
            }
        }

        /// The row as Markdown.
        public var markdown: String {
            let lost = EventTable.figure(series.undecryptablePerMillion)
            let worst =
                series.undecryptable > 0
                ? ", \(EventTable.figure(series.worstPerMillion)) with \(series.worstSeed)" : ""
            let goals = missed.isEmpty ? "" : "**missed**: " + missed.map(\.rawValue).joined(separator: ", ")
            return
                "| \(devices) | \(event.name(devices: devices)) | \(SystemComparison.rounded(loss * 100)) % | \(lost) | "
                + "\(series.seedsWithLoss) of \(seeds.count)\(worst) | "
                + "\(EventTable.figure(series.withheldPerThousand)) | \(time) | \(goals) |\n"
        }

        private var time: String {
            switch event {
            case .rotations: times("everybody under the new key", series.switches)
            case .leave, .hostLeave: times("old key in use", series.oldKeyUses, of: seeds.count)
            case .crash: times("new host", series.successions, of: seeds.count)
            case .split: series.reunitedAfter.map { "one call after at most \($0) ms" } ?? "not always one call"
            case .join: ""
            }
        }

        /// - Parameter count: how often there should be a time; what never came to an end, or never began, has none.
        private func times(_ what: String, _ values: [UInt64], of count: Int = 0) -> String {
            let share = values.count < count ? ", in \(values.count) of \(count)" : ""
            return "\(what): half \(Outcome.percentile(values, 0.5) ?? 0) ms, at most \(values.max() ?? 0) ms\(share)"
        }
    }

    /// The calls of the documentation.
    public static let allDevices = [3, 5, 8, 20]
    /// The chances of loss of the documentation.
    public static let allLosses = [0, 0.05, 0.3]

    /// One for each size, event and chance of loss.
    public let rows: [Row]

    /// Plays everything.
    ///
    /// - Parameter progress: is told what is played next.
    public init(
        devices: [Int] = allDevices, losses: [Double] = allLosses, seeds: ClosedRange<UInt64>,
        progress: (String) -> Void = { _ in }
    ) async {
        var rows: [Row] = []
        for count in devices {
            for event in Event.allCases {
                for loss in losses {
                    progress(
                        "\(count) devices, \(event.name(devices: count)), \(SystemComparison.rounded(loss * 100)) %")
                    rows.append(await Row(event, devices: count, loss: loss, seeds: seeds))
                }
            }
        }
        self.rows = rows
    }

    /// The head of the table in Markdown.
    public static let head = """
        | Devices | Event | Loss | Lost of a million | Seeds with a loss, and the worst | Not sent of 1,000 | Time | Goals |
        |---|---|---|---|---|---|---|---|

        """

    /// A table in Markdown.
    public var markdown: String { Self.head + rows.map(\.markdown).joined() }

    /// A share as people read it. Only nothing is 0.
    static func figure(_ value: Double) -> String {
        value > 0 && value < 0.1 ? "below 0.1" : SystemComparison.rounded(value)
    }
}
