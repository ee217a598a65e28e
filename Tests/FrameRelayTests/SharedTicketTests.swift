// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import Synchronization
import Testing

@testable import FrameRelay

/// Relays of several front ends, which accept each other's tickets. Their clocks since the start have nothing in common.
struct SharedTicketTests {
    private let current = SymmetricKey(size: .bits256)
    private let next = SymmetricKey(size: .bits256)
    private let date = Date(1_800_000_000_000)

    private final class Date: Sendable {
        private let time: Mutex<UInt64>
        init(_ time: UInt64) { self.time = Mutex(time) }
        var now: UInt64 { time.withLock { $0 } }
        func pass(_ milliseconds: UInt64) { time.withLock { $0 += milliseconds } }
    }

    private func tickets(_ sealing: SymmetricKey, accepting: [SymmetricKey], ahead: UInt64 = 0) -> TicketKey {
        TicketKey(SharedTickets(sealing: sealing, accepted: { accepting }) { [date] in date.now + ahead })
    }

    private func device() throws -> CallDevice { try #require(CallDevice([UInt8](repeating: 1, count: 32))) }

    private func call() throws -> CallID { try #require(CallID([UInt8](repeating: 7, count: 16))) }

    private func rooms(_ tickets: TicketKey) -> RelayRooms<UInt8> { RelayRooms(RelayLimits(), tickets) { [$0] } }

    private func ticket(_ tickets: TicketKey, goodFor time: UInt64 = RelayLimits().ticketTime) throws -> [UInt8] {
        tickets.ticket(for: try device(), of: 1, in: try call(), until: tickets.time(at: 0) + time)
    }

    /// Whether a device that got its ticket and key at one front end is let in by a relay.
    private func enters(
        _ rooms: inout RelayRooms<UInt8>, _ ticket: [UInt8], of issuer: TicketKey, at now: UInt64
    ) throws -> Bool {
        try stay(in: &rooms, ticket, of: issuer, at: now) != nil
    }

    private func stay(
        in rooms: inout RelayRooms<UInt8>, _ ticket: [UInt8], of issuer: TicketKey, at now: UInt64
    ) throws -> UInt64? {
        let key = try #require(RelayKey(issuer.sessionKey(of: try device(), in: try call())))
        let first = rooms.receive(key.hello(cookie: 0, ticket: ticket).encoded, from: 1, at: now)
        guard case .answer(.challenge(let cookie)) = first else { return nil }
        let second = rooms.receive(key.hello(cookie: cookie, ticket: ticket).encoded, from: 1, at: now)
        guard case .answer(let answer) = second, case .welcome(let stay, _) = answer, key.made(answer, in: 0) else {
            return nil
        }
        return stay
    }

    @Test func aTicketOfOneFrontEndLetsItsDeviceIntoTheRelayOfAnother() throws {
        let (one, other) = (tickets(current, accepting: [current]), tickets(current, accepting: [current]))
        var rooms = rooms(other)
        #expect(try enters(&rooms, try ticket(one), of: one, at: 5))
    }

    /// The mishap.
    @Test func withoutASharedKeyItDoesNot() throws {
        let one = TicketKey()
        var rooms = rooms(TicketKey())
        let ticket = one.ticket(for: try device(), of: 1, in: try call(), until: 60_000)
        #expect(try !enters(&rooms, ticket, of: one, at: 5))
    }

    /// While a secret is changed, each of two front ends makes tickets under another one, and both accept both.
    @Test func ticketsOfBothSecretsAreAcceptedWhileTheyChange() throws {
        let (old, new) = (tickets(current, accepting: [current, next]), tickets(next, accepting: [next, current]))
        for (issuer, relay) in [(old, new), (new, old)] {
            var rooms = rooms(relay)
            #expect(try enters(&rooms, try ticket(issuer), of: issuer, at: 5))
        }
        var strict = rooms(tickets(next, accepting: [next]))
        #expect(try !enters(&strict, try ticket(old), of: old, at: 5))
    }

    /// Devices are in a call while the secret changes, and each comes by a ticket of the next one. The attack: who has seen a hello of before
    /// repeats it.
    @Test func whoIsInGoesOnUnderTheNextSecret_alsoIfAnEarlierHelloIsRepeated() throws {
        let (old, new) = (tickets(current, accepting: [current, next]), tickets(next, accepting: [next, current]))
        var rooms = rooms(old)
        let first = try ticket(old)
        let stay = try #require(try stay(in: &rooms, first, of: old, at: 5))
        date.pass(60_000)
        #expect(try self.stay(in: &rooms, try ticket(new), of: new, at: 60_005) == stay)
        let key = try #require(RelayKey(new.sessionKey(of: try device(), in: try call())))
        let frame = key.frame([1, 2, 3], stay).encoded
        #expect(rooms.receive(frame, from: 1, at: 60_006) == .forward([:]))
        // The answer is under the key that the relay goes by.
        #expect(try self.stay(in: &rooms, first, of: old, at: 60_007) == nil)
        #expect(rooms.receive(frame, from: 1, at: 60_008) == .forward([:]))
    }

    @Test func aTicketEndsByTheDateAtAnyUptime() throws {
        let issuer = tickets(current, accepting: [current])
        let made = try ticket(issuer)
        date.pass(RelayLimits().ticketTime - 1)
        for (uptime, passed) in [(5, 0), (9_000_000, 1)] as [(UInt64, UInt64)] {
            date.pass(passed)
            var rooms = rooms(issuer)
            #expect(try enters(&rooms, made, of: issuer, at: uptime) == (passed == 0))
        }
    }

    /// A front end whose clock is an hour ahead gives no device an hour.
    @Test func noTicketIsGoodForLongerThanTicketsAre() throws {
        let issuer = tickets(current, accepting: [current], ahead: 3_600_000)
        let relay = tickets(current, accepting: [current])
        let end = relay.read(try ticket(issuer), at: 5, atMost: RelayLimits().ticketTime)?.end
        #expect(end == 5 + RelayLimits().ticketTime)
    }

    /// The attack: a device that was taken out of a call comes back with a ticket that a front end with a faster clock had made before.
    @Test func aTicketFromBeforeItsDeviceLeftIsRefused_alsoByAnotherClock() throws {
        let issuer = tickets(current, accepting: [current], ahead: 4000)
        let relay = tickets(current, accepting: [current])
        var rooms = rooms(relay)
        let made = try ticket(issuer)
        #expect(try enters(&rooms, made, of: issuer, at: 5))
        date.pass(1000)
        rooms.end(RelayPlace(call: try call(), device: try device()), at: 1005)
        #expect(try !enters(&rooms, made, of: issuer, at: 1006))
        date.pass(10_000)
        #expect(try enters(&rooms, try ticket(issuer), of: issuer, at: 11_006))
    }

    /// The attack: a hello that was seen at one relay is sent to another, from the same address.
    @Test func aCookieOfOneRelayIsWorthNothingAtAnother() {
        let (one, other) = (tickets(current, accepting: [current]), tickets(current, accepting: [current]))
        #expect(one.cookie(for: [1]) != other.cookie(for: [1]))
        #expect(one.cookie(for: [1]) == one.cookie(for: [1]))
    }
}
