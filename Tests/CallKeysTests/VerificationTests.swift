import CallSignalling
import Crypto
import Testing

@testable import CallKeys

/// The digits that people read to each other.
struct VerificationTests {
    @Test func everybodySeesTheSameThirtyDigits_andOthersAfterARotation() throws {
        let room = try Room(3)
        let codes = room.people.map(\.verificationCode)
        let code = try #require(codes[0])
        #expect(codes.allSatisfy { $0 == code } && code.count == 30 && code.allSatisfy { (48...57).contains($0) })
        room.step(0, .suspect)
        let later = room.people.map(\.verificationCode)
        #expect(later.allSatisfy { $0 == later[0] } && later[0] != code)
    }

    @Test func withoutAKeyThereAreNone() throws {
        let room = try Room(2)
        room.step(1, .leave)
        #expect(room.people[1].verificationCode == nil)
    }

    /// Whoever is told of other members sees other digits.
    @Test func theRosterCounts() throws {
        let room = try Room(2)
        let secret = try #require(GroupSecret(.init(size: .bits256)))
        let scope = CallScope(callID: room.people[0].callID, term: 1, generation: 1)
        let one = secret.verificationCode(step: 0, in: scope, rosterHash: [UInt8](repeating: 1, count: 32))
        #expect(one != secret.verificationCode(step: 0, in: scope, rosterHash: [UInt8](repeating: 2, count: 32)))
        #expect(one != secret.verificationCode(step: 1, in: scope, rosterHash: [UInt8](repeating: 1, count: 32)))
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
