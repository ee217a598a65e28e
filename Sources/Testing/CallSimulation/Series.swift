// SPDX-License-Identifier: Apache-2.0

/// One scenario with many seeds: sums and the worst of them, so that no seed is picked.
public struct Series: Sendable {
    /// Frames that reached a device for which they were meant.
    public private(set) var frames = 0
    /// Of these, frames that were never opened.
    public private(set) var undecryptable = 0
    /// Frames that were sent, each counted once.
    public private(set) var sent = 0
    /// Frames that a member had and could not send, for want of a key.
    public private(set) var withheld = 0
    /// Rotations.
    public private(set) var rotations = 0
    /// Messages.
    public private(set) var messages = 0
    /// The seed with the largest share of lost frames, or the longest partition; the first of them.
    public private(set) var worstSeed: UInt64
    /// Seeds with a frame that was never opened.
    public private(set) var seedsWithLoss = 0
    /// The longest time from the end of a partition until there was one call again, in milliseconds; nil if once there never was.
    public private(set) var reunitedAfter: UInt64? = 0
    /// For each rotation, until every device sent under it, in milliseconds.
    public private(set) var switches: [UInt64] = []
    /// After each leave, the time until no member sent under a key of the departed one, in milliseconds.
    public private(set) var oldKeyUses: [UInt64] = []
    /// From each crash of a host until a frame of the next term was opened, in milliseconds.
    public private(set) var successions: [UInt64] = []
    private var worst: (isApart: Bool, share: Double, time: UInt64) = (false, 0, 0)

    /// Plays a scenario with each seed, one after the other.
    public init(_ scenario: Scenario, seeds: ClosedRange<UInt64>, _ policy: KeyChangePolicy = .signet) {
        worstSeed = seeds.lowerBound
        for seed in seeds { add(scenario.seeded(seed).run(policy), seed, isSplit: scenario.isSplit) }
    }

    /// Plays a scenario with each seed, as many at once as there are processors; the sums are the same.
    public init(playing scenario: Scenario, seeds: ClosedRange<UInt64>, _ policy: KeyChangePolicy = .signet) async {
        worstSeed = seeds.lowerBound
        let outcomes = await withTaskGroup(of: (UInt64, Outcome).self) { group in
            for seed in seeds { group.addTask { (seed, scenario.seeded(seed).run(policy)) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (seed, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
            add(outcome, seed, isSplit: scenario.isSplit)
        }
    }

    /// Lost frames of a million.
    public var undecryptablePerMillion: Double {
        frames == 0 ? 0 : Double(undecryptable) * 1_000_000 / Double(frames)
    }

    /// Lost frames of a million in the call of ``worstSeed``.
    public var worstPerMillion: Double { worst.share }

    /// Of a thousand frames that members had, those that they could not send.
    public var withheldPerThousand: Double { withheld == 0 ? 0 : Double(withheld) * 1000 / Double(sent + withheld) }

    private mutating func add(_ outcome: Outcome, _ seed: UInt64, isSplit: Bool) {
        frames += outcome.frames
        undecryptable += outcome.undecryptable
        sent += outcome.sent
        withheld += outcome.withheld
        rotations += outcome.rotations
        messages += outcome.messages
        switches += outcome.switches
        oldKeyUses += outcome.oldKeyUses
        successions += outcome.successions
        if outcome.undecryptable > 0 { seedsWithLoss += 1 }
        if isSplit { reunitedAfter = reunitedAfter.flatMap { known in outcome.reunitedAfter.map { max(known, $0) } } }
        let this = (
            isSplit && outcome.reunitedAfter == nil, outcome.undecryptablePerMillion, outcome.reunitedAfter ?? 0
        )
        guard Self.isWorse(this, worst) else { return }
        worst = this
        worstSeed = seed
    }

    private static func isWorse(_ one: (Bool, Double, UInt64), _ other: (Bool, Double, UInt64)) -> Bool {
        if one.0 != other.0 { return one.0 }
        return (one.1, one.2) > (other.1, other.2)
    }
}

extension Scenario {
    fileprivate func seeded(_ seed: UInt64) -> Scenario {
        var scenario = self
        scenario.seed = seed
        return scenario
    }

    fileprivate var isSplit: Bool { faults.contains { if case .partition = $0 { true } else { false } } }
}
