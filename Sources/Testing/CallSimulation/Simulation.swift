// SPDX-License-Identifier: Apache-2.0

/// Plays a scenario through, one event after the other.
struct Simulation<Member: SimulatedMember> {
    enum Event {
        case tick(Int)
        case produce(Int)
        case rotate(Int)
        case fault(Scenario.Fault)
        case message(Member.Message, to: Int, from: Int)
        case frame(SimulatedFrame, to: Int, isMeant: Bool)
        case farewell(Int, left: Int)
        case audit(SimulatedFrame, ghost: Int)
    }

    let scenario: Scenario
    private let policy: KeyChangePolicy
    var members: [Member?]
    var queue = EventQueue<Event>()
    var chance: Chance
    var outcome = Outcome()
    var now: UInt64 = 0
    var watch: Watch<Member>
    private var skews: [Int64] = []
    private var lastDelivery: [UInt64]
    private var frameCount: UInt64 = 0
    private var evil: Set<Scenario.Fault> = []
    private var cut: Set<Int> = []
    private var rotation = 0
    /// Devices that left and still say so.
    private var leaving: [Int: Member] = [:]

    init(_ scenario: Scenario, policy: KeyChangePolicy) {
        self.scenario = scenario
        self.policy = policy
        chance = Chance(seed: scenario.seed)
        let joiners = scenario.faults.count { if case .join = $0 { true } else { false } }
        members = (0..<scenario.participants + joiners).map { Member(number: $0, scenario: scenario, policy: policy) }
        lastDelivery = [UInt64](repeating: 0, count: members.count)
        watch = Watch(count: members.count)
        for _ in members { skews.append(Int64(chance.upTo(2 * scenario.skew)) - Int64(scenario.skew)) }
    }

    mutating func run() -> Outcome {
        schedule()
        while let (time, event) = queue.next(), time <= scenario.duration {
            now = time
            handle(event)
        }
        let living = members.compactMap(\.self)
        outcome.isOneCall = Watch<Member>.isOne(living.map(\.view), hosts: living.count(where: \.isHost))
        return watch.finish(&outcome)
    }

    private mutating func schedule() {
        let beginning = scenario.firstFrame ?? scenario.warmUp / 2
        for number in 0..<scenario.participants {
            queue.insert(.tick(number), at: UInt64(number) * 7 % 50)
            queue.insert(.produce(number), at: beginning + UInt64(number) * 3 % scenario.frameInterval)
        }
        for count in 0..<scenario.rotations {
            queue.insert(.rotate(count), at: scenario.warmUp + UInt64(count) * scenario.rotationInterval)
        }
        for fault in scenario.faults { queue.insert(.fault(fault), at: fault.time) }
        act(0) { $0.start(at: $1) }
        for number in 1..<max(1, scenario.participants) {
            queue.insert(.fault(.join(at: UInt64(number))), at: UInt64(number) * 10)
        }
    }

    private func clock(_ number: Int) -> UInt64 {
        UInt64(bitPattern: Int64(Scenario.epoch + now) + skews[number])
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .tick(let number):
            act(number) { $0.tick(at: $1) }
            if number == 0 { lookForOneCall() }
            if members[number] != nil { queue.insert(.tick(number), at: now + 50) }
        case .produce(let number): produce(number)
        case .rotate(let count): rotate(count)
        case .fault(let fault): suffer(fault)
        case .message(let message, let to, let from):
            guard cut.contains(to) == cut.contains(from) else { return }
            act(to) { $0.receive(message, at: $1) }
            if scenario.choices != nil { seal(to) }
        case .frame(let frame, let to, let isMeant): deliver(frame, to: to, isMeant: isMeant)
        case .farewell(let number, let left): sayFarewell(number, left)
        case .audit(let frame, let ghost): watch.tryGhost(frame, ghost, at: clock(ghost), &outcome)
        }
    }

    private mutating func lookForOneCall() {
        guard watch.isHealed else { return }
        let living = members.compactMap(\.self)
        watch.isWhole(at: now, living.map(\.view), hosts: living.count(where: \.isHost), &outcome)
    }

    private mutating func act(_ number: Int, _ body: (inout Member, UInt64) -> [SimulatedAction<Member.Message>]) {
        guard var member = members[number] else { return }
        members[number] = nil
        let actions = body(&member, clock(number))
        members[number] = member
        carryOut(actions, of: number)
    }

    private mutating func carryOut(_ actions: [SimulatedAction<Member.Message>], of number: Int) {
        for action in actions {
            switch action {
            case .send(let message, let to, let carriesKey):
                outcome.messages += 1
                send(message, from: number, to: to, carriesKey: carriesKey)
            case .sendPacket(let message, let to, let carriesKey):
                outcome.packets += 1
                sendPacket(message, from: number, to: to, carriesKey: carriesKey)
            case .played(let id): watch.played(id, by: number, at: now, &outcome)
            case .recovered(let milliseconds): outcome.recoveries.append(milliseconds)
            case .epoch(let generation, let step):
                if scenario.isAudited, let member = members[number] {
                    watch.tryReadingBack(member, number, at: clock(number), &outcome)
                }
                watch.switched(number, generation: generation, step: step, at: now, members: livingMembers, &outcome)
            case .tenure(let term, let host):
                watch.hosts(term, host, &outcome)
                if let member = members[number] { watch.listens(number, to: member) }
            case .asked(let id): watch.asked(number, id, isHost: members[number]?.isHost ?? false, at: now, &outcome)
            case .outside: watch.isOutside(number)
            case .refused: outcome.refusals += 1
            }
        }
    }

    private var livingMembers: [Int] { members.indices.filter { members[$0]?.isMember ?? false } }

    // MARK: Network

    private mutating func delay() -> UInt64 { scenario.latency + chance.upTo(scenario.jitter) }

    /// A message arrives in order and always: what is lost is sent again after 200 ms, 400 ms, and so on.
    private mutating func send(_ message: Member.Message, from: Int, to: Int?, carriesKey: Bool) {
        for receiver in members.indices
        where receiver != from && (to ?? receiver) == receiver && members[receiver] != nil {
            guard cut.contains(receiver) == cut.contains(from) else { continue }
            let choice = chosen()
            if choice == .lost { continue }
            if carriesKey, evil.contains(.missedRotations), rotation % members.count == receiver { continue }
            var arrival = now + delay()
            var timeout: UInt64 = 200
            while chance.happens(scenario.loss) && timeout < 6400 {
                arrival += timeout
                timeout *= 2
            }
            if choice == .late { arrival += SignalChoice.delay }
            arrival = max(arrival, lastDelivery[receiver])
            lastDelivery[receiver] = arrival
            queue.insert(.message(message, to: receiver, from: from), at: arrival)
            if evil.contains(.replayingServer) {
                queue.insert(.message(message, to: receiver, from: from), at: arrival + chance.upTo(4000))
            }
        }
    }

    /// A packet takes the way of frames.
    private mutating func sendPacket(_ message: Member.Message, from: Int, to: Int, carriesKey: Bool) {
        guard members[to] != nil, cut.contains(to) == cut.contains(from), scenario.packets != .lost else { return }
        if carriesKey, evil.contains(.missedRotations), rotation % members.count == to { return }
        guard !chance.happens(scenario.loss) else { return }
        let late = scenario.packets == .late ? SignalChoice.delay : 0
        queue.insert(.message(message, to: to, from: from), at: now + late + delay())
        if evil.contains(.replayingServer) || chance.happens(scenario.duplication) {
            let again = evil.contains(.replayingServer) ? chance.upTo(4000) : 0
            queue.insert(.message(message, to: to, from: from), at: now + late + delay() + again)
        }
    }

    private mutating func chosen() -> SignalChoice? {
        guard let choices = scenario.choices else { return nil }
        outcome.deliveryTimes.append(now)
        return choices[outcome.deliveryTimes.count - 1]
    }

    private mutating func produce(_ number: Int) {
        guard members[number] != nil else { return }
        queue.insert(.produce(number), at: now + scenario.frameInterval)
        seal(number)
    }

    /// One frame, if the device has a key.
    private mutating func seal(_ number: Int) {
        guard members[number] != nil, now + min(2000, scenario.coolDown / 2) < scenario.duration else { return }
        frameCount += 1
        let (id, time) = (frameCount, clock(number))
        guard let frame = members[number]?.frame(id, at: time) else {
            if watch.wasIn.contains(number) { outcome.withheld += 1 }
            return
        }
        outcome.sent += 1
        watch.wasIn.insert(number)
        if scenario.isAudited { watch.sealed(frame, at: now, &outcome) }
        for receiver in members.indices where receiver != number && members[receiver] != nil {
            transmit(frame, from: number, to: receiver)
        }
        for ghost in watch.ghosts.keys where !(members[number]?.knows(ghost) ?? true) {
            if watch.hasLongKnown(number, that: ghost, at: now) { queue.insert(.audit(frame, ghost: ghost), at: now) }
        }
        if evil.contains(where: \.isJunk) { sendJunk(like: frame, from: number) }
    }

    private mutating func transmit(_ frame: SimulatedFrame, from number: Int, to receiver: Int) {
        guard cut.contains(receiver) == cut.contains(number) else { return }
        let isMeant = (members[receiver]?.isMember ?? false) && (members[number]?.knows(receiver) ?? false)
        guard !chance.happens(scenario.loss) else { return }
        queue.insert(.frame(frame, to: receiver, isMeant: isMeant), at: now + delay())
        if chance.happens(scenario.duplication) {
            queue.insert(.frame(frame, to: receiver, isMeant: false), at: now + delay())
        }
    }

    private mutating func sendJunk(like frame: SimulatedFrame, from number: Int) {
        var bytes = frame.bytes
        guard bytes.count > 3 else { return }
        bytes[Int(chance.upTo(2))] ^= UInt8(truncatingIfNeeded: chance.next())
        bytes[bytes.count - 1] ^= 1
        for receiver in members.indices where receiver != number && members[receiver] != nil {
            let junk = SimulatedFrame(id: 0, bytes: bytes, nonce: [])
            queue.insert(.frame(junk, to: receiver, isMeant: false), at: now + delay())
        }
    }

    private mutating func deliver(_ frame: SimulatedFrame, to receiver: Int, isMeant: Bool) {
        guard members[receiver] != nil else { return }
        if isMeant { watch.delivered(frame.id, to: receiver, during: rotation, at: now, &outcome) }
        act(receiver) { $0.receive(frame, at: $1) }
    }

    // MARK: What happens in the call

    private mutating func rotate(_ count: Int) {
        guard let host = members.indices.first(where: { members[$0]?.isHost ?? false }) else { return }
        rotation = count
        outcome.rotations += 1
        watch.rotationBegins(at: now)
        act(host) { $0.rotate(at: $1) }
    }

    private mutating func suffer(_ fault: Scenario.Fault) {
        switch fault {
        case .crash(let number, _): members[number] = nil
        case .hostCrash:
            guard let host = members.indices.first(where: { members[$0]?.isHost ?? false }) else { return }
            members[host] = nil
            watch.hostCrashed(at: now)
        case .leave(let number, _): leave(number)
        case .join: join()
        case .partition(let side, let from, let until):
            if now == from {
                cut = side
                queue.insert(.fault(fault), at: until)
            } else {
                cut = []
                watch.heals(at: now)
            }
        case .missedRotations, .replayingServer, .junk: evil.insert(fault)
        }
    }

    private mutating func leave(_ number: Int) {
        guard let member = members[number], member.isMember else { return }
        if scenario.isAudited { watch.ghosts[number] = member }
        watch.leaves(number, at: now)
        act(number) { $0.leave(at: $1) }
        leaving[number] = members[number]
        members[number] = nil
        queue.insert(.farewell(number, left: 4), at: now + 50)
    }

    private mutating func sayFarewell(_ number: Int, _ left: Int) {
        guard var member = leaving[number] else { return }
        let actions = member.tick(at: clock(number))
        leaving[number] = left > 0 ? member : nil
        carryOut(actions, of: number)
        if left > 0 { queue.insert(.farewell(number, left: left - 1), at: now + 50) }
    }

    private mutating func join() {
        guard let number = members.indices.dropFirst().first(where: { !watch.hasBegun.contains($0) }) else { return }
        watch.hasBegun.insert(number)
        if number >= scenario.participants {
            queue.insert(.tick(number), at: now)
            queue.insert(.produce(number), at: now + 1)
            watch.joins(number, at: now)
        }
        act(number) { $0.join(at: $1) }
    }
}

extension Scenario.Fault {
    var time: UInt64 {
        switch self {
        case .crash(_, let at), .hostCrash(let at), .leave(_, let at), .join(let at), .junk(let at): at
        case .partition(_, let from, _): from
        case .missedRotations, .replayingServer: 0
        }
    }

    var isJunk: Bool { if case .junk = self { true } else { false } }
}
