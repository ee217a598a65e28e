// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// The members of each call, by address. A value: packets and times go in, what to send comes out.
///
/// Security: knows which addresses are in a call together, and nothing that would open a frame.
struct RelayRooms<Address: Hashable> {
    /// What to do about a packet.
    enum Verdict: Hashable {
        /// Nothing.
        case ignored
        /// Send this back. It is never longer than what came.
        case answer(RelayPacket)
        /// Send these.
        case forward([Address: RelayPacket])
    }

    struct Guest {
        let place: RelayPlace
        let account: Int64
        let alias: MemberAlias
        var key: RelayKey
        /// The number of this stay: codes of an earlier one are worth nothing.
        let stay: UInt64
        var end: UInt64
        var heardAt: UInt64
        /// Packets that may still come, in thousandths.
        var allowance: UInt64
    }

    struct Room {
        var guests: [CallDevice: Address] = [:]
        /// How many guests each account has in it.
        var accounts: [Int64: Int] = [:]
        var heardAt: UInt64 = 0
    }

    let limits: RelayLimits
    private let tickets: TicketKey
    /// Whether it helps who forges; for tests.
    private let isConniving: Bool
    private let bytes: (Address) -> [UInt8]
    private var generator: any RandomNumberGenerator
    var guests: [Address: Guest] = [:]
    var rooms: [CallID: Room] = [:]
    var roomCounts: [Int64: Int] = [:]
    /// Devices that left a call, and until when a ticket from before may be around.
    private var gone: [RelayPlace: UInt64] = [:]

    /// - Parameter bytes: what is particular to an address.
    init(
        _ limits: RelayLimits, _ tickets: TicketKey, isConniving: Bool = false,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        bytes: @escaping (Address) -> [UInt8]
    ) {
        self.isConniving = isConniving
        self.limits = limits
        self.tickets = tickets
        self.generator = generator
        self.bytes = bytes
    }

    var counts: (rooms: Int, devices: Int) { (rooms.count, guests.count) }

    /// - Parameter now: milliseconds of the uptime.
    mutating func receive(_ packet: [UInt8], from address: Address, at now: UInt64) -> Verdict {
        guard let packet = RelayPacket(decoding: packet) else { return .ignored }
        if case .hello(let cookie, _, let ticket) = packet {
            return receiveHello(packet, cookie, ticket, from: address, at: now)
        }
        guard let guest = guests[address], guest.key.made(packet, in: guest.stay) else { return .ignored }
        switch packet {
        case .frame(_, let frame):
            guard let room = charge(guest, at: address, now) else { return .ignored }
            return pass(frame, of: guest.alias, from: address, to: room)
        case .sealed(let alias, _, let bytes):
            guard let room = charge(guest, at: address, now) else { return .ignored }
            if isConniving, bytes.first == RelayPacket.forgeryMark {
                return pass(Array(bytes.dropFirst()), of: alias, from: address, to: room)
            }
            return pass(bytes, of: guest, to: alias, in: room)
        case .farewell: remove(address)
        default: break
        }
        return .ignored
    }

    private mutating func receiveHello(
        _ packet: RelayPacket, _ cookie: UInt64, _ bytes: [UInt8], from address: Address, at now: UInt64
    ) -> Verdict {
        guard let ticket = tickets.read(bytes, at: now, atMost: limits.ticketTime), isGood(ticket, at: now),
            let key = RelayKey(ticket.sessionKey), key.made(packet, in: 0)
        else { return .answer(.refused) }
        let expected = tickets.cookie(for: self.bytes(address))
        guard cookie == expected else { return .answer(.challenge(expected)) }
        guard let guest = letIn(ticket, key, at: address, now), guest.key.made(packet, in: 0) else {
            return .answer(.refused)
        }
        return .answer(guest.key.welcome(guest.stay))
    }

    /// Whether a ticket's time is not over, and its device did not leave after it was made.
    private func isGood(_ ticket: RelayTicket, at now: UInt64) -> Bool {
        now < ticket.end && ticket.end > (gone[ticket.place] ?? 0)
    }

    /// A device that comes from another address is the same device; its old address is out.
    ///
    /// - Returns: the device as it is in the room now, with the key that the relay goes by; nil if there is no room.
    private mutating func letIn(
        _ ticket: RelayTicket, _ key: RelayKey, at address: Address, _ now: UInt64
    ) -> Guest? {
        if let guest = guests[address], guest.place == ticket.place {
            // A later ticket may be under the front ends' next secret. Whoever has seen an earlier one may repeat it.
            if ticket.end + tickets.tolerance >= guest.end {
                guests[address]?.key = key
                guests[address]?.end = max(guest.end, ticket.end)
            }
            guests[address]?.heardAt = now
            return guests[address]
        }
        let old = rooms[ticket.place.call]?.guests[ticket.place.device]
        if old == nil { guard hasRoom(for: ticket) else { return nil } }
        let allowance = old.flatMap { guests[$0]?.allowance } ?? limits.packetBurst * 1000
        if let old { remove(old) }
        remove(address)
        let guest = Guest(
            place: ticket.place, account: ticket.account,
            alias: MemberAlias(of: ticket.place.device, in: ticket.place.call), key: key, stay: generator.next(),
            end: ticket.end, heardAt: now, allowance: allowance)
        insert(guest, at: address, now)
        return guest
    }

    /// Counts a packet.
    ///
    /// - Returns: the room to which it may go; nil if it goes nowhere.
    private mutating func charge(_ guest: Guest, at address: Address, _ now: UInt64) -> Room? {
        var guest = guest
        guard now < guest.end else { return nil }
        let earned = (now - guest.heardAt).multipliedReportingOverflow(by: limits.packetsPerSecond)
        guest.allowance = min(
            limits.packetBurst * 1000, guest.allowance + (earned.overflow ? 0 : earned.partialValue))
        guest.heardAt = now
        let isPoor = guest.allowance < 1000
        if !isPoor { guest.allowance -= 1000 }
        guests[address] = guest
        rooms[guest.place.call]?.heardAt = now
        return isPoor ? nil : rooms[guest.place.call]
    }

    /// A frame goes to all others.
    private func pass(_ frame: [UInt8], of alias: MemberAlias, from address: Address, to room: Room) -> Verdict {
        var packets: [Address: RelayPacket] = [:]
        for other in room.guests.values where other != address && guests[other]?.alias != alias {
            packets[other] = guests[other].map { $0.key.relayed(frame, of: alias, $0.stay) }
        }
        return .forward(packets)
    }

    /// What is sealed goes to one other.
    private func pass(_ bytes: [UInt8], of guest: Guest, to alias: MemberAlias, in room: Room) -> Verdict {
        let others = room.guests.values.compactMap { address in guests[address].map { (address, $0) } }
        guard alias != guest.alias, let (address, other) = others.first(where: { $0.1.alias == alias }) else {
            return .ignored
        }
        return .forward([address: other.key.relayedSealed(bytes, of: guest.alias, other.stay)])
    }

    /// A device is in a call no more: it is out, and its tickets are worth nothing.
    mutating func end(_ place: RelayPlace, at now: UInt64) {
        gone[place] = now + limits.ticketTime + tickets.tolerance
        if let address = rooms[place.call]?.guests[place.device] { remove(address) }
    }

    /// Removes devices that are silent or whose ticket has expired.
    mutating func sweep(at now: UInt64) {
        gone = gone.filter { now < $0.value }
        for (address, guest) in guests where now >= guest.end || now >= guest.heardAt + limits.silence {
            remove(address)
        }
    }
}
