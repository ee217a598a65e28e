// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// How many rooms there are, and whose they are.
extension RelayRooms {
    /// Whether there is a place for a device; makes one at the expense of the account that takes more rooms.
    mutating func hasRoom(for ticket: RelayTicket) -> Bool {
        let room = rooms[ticket.place.call]
        guard room?.guests.count ?? 0 < limits.devicesPerRoom else { return false }
        let isOwnAlready = room?.accounts[ticket.account] != nil
        guard isOwnAlready || roomCounts[ticket.account, default: 0] < limits.roomsPerAccount else { return false }
        guard room == nil, rooms.count >= limits.rooms else { return true }
        return evict(for: ticket.account)
    }

    /// Evicts a room of the account with the most rooms: first one with a single occupant, then the quietest.
    private mutating func evict(for account: Int64) -> Bool {
        let own = roomCounts[account, default: 0]
        let lonely = rooms.filter { $0.value.guests.count == 1 }
        let candidates = lonely.isEmpty ? rooms : lonely
        let worst = candidates.max {
            (greed($0.value), $1.value.heardAt) < (greed($1.value), $0.value.heardAt)
        }
        guard let worst, greed(worst.value) > own + 1 else { return false }
        for address in worst.value.guests.values { remove(address) }
        return true
    }

    /// How many rooms the greediest of a room's accounts has.
    private func greed(_ room: Room) -> Int { room.accounts.keys.map { roomCounts[$0, default: 0] }.max() ?? 0 }

    mutating func insert(_ guest: Guest, at address: Address, _ now: UInt64) {
        guests[address] = guest
        let call = guest.place.call
        rooms[call, default: Room()].guests[guest.place.device] = address
        rooms[call]?.heardAt = now
        let count = rooms[call]?.accounts[guest.account] ?? 0
        rooms[call]?.accounts[guest.account] = count + 1
        if count == 0 { roomCounts[guest.account, default: 0] += 1 }
    }

    mutating func remove(_ address: Address) {
        guard let guest = guests.removeValue(forKey: address) else { return }
        let call = guest.place.call
        rooms[call]?.guests[guest.place.device] = nil
        let count = (rooms[call]?.accounts[guest.account] ?? 1) - 1
        rooms[call]?.accounts[guest.account] = count > 0 ? count : nil
        if count == 0 {
            let left = roomCounts[guest.account, default: 1] - 1
            roomCounts[guest.account] = left > 0 ? left : nil
        }
        if rooms[call]?.guests.isEmpty == true { rooms[call] = nil }
    }
}
