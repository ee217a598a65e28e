import CallSignalling
import NIOCore
import Testing

@testable import FrameRelay

/// Who comes into a room, and what is passed on there. Addresses are numbers here.
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

    private func hello(_ number: UInt8, in room: UInt8, end: UInt64 = 60_000) throws -> [UInt8] {
        let ticket = tickets.ticket(for: try device(number), in: try call(room), until: end)
        return RelayPacket.hello(cookie: 0, ticket: ticket).encoded
    }

    /// Says hello twice, as a device does.
    private func enter(
        _ rooms: inout RelayRooms<UInt8>, _ number: UInt8, in room: UInt8, from address: UInt8, at now: UInt64 = 0
    ) throws -> RelayRooms<UInt8>.Verdict {
        let hello = try hello(number, in: room)
        guard case .answer(.challenge(let cookie)) = rooms.receive(hello, from: address, at: now),
            case .hello(_, let ticket) = RelayPacket(decoding: hello)
        else { return .ignored }
        return rooms.receive(RelayPacket.hello(cookie: cookie, ticket: ticket).encoded, from: address, at: now)
    }

    private let frame = RelayPacket.frame([1, 2, 3]).encoded

    @Test func aFrameGoesToAllOthersInTheCall_andToNobodyElse() throws {
        var rooms = rooms()
        for number in 1...3 as ClosedRange<UInt8> {
            #expect(try enter(&rooms, number, in: 7, from: number) == .answer(.welcome))
        }
        #expect(try enter(&rooms, 4, in: 8, from: 4) == .answer(.welcome))
        guard case .forward(let others) = rooms.receive(frame, from: 1, at: 1) else {
            Issue.record("not passed on")
            return
        }
        #expect(others.sorted() == [2, 3])
        #expect(rooms.receive(frame, from: 4, at: 1) == .forward([]))
    }

    @Test func aStrangersFrameGoesNowhere() throws {
        var rooms = rooms()
        _ = try enter(&rooms, 1, in: 7, from: 1)
        #expect(rooms.receive(frame, from: 9, at: 0) == .ignored)
    }

    @Test func aTicketOfAnotherKeyIsRefused() throws {
        var rooms = rooms()
        let other = TicketKey().ticket(for: try device(1), in: try call(7), until: 60_000)
        let hello = RelayPacket.hello(cookie: 0, ticket: other).encoded
        #expect(rooms.receive(hello, from: 1, at: 0) == .answer(.refused))
    }

    @Test func everyBitOfATicketCounts() throws {
        let ticket = tickets.ticket(for: try device(1), in: try call(7), until: 60_000)
        #expect(tickets.read(ticket) != nil)
        for bit in 0..<ticket.count * 8 {
            var changed = ticket
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(tickets.read(changed) == nil)
        }
        #expect(tickets.read(ticket.dropLast()) == nil)
    }

    @Test func aTicketThatIsOverIsRefused_andPassesNothingOn() throws {
        var rooms = rooms()
        #expect(rooms.receive(try hello(1, in: 7, end: 100), from: 1, at: 100) == .answer(.refused))
        _ = try enter(&rooms, 1, in: 7, from: 1)
        #expect(rooms.receive(frame, from: 1, at: 59_999) != .ignored)
        #expect(rooms.receive(frame, from: 1, at: 60_000) == .ignored)
    }

    /// Nobody can have frames sent to an address at which they do not receive.
    @Test func withoutTheCookieOfItsAddressNobodyComesIn() throws {
        var rooms = rooms()
        guard case .answer(.challenge(let cookie)) = rooms.receive(try hello(1, in: 7), from: 1, at: 0),
            case .hello(_, let ticket) = RelayPacket(decoding: try hello(1, in: 7))
        else {
            Issue.record("no challenge")
            return
        }
        let stolen = rooms.receive(RelayPacket.hello(cookie: cookie, ticket: ticket).encoded, from: 2, at: 0)
        #expect(stolen != .answer(.welcome) && rooms.counts.devices == 0)
    }

    @Test func noAnswerIsLongerThanWhatAskedForIt() throws {
        var rooms = rooms()
        let hello = try hello(1, in: 7)
        guard case .answer(let answer) = rooms.receive(hello, from: 1, at: 0) else { return }
        #expect(answer.encoded.count < hello.count)
    }

    @Test func aDeviceThatMovesIsAtItsNewAddressOnly() throws {
        var rooms = rooms()
        _ = try enter(&rooms, 1, in: 7, from: 1)
        _ = try enter(&rooms, 2, in: 7, from: 2)
        _ = try enter(&rooms, 1, in: 7, from: 5)
        #expect(rooms.receive(frame, from: 2, at: 0) == .forward([5]))
        #expect(rooms.receive(frame, from: 1, at: 0) == .ignored)
    }

    @Test func whoSaysFarewellOrIsSilentIsOut() throws {
        var rooms = rooms()
        for number in 1...3 as ClosedRange<UInt8> { _ = try enter(&rooms, number, in: 7, from: number) }
        _ = rooms.receive(RelayPacket.farewell.encoded, from: 2, at: 0)
        #expect(rooms.receive(frame, from: 1, at: 14_999) == .forward([3]))
        rooms.sweep(at: 15_000)
        #expect(rooms.counts == (1, 1))
        rooms.sweep(at: 30_000)
        #expect(rooms.counts == (0, 0))
    }

    @Test func roomsAndPlacesInThemAreBounded() throws {
        var rooms = rooms { ($0.rooms, $0.devicesPerRoom) = (1, 2) }
        _ = try enter(&rooms, 1, in: 7, from: 1)
        #expect(try enter(&rooms, 2, in: 8, from: 2) == .answer(.refused))
        #expect(try enter(&rooms, 2, in: 7, from: 2) == .answer(.welcome))
        #expect(try enter(&rooms, 3, in: 7, from: 3) == .answer(.refused))
        #expect(try enter(&rooms, 2, in: 7, from: 4) == .answer(.welcome))
    }

    @Test func aDeviceThatSendsTooMuchIsHeardLess_alsoAfterANewHello() throws {
        var rooms = rooms { ($0.packetBurst, $0.packetsPerSecond) = (3, 10) }
        _ = try enter(&rooms, 1, in: 7, from: 1)
        let verdicts = (0..<4).map { _ in rooms.receive(frame, from: 1, at: 0) }
        #expect(verdicts == [.forward([]), .forward([]), .forward([]), .ignored])
        _ = try enter(&rooms, 1, in: 7, from: 1)
        #expect(rooms.receive(frame, from: 1, at: 50) == .ignored)
        #expect(rooms.receive(frame, from: 1, at: 100) == .forward([]))
    }

    @Test func everyPacketReadsBack_andNoOther() {
        let packets: [RelayPacket] = [
            .hello(cookie: 0x0102_0304_0506_0708, ticket: [9]), .challenge(.max), .welcome, .frame([0]), .farewell,
            .refused,
        ]
        for packet in packets { #expect(RelayPacket(decoding: packet.encoded) == packet) }
        let others: [[UInt8]] = [
            [], [0], [7], [1] + [UInt8](repeating: 0, count: 8), [1] + [UInt8](repeating: 0, count: 137),
            [2, 0], [3, 0], [4], [5, 0], [6, 0], [4] + [UInt8](repeating: 0, count: 1400),
        ]
        for bytes in others { #expect(RelayPacket(decoding: bytes) == nil) }
    }

    @Test func aBadNetworkIsAsBadAsItIsTold_andTheSameForTheSameSeed() {
        var network = BadNetwork(loss: 0.05, latency: 20, jitter: 60, seed: 3)
        var again = network
        let delays = (0..<10_000).map { _ in network.nextDelay() }
        #expect(delays == (0..<10_000).map { _ in again.nextDelay() })
        let lost = delays.count { $0 == nil }
        #expect((400...600).contains(lost))
        #expect(delays.compactMap(\.self).allSatisfy { $0 >= .milliseconds(20) && $0 <= .milliseconds(80) })
    }
}
