// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import Testing

@testable import CallKeys

/// The digits that people read to each other.
struct VerificationTests {
    @Test func allMembersSeeTheSameThirtyDigits_longEnoughToReadThemAloud() throws {
        let room = try Room(3)
        let codes = room.people.map(\.code)
        let code = try #require(codes[0])
        #expect(codes.allSatisfy { $0 == code } && code.count == 30 && code.allSatisfy { (48...57).contains($0) })
        for change: CallEvent in [.suspect, .tick] {
            room.step(0, change)
            room.wait(31_000)
            #expect(room.people.map(\.code) == codes)
        }
        #expect(room.people[0].sending != nil && room.people[0].sending?.generation != 1)
    }

    @Test func joinsLeavesAndAnotherHostChangeTheDigits() throws {
        let room = try Room(3)
        var seen = [try #require(room.people[0].code)]
        room.step(2, .leave)
        room.wait(3000)
        seen.append(try #require(room.people[0].code))
        room.step(0, .leave)
        room.wait(9000)
        seen.append(try #require(room.people[1].code))
        #expect(Set(seen).count == 3)
    }

    @Test func noDigitsWithoutAKeyOrWithAnUnknownIdentity() throws {
        let room = try Room(2)
        #expect(room.people[0].verificationCode { $0 == room.people[1].device ? nil : [1] } == nil)
        room.step(1, .leave)
        #expect(room.people[1].code == nil)
    }

    /// As Python's hashlib computes it from the specification.
    @Test func theDigitsAreThoseOfTheSpecification() throws {
        let devices = try [0, 1].map(Room.device)
        let identities: [CallDevice: [UInt8]] = [
            devices[0]: [2] + [UInt8](repeating: 7, count: 32), devices[1]: [3] + [UInt8](repeating: 8, count: 32),
        ]
        let call = try #require(Room.call)
        let digits = CallCode.digits(of: call, term: Roster.firstTerm, identities: identities)
        #expect(String(decoding: digits, as: UTF8.self) == "969112035605044291831950895473")
    }

    /// Another identity, another device, another term, another call, one more person: other digits.
    @Test func theDigitsDependOnEveryInput() throws {
        let call = try #require(Room.call)
        let devices = try (0..<3).map(Room.device)
        let key = [UInt8](repeating: 7, count: 33)
        let other = [UInt8](repeating: 8, count: 33)
        let all = [
            CallCode.digits(of: call, term: 1, identities: [devices[0]: key, devices[1]: key]),
            CallCode.digits(of: call, term: 1, identities: [devices[0]: key, devices[1]: other]),
            CallCode.digits(of: call, term: 1, identities: [devices[0]: key, devices[2]: key]),
            CallCode.digits(of: call, term: 2, identities: [devices[0]: key, devices[1]: key]),
            CallCode.digits(of: call, term: 1, identities: [devices[0]: key, devices[1]: key, devices[2]: key]),
            CallCode.digits(
                of: try #require(CallID([UInt8](repeating: 9, count: 16))), term: 1,
                identities: [devices[0]: key, devices[1]: key]),
        ]
        #expect(Set(all).count == all.count)
    }

    @Test func framesOfAGenerationBeforeAJoinAreNotForTheJoiner_andOfOneAfterItExpire() throws {
        let room = try Room(2)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(2), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        let early = try room.people[0].seal([9], .audio)
        room.step(0, .suspect)
        room.join(2)
        let late = try room.people[0].seal([9], .audio)
        #expect(!room.hand(early, to: 2))
        #expect(room.dropped(2) == [.notEntitled])
        room.step(0, .suspect)
        room.wait(130_000)
        room.clearLog()
        #expect(!room.hand(late, to: 2))
        #expect(room.dropped(2) == [.expired])
    }
}

extension CallParticipant {
    /// The digits, where everybody has another identity.
    var code: [UInt8]? { verificationCode { [UInt8](repeating: $0.signingKey[0], count: 33) } }
}
