// SPDX-License-Identifier: Apache-2.0

/// A device of another system, reduced to its rules about keys: a frame is opened if its key is there, and is otherwise lost.
struct ClassicMember: SimulatedMember {
    enum Message {
        case rotation(key: UInt64)
        case ack(key: UInt64, from: Int)
        case commit(key: UInt64)
        case request(from: Int)
        case reply(key: UInt64)
        case welcome(key: UInt64)
        case join(from: Int)
    }

    private let number: Int
    private let policy: KeyChangePolicy
    private let count: Int
    private(set) var isHost = false
    private var current: UInt64?
    private var old: [(key: UInt64, until: UInt64)] = []
    private var future: [UInt64: UInt64] = [:]
    private var newest: UInt64 = 0
    private var waiting: Set<Int> = []
    private var deadline: UInt64?
    private var askedAt: UInt64?
    private var missedSince: UInt64?

    init(number: Int, scenario: Scenario, policy: KeyChangePolicy) {
        self.number = number
        self.policy = policy
        count = scenario.participants
    }

    var isMember: Bool { current != nil }

    var view: [UInt32]? { nil }

    func knows(_ number: Int) -> Bool { true }

    mutating func start(at now: UInt64) -> [SimulatedAction<Message>] {
        isHost = true
        newest = 1
        return use(1, at: now)
    }

    mutating func join(at now: UInt64) -> [SimulatedAction<Message>] {
        [.send(.join(from: number), to: 0, carriesKey: false)]
    }

    mutating func leave(at now: UInt64) -> [SimulatedAction<Message>] { [] }

    mutating func rotate(at now: UInt64) -> [SimulatedAction<Message>] {
        newest += 1
        waiting = Set(0..<count).subtracting([number])
        return [.send(.rotation(key: newest), to: nil, carriesKey: true)]
            + take(newest, at: now)
    }

    mutating func receive(_ message: Message, at now: UInt64) -> [SimulatedAction<Message>] {
        switch message {
        case .join(let from):
            return isHost ? [.send(.welcome(key: current ?? newest), to: from, carriesKey: false)] : []
        case .welcome(let key): return isMember ? [] : use(key, at: now)
        case .rotation(let key): return take(key, at: now)
        case .ack(let key, let from): return isHost && key == newest ? acked(from, at: now) : []
        case .commit(let key): return future[key] == nil ? [] : use(key, at: now)
        case .request(let from):
            guard isHost, let current else { return [] }
            return [.send(.reply(key: current), to: from, carriesKey: false)]
        case .reply(let key):
            let recovered = missedSince.map { [SimulatedAction<Message>.recovered(now - $0)] } ?? []
            (missedSince, askedAt) = (nil, now)
            return recovered + (key == current ? [] : use(key, at: now))
        }
    }

    mutating func tick(at now: UInt64) -> [SimulatedAction<Message>] {
        old.removeAll { now >= $0.until }
        if let deadline, now >= deadline, isHost { return barrierEnds(at: now) }
        if case .barrier = policy.change { return [] }
        guard let due = future.filter({ now >= $0.value }).keys.max() else { return [] }
        return use(due, at: now)
    }

    mutating func frame(_ id: UInt64, at now: UInt64) -> SimulatedFrame? {
        guard let current else { return nil }
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: current >> UInt64(8 * $0)) }
        return SimulatedFrame(id: id, bytes: bytes, nonce: [])
    }

    mutating func receive(_ frame: SimulatedFrame, at now: UInt64) -> [SimulatedAction<Message>] {
        let key = frame.bytes.enumerated().reduce(0 as UInt64) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) }
        if key == current || future[key] != nil || old.contains(where: { $0.key == key }) { return [.played(frame.id)] }
        guard policy.asks, !isHost, isMember, now >= (askedAt ?? 0) + 3000 else { return [] }
        (askedAt, missedSince) = (now, missedSince ?? now)
        return [.send(.request(from: number), to: 0, carriesKey: false)]
    }

    // MARK: Rules

    private mutating func take(_ key: UInt64, at now: UInt64) -> [SimulatedAction<Message>] {
        switch policy.change {
        case .atOnce: return use(key, at: now)
        case .delay(let time):
            future[key] = now + time
            return []
        case .barrier(let cap):
            future[key] = .max
            if isHost { deadline = now + cap }
            return isHost ? [] : [.send(.ack(key: key, from: number), to: 0, carriesKey: false)]
        }
    }

    private mutating func acked(_ from: Int, at now: UInt64) -> [SimulatedAction<Message>] {
        waiting.remove(from)
        return waiting.isEmpty && deadline != nil ? barrierEnds(at: now) : []
    }

    private mutating func barrierEnds(at now: UInt64) -> [SimulatedAction<Message>] {
        deadline = nil
        return [.send(.commit(key: newest), to: nil, carriesKey: false)] + use(newest, at: now)
    }

    private mutating func use(_ key: UInt64, at now: UInt64) -> [SimulatedAction<Message>] {
        if let current, current != key {
            let (until, isEndless) = now.addingReportingOverflow(policy.retention)
            old.append((current, isEndless ? .max : until))
            old = Array(old.suffix(policy.oldKeys))
        }
        current = key
        future = future.filter { $0.key > key }
        newest = max(newest, key)
        return [.epoch(generation: key, step: 0)]
    }
}
