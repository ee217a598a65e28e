// SPDX-License-Identifier: Apache-2.0

/// One call under several conditions, by the rules of several systems.
public struct SystemComparison: Sendable {
    /// A condition, and what became of the call by each policy.
    public struct Row: Sendable {
        /// What is special about it.
        public let condition: String
        /// The scenario.
        public let scenario: Scenario
        /// What it came to, in order of ``KeyChangePolicy/all``.
        public let outcomes: [(policy: KeyChangePolicy, outcome: Outcome)]
    }

    /// One for each condition.
    public let rows: [Row]

    /// Plays the conditions through.
    ///
    /// - Parameter progress: is told what is played next.
    public init(_ base: Scenario, progress: (String) -> Void = { _ in }) {
        rows = Self.conditions(base).map { condition, scenario in
            Row(
                condition: condition, scenario: scenario,
                outcomes: KeyChangePolicy.all.map { policy in
                    progress("\(condition), \(policy.name)")
                    return (policy, scenario.run(policy))
                })
        }
    }

    /// The scenario as it is, and what makes it harder.
    static func conditions(_ base: Scenario) -> [(String, Scenario)] {
        var lossy = base
        lossy.loss = 0.3
        var skewed = base
        skewed.skew = 1000
        return [
            ("\(percent(base.loss)) loss, \(base.jitter) ms jitter", base),
            ("30 % loss, \(base.jitter) ms jitter", lossy), ("clocks up to 2 s apart", skewed),
            ("each new key kept from one device", base.withMissedRotations),
        ]
    }

    /// A table in Markdown: undecryptable frames in a million, and rotations that lost any.
    public var markdown: String {
        let head = "| Condition | " + KeyChangePolicy.all.map(\.name).joined(separator: " | ") + " |\n"
        let rule = "|---|" + KeyChangePolicy.all.map { _ in "---|" }.joined() + "\n"
        return head + rule
            + rows.map { row in
                "| \(row.condition) | " + row.outcomes.map { Self.cell($0.outcome) }.joined(separator: " | ") + " |\n"
            }.joined()
    }

    private static func cell(_ outcome: Outcome) -> String {
        "\(rounded(outcome.undecryptablePerMillion)) (\(outcome.rotationsWithLoss) of \(outcome.rotations))"
    }

    private static func percent(_ share: Double) -> String { "\(rounded(share * 100)) %" }

    /// With one digit after the point below ten, none above.
    static func rounded(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return value >= 10 || tenths % 10 == 0 ? "\(Int(value.rounded()))" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension Scenario {
    /// The same call on a steadier line, rotating every nine seconds, in which the server keeps each new key from one
    /// device, another each time: what recovery is measured by.
    public var withMissedRotations: Scenario {
        var scenario = self
        scenario.faults.append(.missedRotations)
        scenario.rotationInterval = max(rotationInterval, 9000)
        scenario.jitter = min(jitter, 20)
        scenario.rotations = min(rotations, 200)
        return scenario
    }
}
