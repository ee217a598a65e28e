// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// What a member that knows of a leave does when not all of its signals came.
struct DepartureTests {
    /// Three in the room; the third leaves, and the second gets of the rotation only what a test hands to it.
    private func roomAfterALeave() throws -> (room: Room, rotation: SignalDraft) {
        let room = try Room(3)
        room.isLost = { draft, to in
            to == 1 && (draft.body.isRotation || draft.body.isReply || draft.body.isCommit)
        }
        room.step(2, .leave)
        room.wait(250, without: [2])
        let rotation = try #require(room.sent.first { $0.draft.body.isRotation }).draft
        return (room, rotation)
    }

    @Test func aMemberWithoutTheNewSecretFallsSilentUntilItArrives() throws {
        let (room, rotation) = try roomAfterALeave()
        let bare = OpenedSignal(
            sender: room.people[0].device, sequence: rotation.sequence, body: rotation.body, keys: [])
        room.step(1, .signal(bare))
        room.wait(600, without: [2])
        #expect(throws: Never.self) { try room.people[1].seal([1], .audio) }
        room.wait(150, without: [2])
        #expect(throws: CallSealError.noKey) { try room.people[1].seal([1], .audio) }
        room.isLost = { _, _ in false }
        room.wait(4000, without: [2])
        #expect(try room.frame(1, 0))
    }

    @Test func aLaterRotationForAnotherReasonDoesNotProlongTheWait() throws {
        let (room, _) = try roomAfterALeave()
        room.isLost = { draft, _ in draft.body.isCommit }
        room.step(0, .suspect)
        room.wait(750, without: [2])
        #expect(room.people[1].roster?.members.count == 2 && room.people[1].sending?.generation == 1)
        room.wait(700, without: [2])
        #expect(room.people[1].sending?.generation == 3)
    }

    @Test func anAnswerDoesNotProlongTheWaitForACommit() throws {
        let room = try Room(2)
        room.isLost = { draft, _ in draft.body.isCommit || draft.body.isHeartbeat }
        room.step(0, .suspect)
        room.wait(500, without: [0])
        let since = try #require(room.people[1].pending).deadline
        let newer = OfferedKey(
            recipient: room.people[1].device, epoch: Epoch(term: Roster.firstTerm, generation: 3, step: 0),
            secret: GroupSecret(using: &room.people[1].generator))
        room.people[1].install(
            newer.epoch, newer.secret, try #require(room.people[1].roster), isProven: true, at: room.now)
        room.people[1].awaitCommit(of: [newer], at: since - 100)
        #expect(room.people[1].pending?.epoch.generation == 3)
        #expect(room.people[1].pending?.deadline == since)
    }

    @Test func aJoinTakesAMemberAlongThatStillWaits() throws {
        let room = try Room(2)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(2), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.isLost = { draft, to in to == 1 && draft.body.isCommit }
        room.step(0, .suspect)
        #expect(room.people[0].sending?.generation == 2 && room.people[1].sending?.generation == 1)
        room.join(2)
        #expect(room.people[1].sending == room.people[0].sending)
        #expect(try room.frame(1, 2))
    }
}
