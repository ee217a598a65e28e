// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// What a call does when nothing goes wrong.
struct CallTests {
    @Test func allMembersHearEachOther() throws {
        let room = try Room(4)
        #expect(room.people.allSatisfy { $0.isMember })
        for sender in 0..<4 {
            for receiver in 0..<4 where receiver != sender {
                for context in MediaContext.allCases { #expect(try room.frame(sender, receiver, context)) }
            }
        }
    }

    @Test func withoutAKeyNothingIsSealed() throws {
        let room = try Room(1)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(1), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        #expect(throws: CallSealError.noKey) { try room.people[1].seal([1], .audio) }
        room.isLost = { draft, _ in draft.body.isReply }
        room.join(1)
        #expect(throws: CallSealError.noKey) { try room.people[1].seal([1], .audio) }
        room.isLost = { _, _ in false }
        room.wait(1100)
        #expect(try room.frame(1, 0))
        room.step(1, .leave)
        #expect(throws: CallSealError.noKey) { try room.people[1].seal([1], .audio) }
        #expect(room.people[1].ring.generations.isEmpty)
    }

    @Test func aJoinCostsOneWrapAndOneBroadcast_andCannotReadBack() throws {
        let room = try Room(3)
        let early = try room.people[0].seal([9], .audio)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(3), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.clearLog()
        room.join(3)
        #expect(room.sent.flatMap { $0.draft.keys }.count == 1)
        #expect(
            room.bodies { $0.isRoster } == 1 && room.bodies { $0.isReply } == 1 && room.bodies { $0.isRotation } == 0)
        #expect(!room.hand(early, to: 3))
        #expect(room.dropped(3) == [.notEntitled])
        #expect(room.hand(early, to: 1))
        for other in 0..<3 {
            #expect(try room.frame(3, other))
            #expect(try room.frame(other, 3))
        }
    }

    @Test func aLeaveCostsOneBroadcast_andTheLeaverReadsNothingMore() throws {
        let room = try Room(3)
        var ghost = room.people[2]
        room.step(2, .leave)
        room.clearLog()
        room.wait(250, without: [2])
        #expect(room.bodies { $0.isRotation } == 1 && room.bodies { $0.isCommit } == 1)
        #expect(room.sent.flatMap { $0.draft.keys }.map { $0.recipient } == [room.people[1].device])
        #expect(try room.frame(0, 1) && room.frame(1, 0))
        let frame = try room.people[1].seal([1], .audio)
        for case .play in ghost.handle(.frame(frame), at: room.now) { Issue.record("the leaver read") }
        #expect(room.people[0].roster?.members.count == 2)
    }

    @Test func aRotationDuringALeaveIsNoSlowerThanTheLeave() throws {
        let room = try Room(4)
        room.step(3, .leave)
        room.isLost = { draft, to in to == 2 && draft.recipient == nil || draft.body.isCommit }
        room.step(0, .suspect)
        #expect(room.people[1].roster?.members.count == 3)
        room.wait(600, without: [3])
        room.step(0, .suspect)
        room.wait(150, without: [3])
        #expect((room.people[1].sending?.generation ?? 0) > 1)
    }

    @Test func aTimedTurnIsTheHosts_andItsSignOfLifeTakesTheOthersAlong() throws {
        let room = try Room(3, times: Self.patient)
        let before = try #require(room.people[1].sending)
        room.now += 33_000
        room.clearLog()
        room.step(1, .tick)
        #expect(room.people[1].sending == before)
        room.step(0, .tick)
        #expect(room.people.allSatisfy { $0.sending?.step == before.step + 1 })
        #expect(room.sent.allSatisfy { $0.draft.body.isHeartbeat })
        #expect(try room.frame(1, 0) && room.frame(2, 0) && room.frame(0, 2))
    }

    private static let patient: CallTimes = {
        var times = CallTimes()
        (times.hostPatience, times.lonelyPatience) = (1 << 40, 1 << 40)
        return times
    }()

    @Test func freshRandomnessComesEveryFiveMinutes() throws {
        let room = try Room(2)
        let before = try #require(room.people[1].sending)
        room.wait(300_100)
        let after = try #require(room.people[1].sending)
        #expect(after.generation == before.generation + 1 && after.step == 0)
        #expect(try room.frame(0, 1) && room.frame(1, 0))
    }

    @Test func aHundredJoinsFindAPlace() throws {
        let room = try Room(40)
        #expect(room.people.allSatisfy { $0.isMember })
        room.wait(2500)
        #expect(try room.frame(39, 1) && room.frame(1, 39) && room.frame(0, 39))
        #expect(Set(room.people.map { $0.sending }).count == 1)
    }

    @Test func aCallHas64Devices_ofWhomEachMayComeBack() throws {
        let room = try Room(64)
        #expect(room.people.allSatisfy { $0.isMember })
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(64), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.join(64)
        #expect(!room.people[64].isMember && room.refusals(0) == [.callFull])
        room.people[63] = CallParticipant(
            callID: room.people[0].callID, device: room.people[63].device, generator: SystemRandomNumberGenerator())
        room.now += 1000
        room.join(63)
        #expect(room.people[63].isMember)
        room.step(5, .leave)
        room.wait(2000, without: [5])
        #expect(room.people[64].isMember)
    }

    @Test func aDeviceThatComesBackWithNothingGetsFreshRandomness() throws {
        let room = try Room(3)
        let before = try #require(room.people[0].sending)
        room.people[2] = CallParticipant(
            callID: room.people[0].callID, device: room.people[2].device, generator: SystemRandomNumberGenerator())
        room.now += 1000
        room.join(2)
        room.wait(100)
        #expect((room.people[0].sending?.generation ?? 0) > before.generation)
        #expect(try room.frame(2, 0) && room.frame(2, 1) && room.frame(0, 2))
    }

    @Test func aHostThatLeavesIsFollowedAtOnce() throws {
        let room = try Room(3)
        room.step(0, .leave)
        #expect(room.people[1].isHost && room.people[1].roster?.term == 2 << 16 | 1)
        room.wait(100, without: [0])
        #expect(try room.frame(1, 2) && room.frame(2, 1))
        #expect(room.people[2].roster?.contains(room.people[0].device) == false)
    }

    @Test func aHostThatFallsSilentIsFollowedAfterSixSeconds() throws {
        let room = try Room(4)
        room.wait(4000)
        room.wait(3400, without: [0])
        #expect(room.people.dropFirst().allSatisfy { !$0.isHost })
        #expect(try room.frame(1, 2))
        room.wait(2200, without: [0])
        #expect(room.people[1].isHost && !room.people[2].isHost)
        #expect(try room.frame(1, 2) && room.frame(2, 3) && room.frame(3, 1))
    }

    @Test func theSecondSuccessorFollowsWhenTheFirstIsGoneToo() throws {
        let room = try Room(4)
        room.isLost = { _, to in to < 2 }
        room.wait(9500, without: [0, 1])
        #expect(room.people[2].isHost && room.people[2].roster?.term == 2 << 16 | 2)
        #expect(try room.frame(2, 3) && room.frame(3, 2))
    }

    @Test func bothSidesOfAPartitionMeetAgain() throws {
        let room = try Room(5)
        room.wait(3000)
        room.isLost = { draft, to in false }
        let (left, right) = (try room.copy(), try room.copy())
        left.isLost = { _, to in to >= 3 }
        right.isLost = { _, to in to < 3 }
        left.wait(26_000, without: [3, 4])
        right.wait(26_000, without: [0, 1, 2])
        #expect(left.people[0].isHost && right.people[3].isHost)
        room.now = max(left.now, right.now)
        room.people = Array(left.people[..<3] + right.people[3...])
        room.wait(15_000)
        #expect(room.people.count { $0.isHost } == 1)
        #expect(Set(room.people.map { $0.roster?.hash }).count == 1)
        #expect(try room.frame(0, 4) && room.frame(4, 0) && room.frame(3, 1))
    }
}
