/// What can happen in a call, each over the same seeds: what becomes of the frames, and how long it takes.
public struct EventTable: Sendable {
    /// Something that happens once in a call.
    public enum Event: String, Sendable, CaseIterable {
        /// Twenty rotations, one every two seconds.
        case rotations = "20 rotations"
        /// A member leaves.
        case leave = "a leave"
        /// A device joins.
        case join = "a join"
        /// The host falls silent for good.
        case crash = "the host crashes"
        /// The host and another are cut off from the rest.
        case split = "6 s apart, 2 and 3"
    }

    /// An event at a chance of loss, and what came of it.
    public struct Row: Sendable {
        /// What happened.
        public let event: Event
        /// The chance that a packet is lost.
        public let loss: Double
        /// The seeds.
        public let seeds: ClosedRange<UInt64>
        /// What came of it.
        public let series: Series

        /// Plays an event with each seed.
        public init(_ event: Event, loss: Double, seeds: ClosedRange<UInt64>) {
            (self.event, self.loss, self.seeds) = (event, loss, seeds)
            series = Series(Self.scenario(event, loss: loss), seeds: seeds)
        }

        /// The row as Markdown.
        public var markdown: String {
            let lost = Comparison.rounded(series.undecryptablePerMillion)
            let share = series.frames == 0 ? 0 : Double(series.withheld) * 1000 / Double(series.frames)
            let worst = series.seedsWithLoss > 0 ? ", worst \(series.worstSeed)" : ""
            return "| \(event.rawValue) | \(Comparison.rounded(loss * 100)) % | \(lost) | "
                + "\(series.seedsWithLoss) of \(seeds.count)\(worst) | \(Comparison.rounded(share)) | \(time) |\n"
        }

        private var time: String {
            switch event {
            case .rotations: Self.times("everybody under the new key", series.switches)
            case .leave: Self.times("old key in use", series.oldKeyUses)
            case .crash: Self.times("new host", series.successions)
            case .split: series.reunitedAfter.map { "one call after at most \($0) ms" } ?? "not always one call"
            case .join: ""
            }
        }

        private static func times(_ what: String, _ values: [UInt64]) -> String {
            "\(what): half \(Outcome.percentile(values, 0.5) ?? 0) ms, at most \(values.max() ?? 0) ms"
        }

        static func scenario(_ event: Event, loss: Double) -> Scenario {
            var scenario = Scenario()
            (scenario.loss, scenario.rotations) = (loss, event == .rotations ? 20 : 1)
            switch event {
            case .rotations: break
            case .leave: scenario.faults = [.leave(2, at: 5500)]
            case .join: scenario.faults = [.join(at: 6000)]
            case .crash: (scenario.faults, scenario.coolDown) = ([.hostCrash(at: 5000)], 14_000)
            case .split: return scenario.split(withHost: 2, cut: 6000)
            }
            return scenario
        }
    }

    /// One for each event, at 5 % and at 30 % loss.
    public let rows: [Row]

    /// Plays everything.
    ///
    /// - Parameter progress: is told what is played next.
    public init(seeds: ClosedRange<UInt64>, progress: (String) -> Void = { _ in }) {
        rows = [0.05, 0.3].flatMap { loss in
            Event.allCases.map { event in
                progress("\(event.rawValue), \(Comparison.rounded(loss * 100)) %")
                return Row(event, loss: loss, seeds: seeds)
            }
        }
    }

    /// A table in Markdown.
    public var markdown: String {
        "| Event | Loss | Lost of a million | Seeds with a loss | Not sent of 1,000 | Time |\n|---|---|---|---|---|---|\n"
            + rows.map(\.markdown).joined()
    }
}
