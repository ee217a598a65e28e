// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// Something that is sent a number of times, so long apart.
struct Repetition {
    private var nextAt: UInt64 = 0
    private var left: Int
    /// How many recipients had their turn: in a large call not all have it each time.
    private(set) var served = 0

    init(_ rounds: Int) { left = rounds }

    /// Whether it is time again.
    mutating func isDue(each interval: UInt64, at now: UInt64) -> Bool {
        guard left > 0, now >= nextAt else { return false }
        left -= 1
        nextAt = now + interval
        return true
    }

    /// A round takes so many devices at most.
    static let recipientCount = 16

    /// Whose turn it is among those who still wait.
    mutating func turn(of waiting: Set<CallDevice>) -> [CallDevice] {
        guard waiting.count > Self.recipientCount else { return waiting.sorted() }
        let all = waiting.sorted()
        defer { served += Self.recipientCount }
        return (0..<Self.recipientCount).map { all[(served + $0) % all.count] }
    }
}

/// What a device says beside the signals, and what it heard so.
struct PacketState {
    /// The newest rotation that came as a packet: what this device can pass on.
    var newest: AnnouncedKey?
    var spread: Spread?
    var farewell: Farewell?
    var acknowledged: (epoch: Epoch, at: UInt64)?
    /// Signals that came as packets; if the same signal also comes as a signal, no member is at fault.
    private var taken: [Name] = []

    private struct Name: Equatable {
        let sender: CallDevice
        let sequence: UInt64
    }

    /// A rotation that followed a departure, passed on by the members that send under it.
    struct Spread {
        let key: AnnouncedKey
        var packets: Repetition
    }

    struct Farewell {
        let signal: SignalDraft
        let recipients: [CallDevice]
        var packets: Repetition
    }

    mutating func take(_ signal: OpenedSignal) {
        if taken.count >= 64 { taken.removeFirst() }
        taken.append(Name(sender: signal.sender, sequence: signal.sequence))
    }

    func hasTaken(_ signal: OpenedSignal) -> Bool {
        taken.contains(Name(sender: signal.sender, sequence: signal.sequence))
    }

    /// This device is not a member any more; it may still say farewell.
    mutating func end() { (newest, spread, acknowledged) = (nil, nil, nil) }
}

/// Beside the signals, which come in order and may be late, go packets, which come in any order or not at all: secrets, acks, rosters and
/// leaves, through the relay of frames. Each says by itself what it follows, so that none needs the one before it.
///
/// Security: a packet is sealed for one device, and what is in it is signed as a signal is. A packet that is repeated,
/// late or out of order changes nothing and is not counted as a fault; of all packets, only an ack counts as a sign of
/// life.
extension CallParticipant {
    // MARK: What comes

    mutating func receive(_ packet: OpenedPacket, at now: UInt64) {
        guard isMember, packet.sender != device else { return }
        let before = output
        output = []
        switch packet {
        case .signal(let signal): receiveBeside(signal, at: now)
        case .key(let key): receive(key, at: now)
        }
        output = before + output.filter { if case .refused = $0 { false } else { true } }
    }

    private mutating func receiveBeside(_ signal: OpenedSignal, at now: UInt64) {
        switch signal.body {
        case .leave:
            guard takes(signal) else { return }
            receiveLeave(signal, at: now)
        case .ack(let epoch):
            guard takes(signal) else { return }
            heardAt[signal.sender] = now
            receiveAck(epoch, from: signal.sender, at: now)
        case .roster(let change):
            if change.roster == roster { return acknowledge(change, at: now) }
            // Over a gap, or to a secret that is not there, the signals lead, which come in order.
            guard isNext(change.roster, by: signal.sender), change.floors.allSatisfy(isHere), takes(signal) else {
                return
            }
            receiveChange(change, from: signal.sender, at: now)
        case .digest(let digest):
            guard takes(signal) else { return }
            receive(digest, from: signal.sender, at: now)
        default: return
        }
    }

    private mutating func takes(_ signal: OpenedSignal) -> Bool {
        guard isNew(signal) else { return false }
        beside.take(signal)
        return true
    }

    private mutating func acknowledge(_ change: RosterChange, at now: UInt64) {
        guard let floor = change.floors.first, isHere(floor), let newest = ring.newestEpoch(of: floor.generation),
            newest >= floor
        else { return }
        acknowledgeBeside(floor, at: now)
    }

    /// Whether a roster is the one after ours, and our host's.
    private func isNext(_ next: Roster, by sender: CallDevice) -> Bool {
        guard let roster else { return false }
        return sender == roster.host && next.term == roster.term && next.previous == roster.hash
    }

    private mutating func receive(_ key: AnnouncedKey, at now: UInt64) {
        let (rotation, sender) = (key.rotation, key.announcement.content.sender)
        if sender == roster?.host {
            guard rotation.roster == roster || isNext(rotation.roster, by: sender) else { return }
        }
        guard !isHost else { return }
        if isHere(rotation.epoch), sender == roster?.host {
            guard !ring.contradicts(rotation.commitment, of: rotation.epoch.generation) else { return }
            beside.newest = key
            return acknowledgeBeside(rotation.epoch, at: now)
        }
        let offered = OfferedKey(recipient: device, epoch: rotation.epoch, secret: key.secret)
        let signal = OpenedSignal(
            sender: sender, sequence: key.announcement.content.sequence, body: .rotation(rotation), keys: [offered])
        receiveRotation(rotation, signal, at: now)
        if isHere(rotation.epoch), sender == roster?.host { beside.newest = key }
    }

    // MARK: What goes

    /// Tells the host that this device has an epoch: as often as the host asks by repeating itself.
    mutating func acknowledgeBeside(_ epoch: Epoch, at now: UInt64) {
        guard let host = roster?.host, !isHost else { return }
        if let last = beside.acknowledged, last.epoch == epoch, now < last.at + times.packetInterval / 2 { return }
        beside.acknowledged = (epoch, now)
        let ack = draft(.ack(epoch), to: host, at: now)
        output.append(.sendPacket(PacketDraft(recipient: host, content: .signal(ack))))
    }

    /// Sends what is due, every 150 to 200 ms, to each member that lacks it.
    mutating func repeatPackets(at now: UInt64) {
        if isHost { repeatAsHost(at: now) } else { spread(at: now) }
    }

    private mutating func repeatAsHost(at now: UInt64) {
        if var repairs = duty?.repairs, !repairs.waiting.isEmpty,
            repairs.packets.isDue(each: times.packetInterval, at: now)
        {
            for member in repairs.packets.turn(of: repairs.waiting) {
                let content = PacketDraft.Content.ownKey(repairs.secret, announcement: repairs.announcement)
                output.append(.sendPacket(PacketDraft(recipient: member, content: content)))
            }
            duty?.repairs = repairs
        }
        guard var packets = duty?.turnPackets, let turns = duty?.turns, !turns.isEmpty,
            packets.isDue(each: times.packetInterval, at: now)
        else { return }
        for member in packets.turn(of: turns.reduce(into: []) { $0.formUnion($1.waiting) }) {
            // Each follows the one before, so that later ones would be of no use yet.
            for turn in turns.filter({ $0.waiting.contains(member) }).prefix(2) where roster?.contains(member) == true {
                output.append(.sendPacket(PacketDraft(recipient: member, content: .signal(turn.change))))
            }
        }
        duty?.turnPackets = packets
    }

    /// After a leave, each member that sends under the new key passes it to the members that it has not heard under it.
    mutating func beginSpreading(at now: UInt64) {
        guard !isHost, let key = beside.newest, key.rotation.reason.isHasty,
            key.rotation.epoch.generation == reached?.generation
        else { return }
        beside.spread = PacketState.Spread(key: key, packets: Repetition(times.spreadRounds))
        spread(at: now)
    }

    private mutating func spread(at now: UInt64) {
        guard var spread = beside.spread else { return }
        let epoch = spread.key.rotation.epoch
        guard epoch.generation == reached?.generation, let roster else { return beside.spread = nil }
        guard spread.packets.isDue(each: times.spreadInterval, at: now) else { return }
        let silent = roster.members.filter {
            $0.device != device && $0.device != roster.host && spread.key.rotation.roster.contains($0.device)
                && !ring.hasHeard($0.index, since: epoch.generation)
        }
        for member in spread.packets.turn(of: Set(silent.map(\.device))) {
            output.append(.sendPacket(PacketDraft(recipient: member, content: .passedOn(spread.key))))
        }
        beside.spread = spread
    }

    // MARK: Farewell

    mutating func sayFarewell(at now: UInt64) {
        guard let roster else { return }
        let signal = draft(.leave, at: now)
        output.append(.send(signal))
        // The host and its successors act on it; the other members hear of it from them.
        let others = [roster.host] + roster.successors
        beside.farewell = PacketState.Farewell(
            signal: signal, recipients: Array(others.filter { $0 != device }.prefix(Repetition.recipientCount)),
            packets: Repetition(times.farewellRounds))
        repeatFarewell(at: now)
    }

    mutating func repeatFarewell(at now: UInt64) {
        guard var farewell = beside.farewell, farewell.packets.isDue(each: times.farewellInterval, at: now) else {
            return
        }
        for member in farewell.recipients {
            output.append(.sendPacket(PacketDraft(recipient: member, content: .signal(farewell.signal))))
        }
        beside.farewell = farewell
    }
}
