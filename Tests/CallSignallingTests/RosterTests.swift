// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallSignalling

struct RosterTests {
    @Test func everySuccessorHasATermOfItsOwn() throws {
        let roster = try Cast().roster
        let order: [UInt16] = [9, 0]
        #expect(roster.successors == order.compactMap { roster.device(at: $0) })
        #expect(roster.successors.map(roster.termOfSuccession) == [1 << 16 | 9, 1 << 16])
        #expect(roster.termOfSuccession(of: roster.host) == nil)
    }

    @Test func anUnsoundRosterIsRefused() throws {
        let cast = try Cast()
        let (a, b) = (cast.host.device, cast.member.device)
        func make(
            _ members: [(Int, CallDevice)], term: UInt32 = 1, number: UInt32 = 1, count: Int = 32,
            excluded: [CallDevice] = []
        ) -> Bool {
            let members = members.map { RosterMember(index: UInt16($0.0), device: $0.1) }
            return
                (try? Roster(
                    callID: cast.callID, term: term, number: number, previous: [UInt8](repeating: 0, count: count),
                    host: a, members: members, excluded: excluded)) != nil
        }
        #expect(make([(0, a), (1, b)]))
        #expect(!make([(0, b)]))
        #expect(!make([(1, a), (0, b)]))
        #expect(!make([(1, a), (1, b)]))
        #expect(!make([(0, a), (1, a)]))
        #expect(!make([(0, a)], term: 0))
        #expect(!make([(0, a)], number: 0))
        #expect(!make([(0, a)], count: 31))
        let (one, two) = (min(b, cast.other.device), max(b, cast.other.device))
        #expect(make([(0, a)], excluded: [one, two]))
        #expect(!make([(0, a)], excluded: [two, one]) && !make([(0, a)], excluded: [one, one]))
        #expect(!make([(0, a), (1, b)], excluded: [b]))
        let many = try (0...256).map { number in
            try #require(CallDevice([UInt8](repeating: 9, count: 30) + [UInt8(number >> 8), UInt8(number & 255)]))
        }
        #expect(make([(0, a)], excluded: many.dropLast()) && !make([(0, a)], excluded: many))
    }

    @Test func everyFieldIsPartOfTheHash() throws {
        let cast = try Cast()
        let roster = cast.roster
        let otherCall = try #require(CallID([UInt8](repeating: 1, count: 16)))
        let zeros = [UInt8](repeating: 0, count: 32)
        let variants = try [
            Roster(
                callID: otherCall, term: 2, number: 4, previous: roster.previous, host: roster.host,
                members: roster.members),
            Roster(
                callID: cast.callID, term: 3, number: 4, previous: roster.previous, host: roster.host,
                members: roster.members),
            Roster(
                callID: cast.callID, term: 2, number: 5, previous: roster.previous, host: roster.host,
                members: roster.members),
            Roster(
                callID: cast.callID, term: 2, number: 4, previous: zeros, host: roster.host, members: roster.members),
            Roster(
                callID: cast.callID, term: 2, number: 4, previous: roster.previous, host: cast.member.device,
                members: roster.members),
            Roster(
                callID: cast.callID, term: 2, number: 4, previous: roster.previous, host: roster.host,
                members: roster.members.dropLast()),
            Roster(
                callID: cast.callID, term: 2, number: 4, previous: roster.previous, host: roster.host,
                members: roster.members, excluded: []),
        ]
        #expect(Set(variants.map(\.hash) + [roster.hash]).count == 8)
    }
}
