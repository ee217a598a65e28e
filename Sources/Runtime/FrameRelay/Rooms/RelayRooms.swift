import CallSignalling

/// Who is in which call, by address. A value: packets and times go in, what to send comes out.
///
/// Security: knows which addresses are in a call together, and nothing that would open a frame.
struct RelayRooms<Address: Hashable> {
    /// What to do about a packet.
    enum Verdict: Hashable {
        /// Nothing.
        case ignored
        /// Send this back. It is never longer than what came.
        case answer(RelayPacket)
        /// Send the packet as it is to these.
        case forward([Address])
    }

    private struct Guest {
        let call: CallID
        let device: CallDevice
        let end: UInt64
        var heardAt: UInt64
        /// Packets that may still come, in thousandths.
        var allowance: UInt64
    }

    private let limits: RelayLimits
    private let tickets: TicketKey
    private let bytes: (Address) -> [UInt8]
    private var guests: [Address: Guest] = [:]
    private var rooms: [CallID: [CallDevice: Address]] = [:]

    /// - Parameter bytes: what is particular to an address.
    init(_ limits: RelayLimits, _ tickets: TicketKey, bytes: @escaping (Address) -> [UInt8]) {
        self.limits = limits
        self.tickets = tickets
        self.bytes = bytes
    }

    var counts: (rooms: Int, devices: Int) { (rooms.count, guests.count) }

    /// - Parameter now: milliseconds of the uptime.
    mutating func receive(_ packet: [UInt8], from address: Address, at now: UInt64) -> Verdict {
        switch RelayPacket(decoding: packet) {
        case .hello(let cookie, let ticket): return receiveHello(cookie, ticket, from: address, at: now)
        case .frame: return pass(from: address, at: now)
        case .farewell:
            remove(address)
            return .ignored
        case .challenge, .welcome, .refused, nil: return .ignored
        }
    }

    private mutating func receiveHello(
        _ cookie: UInt64, _ bytes: [UInt8], from address: Address, at now: UInt64
    ) -> Verdict {
        guard let ticket = tickets.read(bytes), now < ticket.end else { return .answer(.refused) }
        let expected = tickets.cookie(for: self.bytes(address))
        guard cookie == expected else { return .answer(.challenge(expected)) }
        return .answer(letIn(ticket, at: address, now) ? .welcome : .refused)
    }

    /// A device that comes from another address is the same device; its old address is out.
    private mutating func letIn(_ ticket: RelayTicket, at address: Address, _ now: UInt64) -> Bool {
        let old = rooms[ticket.call]?[ticket.device]
        if old == nil {
            guard rooms[ticket.call] != nil || rooms.count < limits.rooms,
                rooms[ticket.call, default: [:]].count < limits.devicesPerRoom
            else { return false }
        }
        let allowance = old.flatMap { guests[$0]?.allowance } ?? limits.packetBurst * 1000
        if let old { remove(old) }
        remove(address)
        guests[address] = Guest(
            call: ticket.call, device: ticket.device, end: ticket.end, heardAt: now, allowance: allowance)
        rooms[ticket.call, default: [:]][ticket.device] = address
        return true
    }

    private mutating func pass(from address: Address, at now: UInt64) -> Verdict {
        guard var guest = guests[address], now < guest.end else { return .ignored }
        let earned = (now - guest.heardAt).multipliedReportingOverflow(by: limits.packetsPerSecond)
        guest.allowance = min(
            limits.packetBurst * 1000, guest.allowance + (earned.overflow ? 0 : earned.partialValue))
        guest.heardAt = now
        let isPoor = guest.allowance < 1000
        if !isPoor { guest.allowance -= 1000 }
        guests[address] = guest
        guard !isPoor, let room = rooms[guest.call] else { return .ignored }
        return .forward(room.values.filter { $0 != address })
    }

    /// Takes out who is silent, or whose ticket is over.
    mutating func sweep(at now: UInt64) {
        for (address, guest) in guests where now >= guest.end || now >= guest.heardAt + limits.silence {
            remove(address)
        }
    }

    private mutating func remove(_ address: Address) {
        guard let guest = guests.removeValue(forKey: address) else { return }
        rooms[guest.call]?[guest.device] = nil
        if rooms[guest.call]?.isEmpty == true { rooms[guest.call] = nil }
    }
}
