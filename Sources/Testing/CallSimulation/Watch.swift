// SPDX-License-Identifier: Apache-2.0

/// Knows what is true in a simulated call, and counts what devices make of it.
struct Watch<Member: SimulatedMember> {
    private struct Waiting: Hashable {
        let id: UInt64
        let receiver: Int
    }

    /// Devices that left, as they were: they go on listening.
    var ghosts: [Int: Member] = [:]
    private var learned: [[Int]: UInt64] = [:]
    var hasBegun: Set<Int> = []
    /// Devices that have sent something.
    var wasIn: Set<Int> = []
    /// Delivered and not opened yet, with the rotation that was under way.
    private var waiting: [Waiting: Int] = [:]
    /// Opened from a second copy that overtook the first.
    private var early: Set<Waiting> = []
    private var epochs: [(generation: UInt64, step: UInt64)?]
    private var hosts: [UInt64: Int] = [:]
    private var requests: [Int: (id: UInt64, at: UInt64)] = [:]
    private var nonces: Set<[UInt64]> = []
    private var rotationAt: UInt64?
    private var leftAt: (generation: UInt64, at: UInt64)?
    private var crashedAt: (at: UInt64, generation: UInt64)?
    private var joinedAt: [Int: UInt64] = [:]
    private var begunAt: [Int: UInt64] = [:]
    private var healedAt: UInt64?
    private var late: Set<UInt64> = []
    private var old: [(frame: SimulatedFrame, sentAt: UInt64)] = []

    init(count: Int) { epochs = [(generation: UInt64, step: UInt64)?](repeating: nil, count: count) }

    // MARK: Frames

    mutating func delivered(
        _ id: UInt64, to receiver: Int, during rotation: Int, at now: UInt64, _ outcome: inout Outcome
    ) {
        outcome.frames += 1
        if let healedAt, now >= healedAt + 10_000 { late.insert(id) }
        let frame = Waiting(id: id, receiver: receiver)
        if early.remove(frame) == nil { waiting[frame] = rotation }
    }

    mutating func played(_ id: UInt64, by number: Int, at now: UInt64, _ outcome: inout Outcome) {
        let frame = Waiting(id: id, receiver: number)
        if waiting.removeValue(forKey: frame) == nil { early.insert(frame) }
        if let begun = joinedAt.removeValue(forKey: number) { outcome.joins.append(now - begun) }
        if let crash = crashedAt, let epoch = epochs[number], epoch.generation > crash.generation {
            outcome.successions.append(now - crash.at)
            crashedAt = nil
        }
    }

    mutating func sealed(_ frame: SimulatedFrame, at now: UInt64, _ outcome: inout Outcome) {
        if !frame.nonce.isEmpty, !nonces.insert(frame.nonce).inserted { outcome.count(.nonceReused) }
        old.append((frame, now))
        if old.count > 100 { old.removeFirst(50) }
    }

    /// A device that has just joined is given frames from before.
    mutating func tryReadingBack(_ member: Member, _ number: Int, at now: UInt64, _ outcome: inout Outcome) {
        guard let begun = begunAt.removeValue(forKey: number) else { return }
        var member = member
        for (frame, sentAt) in old where sentAt < begun {
            for case .played in member.receive(frame, at: now) { outcome.count(.joinerReadBack) }
        }
    }

    mutating func tryGhost(_ frame: SimulatedFrame, _ number: Int, at now: UInt64, _ outcome: inout Outcome) {
        guard var ghost = ghosts[number] else { return }
        for case .played in ghost.receive(frame, at: now) { outcome.count(.leaverRead) }
        ghosts[number] = ghost
    }

    /// A device whose roster has a departed member has not heard of the leave: before, it had not heard of the join
    /// either.
    mutating func listens(_ number: Int, to member: Member) {
        for ghost in ghosts.keys where member.knows(ghost) { learned[[number, ghost]] = nil }
    }

    /// Whether a device has known for longer than a leave's barrier that another left: from then on it must not be heard.
    mutating func hasLongKnown(_ number: Int, that ghost: Int, at now: UInt64) -> Bool {
        let since = learned[[number, ghost]] ?? now
        learned[[number, ghost]] = since
        return now > since + 850
    }

    mutating func finish(_ outcome: inout Outcome) -> Outcome {
        outcome.undecryptable = waiting.count
        outcome.lateLosses = waiting.keys.count { late.contains($0.id) }
        outcome.rotationsWithLoss = Set(waiting.values).count
        return outcome
    }

    // MARK: Partitions

    mutating func isWhole(at now: UInt64, _ rosters: [[UInt32]?], hosts: Int, _ outcome: inout Outcome) {
        guard let healedAt else { return }
        if !Self.isOne(rosters, hosts: hosts) {
            outcome.reunitedAfter = nil
        } else if outcome.reunitedAfter == nil {
            outcome.reunitedAfter = now - healedAt
        }
    }

    static func isOne(_ rosters: [[UInt32]?], hosts: Int) -> Bool {
        hosts == 1 && Set(rosters).count == 1 && rosters.allSatisfy { $0 != nil }
    }

    mutating func heals(at now: UInt64) { healedAt = now }

    var isHealed: Bool { healedAt != nil }

    // MARK: Keys

    mutating func rotationBegins(at now: UInt64) { rotationAt = now }

    mutating func switched(
        _ number: Int, generation: UInt64, step: UInt64, at now: UInt64, members: [Int], _ outcome: inout Outcome
    ) {
        if let before = epochs[number], (generation, step) < (before.generation, before.step) {
            outcome.count(.epochWentBack)
        }
        epochs[number] = (generation, step)
        let oldest = members.compactMap { epochs[$0]?.generation }.min() ?? 0
        if let rotationAt, oldest == generation, step == 0 {
            outcome.switches.append(now - rotationAt)
            self.rotationAt = nil
        }
        if let left = leftAt, oldest > left.generation {
            outcome.oldKeyUses.append(now - left.at)
            leftAt = nil
        }
    }

    mutating func isOutside(_ number: Int) { epochs[number] = nil }

    mutating func leaves(_ number: Int, at now: UInt64) {
        leftAt = ((epochs.compactMap { $0?.generation }.max() ?? 0), now)
    }

    mutating func joins(_ number: Int, at now: UInt64) {
        joinedAt[number] = now
        begunAt[number] = now
    }

    mutating func hostCrashed(at now: UInt64) { crashedAt = (now, epochs.compactMap { $0?.generation }.max() ?? 0) }

    // MARK: Rules

    mutating func hosts(_ term: UInt64, _ host: Int, _ outcome: inout Outcome) {
        if let known = hosts[term], known != host { outcome.count(.twoHosts) }
        hosts[term] = host
    }

    mutating func asked(_ number: Int, _ id: UInt64, isHost: Bool, at now: UInt64, _ outcome: inout Outcome) {
        if isHost { outcome.count(.hostAsked) }
        if let last = requests[number] {
            guard last.id != id else { return }
            if now < last.at + 3000 { outcome.count(.askedTooOften) }
        }
        requests[number] = (id, now)
    }
}
