// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import NIOCore
import Testing

@testable import FrameRelay

/// Which devices may enter a room, and which packets are forwarded there. Addresses are numbers here.
struct RoomTests {
    private let tickets = TicketKey()

    private func rooms(_ change: (inout RelayLimits) -> Void = { _ in }) -> RelayRooms<UInt8> {
        var limits = RelayLimits()
        change(&limits)
        return RelayRooms(limits, tickets) { [$0] }
    }

    private func device(_ number: UInt8) throws -> CallDevice {
        try #require(CallDevice([UInt8](repeating: number, count: 32)))
    }

    private func call(_ number: UInt8) throws -> CallID { try #require(CallID([UInt8](repeating: number, count: 16))) }

    private func key(_ number: UInt8, in room: UInt8) throws -> RelayKey {
        try #require(RelayKey(tickets.sessionKey(of: try device(number), in: try call(room))))
    }

    private func ticket(
        _ number: UInt8, in room: UInt8, of account: Int64? = nil, end: UInt64 = 60_000
    ) throws -> [UInt8] {
        tickets.ticket(for: try device(number), of: account ?? Int64(number), in: try call(room), until: end)
    }

    private func hello(_ number: UInt8, in room: UInt8, end: UInt64 = 60_000) throws -> [UInt8] {
        try key(number, in: room).hello(cookie: 0, ticket: try ticket(number, in: room, end: end)).encoded
    }

    /// Sends two hellos, as a device does.
    ///
    /// - Returns: the stay; nil if the device was not let in.
    private func enter(
        _ rooms: inout RelayRooms<UInt8>, _ number: UInt8, in room: UInt8, of account: Int64? = nil,
        from address: UInt8, at now: UInt64 = 0
    ) throws -> UInt64? {
        let key = try key(number, in: room)
        let ticket = try ticket(number, in: room, of: account)
        let hello = key.hello(cookie: 0, ticket: ticket).encoded
        guard case .answer(.challenge(let cookie)) = rooms.receive(hello, from: address, at: now),
            case .answer(let answer) = rooms.receive(
                key.hello(cookie: cookie, ticket: ticket).encoded, from: address, at: now),
            case .welcome(let stay, _) = answer, key.made(answer, in: 0)
        else { return nil }
        return stay
    }

    private func frame(_ number: UInt8, in room: UInt8, _ stay: UInt64?) throws -> [UInt8] {
        try key(number, in: room).frame([1, 2, 3], try #require(stay)).encoded
    }

    /// The addresses to which a frame is forwarded.
    private func hearers(_ verdict: RelayRooms<UInt8>.Verdict) -> [UInt8]? {
        if case .forward(let packets) = verdict { packets.keys.sorted() } else { nil }
    }

    @Test func aFrameGoesToAllOthersInTheCallOnly() throws {
        var rooms = rooms()
        let stays = try (1...3 as ClosedRange<UInt8>).map { try enter(&rooms, $0, in: 7, from: $0) }
        let alone = try enter(&rooms, 4, in: 8, from: 4)
        guard case .forward(let packets) = rooms.receive(try frame(1, in: 7, stays[0]), from: 1, at: 1) else {
            Issue.record("not passed on")
            return
        }
        #expect(packets.keys.sorted() == [2, 3])
        // Each copy has the code of its receiver, and the alias of the device that was admitted.
        let alias = MemberAlias(of: try device(1), in: try call(7))
        for number in 2...3 as ClosedRange<UInt8> {
            let packet = try #require(packets[number])
            #expect(
                packet == (try key(number, in: 7).relayed([1, 2, 3], of: alias, try #require(stays[Int(number) - 1]))))
        }
        #expect(hearers(rooms.receive(try frame(4, in: 8, alone), from: 4, at: 1)) == [])
    }

    /// A packet sealed for one device goes to that device, with the alias of the sender that the relay admitted.
    @Test func aSealedPacketGoesToOneDeviceInTheCallOnly() throws {
        var rooms = rooms()
        let stays = try (1...3 as ClosedRange<UInt8>).map { try enter(&rooms, $0, in: 7, from: $0) }
        _ = try enter(&rooms, 4, in: 8, from: 4)
        let (key, stay) = (try key(1, in: 7), try #require(stays[0]))
        func send(_ number: UInt8, in room: UInt8) throws -> RelayRooms<UInt8>.Verdict {
            let alias = MemberAlias(of: try device(number), in: try call(room))
            return rooms.receive(key.sealed([5, 6], to: alias, stay).encoded, from: 1, at: 1)
        }
        let alias = MemberAlias(of: try device(1), in: try call(7))
        let passed = try self.key(3, in: 7).relayedSealed([5, 6], of: alias, try #require(stays[2]))
        let verdict = try send(3, in: 7)
        #expect(verdict == .forward([3: passed]))
        for (number, room) in [(4, 7), (4, 8), (1, 7)] as [(UInt8, UInt8)] {
            let verdict = try send(number, in: room)
            #expect(verdict == .ignored)
        }
    }

    @Test func aSealedPacketNeedsItsCode_andCountsForTheRate() throws {
        var rooms = rooms { ($0.packetBurst, $0.packetsPerSecond) = (2, 1) }
        let stay = try #require(try enter(&rooms, 1, in: 7, from: 1))
        let other = try #require(try enter(&rooms, 2, in: 7, from: 2))
        let alias = MemberAlias(of: try device(2), in: try call(7))
        let third = MemberAlias(of: try device(3), in: try call(7))
        let packet = try key(1, in: 7).sealed([5], to: alias, stay)
        guard case .sealed(_, let code, _) = packet else { return }
        for forged in [
            RelayPacket.sealed(to: alias, code: code ^ 1, [5]), .sealed(to: third, code: code, [5]),
            .sealed(to: alias, code: code, [6]), .frame(code: code, alias.bytes + [5]),
            try key(2, in: 7).sealed([5], to: alias, other),
        ] {
            #expect(rooms.receive(forged.encoded, from: 1, at: 0) == .ignored)
        }
        let verdicts = (0..<3).map { _ in hearers(rooms.receive(packet.encoded, from: 1, at: 0)) }
        #expect(verdicts == [[2], [2], nil])
    }

    /// A person who sees packets learns no key and no call: packets contain neither, and two tickets are different.
    @Test func noPacketNamesADeviceOrACall() throws {
        var rooms = rooms()
        let stay = try enter(&rooms, 1, in: 7, from: 1)
        let other = try enter(&rooms, 2, in: 7, from: 2)
        var seen = [
            try hello(1, in: 7), try frame(1, in: 7, stay), try key(1, in: 7).farewell(try #require(stay)).encoded,
        ]
        if case .forward(let packets) = rooms.receive(try frame(2, in: 7, other), from: 2, at: 1) {
            seen += packets.values.map(\.encoded)
        }
        #expect(seen.count == 4)
        for secret in [try device(1).signingKey, try device(2).signingKey, try call(7).bytes] {
            for packet in seen { #expect(packet.indices.allSatisfy { !packet[$0...].starts(with: secret.prefix(8)) }) }
        }
        let tickets = try (0..<2).map { _ in try ticket(1, in: 7) }
        #expect(tickets[0] != tickets[1])
    }

    /// A person who has seen the hello has the ticket, and not the key.
    @Test func hello_refusesATicketWithoutItsKey() throws {
        var rooms = rooms()
        let stay = try enter(&rooms, 1, in: 7, from: 1)
        let stolen = try ticket(1, in: 7)
        guard case .hello(_, let code, _) = RelayPacket(decoding: try hello(1, in: 7)) else { return }
        let cookie = tickets.cookie(for: [9])
        for code in [0, code] {
            let hello = RelayPacket.hello(cookie: cookie, code: code, ticket: stolen).encoded
            #expect(rooms.receive(hello, from: 9, at: 0) == .answer(.refused))
        }
        let foreign = try key(2, in: 7).hello(cookie: cookie, ticket: stolen).encoded
        #expect(rooms.receive(foreign, from: 9, at: 0) == .answer(.refused))
        #expect(hearers(rooms.receive(try frame(1, in: 7, stay), from: 1, at: 0)) == [])
    }

    @Test func aForgedAddressSendsNoFrameAndEndsNoStay() throws {
        var rooms = rooms()
        let stay = try enter(&rooms, 1, in: 7, from: 1)
        _ = try enter(&rooms, 2, in: 7, from: 2)
        #expect(rooms.receive(RelayPacket.frame(code: 5, [1]).encoded, from: 1, at: 0) == .ignored)
        #expect(rooms.receive(try frame(2, in: 7, stay), from: 1, at: 0) == .ignored)
        _ = rooms.receive(RelayPacket.farewell(code: 0).encoded, from: 1, at: 0)
        #expect(rooms.counts.devices == 2)
    }

    /// Packets of a device's earlier stay cannot be replayed in a later one.
    @Test func packetsOfAnEarlierStayAreIgnored() throws {
        var rooms = rooms()
        let first = try enter(&rooms, 1, in: 7, from: 1)
        let farewell = try key(1, in: 7).farewell(try #require(first)).encoded
        let frame = try frame(1, in: 7, first)
        _ = rooms.receive(farewell, from: 1, at: 0)
        #expect(rooms.counts.devices == 0)
        let second = try enter(&rooms, 1, in: 7, from: 1)
        #expect(second != first)
        #expect(rooms.receive(frame, from: 1, at: 1) == .ignored)
        _ = rooms.receive(farewell, from: 1, at: 1)
        #expect(rooms.counts.devices == 1)
    }

    @Test func aRepeatedHelloContinuesTheStay() throws {
        var rooms = rooms()
        let first = try enter(&rooms, 1, in: 7, from: 1)
        let again = try key(1, in: 7).hello(cookie: tickets.cookie(for: [1]), ticket: try ticket(1, in: 7)).encoded
        #expect(rooms.receive(again, from: 1, at: 9) == .answer(try key(1, in: 7).welcome(try #require(first))))
    }

    @Test func aDeviceThatLeftTheCallIsRemoved_andItsOldTicketsAreRefused() throws {
        var rooms = rooms { $0.ticketTime = 1000 }
        let old = try key(1, in: 7).hello(cookie: tickets.cookie(for: [1]), ticket: try ticket(1, in: 7, end: 1400))
            .encoded
        _ = try enter(&rooms, 1, in: 7, from: 1)
        rooms.end(RelayPlace(call: try call(7), device: try device(1)), at: 500)
        #expect(rooms.counts.devices == 0)
        #expect(rooms.receive(old, from: 1, at: 600) == .answer(.refused))
        let new = try key(1, in: 7).hello(cookie: tickets.cookie(for: [1]), ticket: try ticket(1, in: 7, end: 1501))
            .encoded
        #expect(rooms.receive(new, from: 1, at: 600) != .answer(.refused))
    }

    @Test func aFrameFromAnotherAddressIsIgnored() throws {
        var rooms = rooms()
        let stay = try enter(&rooms, 1, in: 7, from: 1)
        #expect(rooms.receive(try frame(1, in: 7, stay), from: 9, at: 0) == .ignored)
    }

    @Test func hello_refusesATicketOfAnotherServer() throws {
        var rooms = rooms()
        let other = TicketKey().ticket(for: try device(1), of: 1, in: try call(7), until: 60_000)
        let hello = try key(1, in: 7).hello(cookie: 0, ticket: other).encoded
        #expect(rooms.receive(hello, from: 1, at: 0) == .answer(.refused))
    }

    @Test func everyFlippedBitOfATicketIsRefused() throws {
        let ticket = try ticket(1, in: 7)
        func read(_ ticket: [UInt8]) -> RelayTicket? { tickets.read(ticket, at: 0, atMost: 60_000) }
        #expect(read(ticket)?.account == 1 && read(ticket)?.end == 60_000)
        for bit in 0..<ticket.count * 8 {
            var changed = ticket
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(read(changed) == nil)
        }
        #expect(read(ticket.dropLast()) == nil)
    }

    @Test func anExpiredTicketIsRefused_andItsFramesAreIgnored() throws {
        var rooms = rooms()
        #expect(rooms.receive(try hello(1, in: 7, end: 100), from: 1, at: 100) == .answer(.refused))
        let stay = try enter(&rooms, 1, in: 7, from: 1)
        #expect(rooms.receive(try frame(1, in: 7, stay), from: 1, at: 59_999) != .ignored)
        #expect(rooms.receive(try frame(1, in: 7, stay), from: 1, at: 60_000) == .ignored)
    }

    /// A client cannot have frames sent to an address at which it does not receive.
    @Test func hello_refusesTheCookieOfAnotherAddress() throws {
        var rooms = rooms()
        guard case .answer(.challenge(let cookie)) = rooms.receive(try hello(1, in: 7), from: 1, at: 0) else {
            Issue.record("no challenge")
            return
        }
        let hello = try key(1, in: 7).hello(cookie: cookie, ticket: try ticket(1, in: 7)).encoded
        #expect(rooms.receive(hello, from: 2, at: 0) == .answer(.challenge(tickets.cookie(for: [2]))))
        #expect(rooms.counts.devices == 0)
    }

    @Test func theAnswerIsShorterThanTheHello() throws {
        var rooms = rooms()
        let hello = try hello(1, in: 7)
        guard case .answer(let answer) = rooms.receive(hello, from: 1, at: 0) else { return }
        #expect(answer.encoded.count < hello.count)
    }

    @Test func aDeviceThatMovesReceivesAtItsNewAddressOnly() throws {
        var rooms = rooms()
        let old = try enter(&rooms, 1, in: 7, from: 1)
        let stay = try enter(&rooms, 2, in: 7, from: 2)
        let new = try enter(&rooms, 1, in: 7, from: 5)
        #expect(hearers(rooms.receive(try frame(2, in: 7, stay), from: 2, at: 0)) == [5])
        for stay in [old, new] { #expect(rooms.receive(try frame(1, in: 7, stay), from: 1, at: 0) == .ignored) }
    }

    @Test func aDeviceThatSaysFarewellOrIsSilentIsRemoved() throws {
        var rooms = rooms()
        let stays = try (1...3 as ClosedRange<UInt8>).map { try enter(&rooms, $0, in: 7, from: $0) }
        _ = rooms.receive(try key(2, in: 7).farewell(try #require(stays[1])).encoded, from: 2, at: 0)
        #expect(hearers(rooms.receive(try frame(1, in: 7, stays[0]), from: 1, at: 14_999)) == [3])
        rooms.sweep(at: 15_000)
        #expect(rooms.counts == (1, 1))
        rooms.sweep(at: 30_000)
        #expect(rooms.counts == (0, 0))
    }

    @Test func roomsAndDevicesInThemAreBounded() throws {
        var rooms = rooms { ($0.rooms, $0.devicesPerRoom) = (1, 2) }
        _ = try enter(&rooms, 1, in: 7, from: 1)
        #expect(try enter(&rooms, 2, in: 8, from: 2) == nil)
        #expect(try enter(&rooms, 2, in: 7, from: 2) != nil)
        #expect(try enter(&rooms, 3, in: 7, from: 3) == nil)
        #expect(try enter(&rooms, 2, in: 7, from: 4) != nil)
    }

    @Test func aRoomHasAPlaceForEachDeviceOfACall() throws {
        var rooms = rooms { _ in }
        for device in 1...UInt8(Roster.maximumPresentCount) {
            #expect(try enter(&rooms, device, in: 7, from: device) != nil)
        }
        #expect(try enter(&rooms, UInt8(Roster.maximumPresentCount) + 1, in: 7, from: 200) == nil)
    }

    @Test func anAccountIsInABoundedNumberOfRooms() throws {
        var rooms = rooms { $0.roomsPerAccount = 2 }
        for room in 1...2 as ClosedRange<UInt8> {
            #expect(try enter(&rooms, room, in: room, of: 40, from: room) != nil)
        }
        #expect(try enter(&rooms, 3, in: 3, of: 40, from: 3) == nil)
        // A further device enters a room where its account is already, and so does a device of another account.
        #expect(try enter(&rooms, 4, in: 2, of: 40, from: 4) != nil)
        #expect(try enter(&rooms, 3, in: 3, of: 41, from: 3) != nil)
        rooms.sweep(at: 60_000)
        #expect(rooms.roomCounts.isEmpty)
    }

    /// The attack: a person with several accounts takes every room.
    @Test func anAccountWithoutARoomTakesOneOfTheAccountWithTheMost() throws {
        var rooms = rooms { ($0.rooms, $0.roomsPerAccount) = (6, 3) }
        for room in 1...6 as ClosedRange<UInt8> {
            #expect(try enter(&rooms, room, in: room, of: room <= 3 ? 40 : 41, from: room, at: UInt64(room)) != nil)
        }
        #expect(try enter(&rooms, 50, in: 50, of: 50, from: 50, at: 9) != nil)
        #expect(try enter(&rooms, 51, in: 50, of: 51, from: 51, at: 9) != nil)
        #expect(rooms.counts == (6, 7))
        // The quietest room of the first account was ended. An account with as many rooms as others takes none from
        // them.
        #expect(try rooms.rooms[call(1)] == nil && rooms.rooms[call(4)] != nil)
        #expect(try enter(&rooms, 60, in: 60, of: 40, from: 60, at: 9) == nil)
    }

    @Test func aRoomWithOneDeviceIsEndedBeforeACall() throws {
        var rooms = rooms { ($0.rooms, $0.roomsPerAccount) = (3, 3) }
        for room in 1...2 as ClosedRange<UInt8> {
            _ = try enter(&rooms, room, in: room, of: 40, from: room)
            _ = try enter(&rooms, room + 10, in: room, of: 42, from: room + 10)
        }
        _ = try enter(&rooms, 3, in: 3, of: 40, from: 3, at: 5)
        #expect(try enter(&rooms, 50, in: 50, of: 50, from: 50, at: 9) != nil)
        #expect(try rooms.rooms[call(3)] == nil && rooms.rooms[call(1)] != nil)
    }

    @Test func packetsOverTheRateOfADeviceAreIgnored_alsoAfterANewHello() throws {
        var rooms = rooms { ($0.packetBurst, $0.packetsPerSecond) = (3, 10) }
        var frame = try frame(1, in: 7, try enter(&rooms, 1, in: 7, from: 1))
        let verdicts = (0..<4).map { _ in rooms.receive(frame, from: 1, at: 0) }
        #expect(verdicts == [.forward([:]), .forward([:]), .forward([:]), .ignored])
        frame = try self.frame(1, in: 7, try enter(&rooms, 1, in: 7, from: 2))
        #expect(rooms.receive(frame, from: 2, at: 50) == .ignored)
        #expect(rooms.receive(frame, from: 2, at: 100) == .forward([:]))
    }

    @Test func everyPacketReadsBack_andOtherBytesAreRefused() throws {
        let alias = try #require(MemberAlias([1, 2, 3, 4, 5, 6, 7, 8]))
        let packets: [RelayPacket] = [
            .hello(cookie: 0x0102_0304_0506_0708, code: 7, ticket: [9]), .challenge(.max), .welcome(stay: 1, code: 2),
            .frame(code: 3, [0]), .farewell(code: 4), .refused, .relayed(from: alias, code: 5, [0]),
            .sealed(to: alias, code: 6, [0]), .relayedSealed(from: alias, code: 7, [0]),
        ]
        for packet in packets { #expect(RelayPacket(decoding: packet.encoded) == packet) }
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let others: [[UInt8]] = [
            [], [0], [10], [20] + zeros(17), [18] + zeros(16), [18] + zeros(1400), [19] + zeros(16), [11] + zeros(16),
            [11] + zeros(145), [12] + zeros(7), [12] + zeros(9), [13] + zeros(8),
            [13] + zeros(17), [14] + zeros(8), [14] + zeros(1392), [15], [15] + zeros(9), [16, 0], [17] + zeros(16),
            [17] + zeros(1400), [4, 1], [1] + zeros(80),
        ]
        for bytes in others { #expect(RelayPacket(decoding: bytes) == nil) }
    }
}
