// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// A step may have been made for somebody who was let in: it is used by whoever knows of them, and by nobody else.
struct StepTests {
    /// Three in the room, of whom the second hears no signal any more, and a fourth who was let in since.
    private func roomWithAMemberThatHeardNothing() throws -> Room {
        let room = try Room(3)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(3), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.isLost = { _, to in to == 1 }
        room.join(3)
        return room
    }

    @Test func aMemberThatHasNotHeardOfAJoinerSendsItNothing() throws {
        let room = try roomWithAMemberThatHeardNothing()
        let before = try #require(room.people[1].sending)
        #expect(try room.frame(0, 1) && room.frame(2, 1))
        #expect(room.people[1].sending == before)
        #expect(try room.frame(1, 0) && room.frame(1, 2))
        #expect(try !room.frame(1, 3))
    }

    /// The joiner is gone again before the second device has heard that it ever came.
    @Test func aDeviceThatCameAndLeftUnheardReadsNothing() throws {
        let room = try roomWithAMemberThatHeardNothing()
        var ghost = room.people[3]
        #expect(try room.frame(0, 1))
        room.step(3, .leave)
        let frame = try room.people[1].seal([1], .audio)
        for case .play in ghost.handle(.frame(frame), at: room.now) { Issue.record("the leaver read") }
    }

    @Test func theHostsSignOfLifeWithAnotherRosterTurnsNothing() throws {
        let room = try roomWithAMemberThatHeardNothing()
        let before = try #require(room.people[1].sending)
        room.isLost = { draft, to in to == 1 && !draft.body.isHeartbeat }
        room.wait(2100)
        #expect(room.bodies { $0.isHeartbeat } > 0 && room.people[1].sending == before)
        room.isLost = { _, _ in false }
        room.wait(5000)
        #expect(room.people[1].sending == room.people[0].sending)
        #expect(try room.frame(1, 3))
    }

    @Test func aMemberThatRunsAheadTakesNoOtherAlong_andIsHeard() throws {
        let room = try Room(3)
        let before = try #require(room.people[0].sending)
        let last = Epoch(term: before.term, generation: before.generation, step: Epoch.lastStep)
        room.people[2].ring.advance(before.generation, to: Epoch.lastStep, at: room.now)
        room.people[2].reached = last
        #expect(try room.frame(2, 0) && room.frame(2, 1))
        #expect(room.people[0].sending == before && room.people[1].sending == before)
        room.wait(20_000, without: [2])
        #expect(try room.frame(0, 1) && room.frame(1, 0) && room.frame(2, 1))
    }

    @Test func aFrameOfAStepAheadIsOpenedOnce() throws {
        let room = try roomWithAMemberThatHeardNothing()
        let frame = try room.people[0].seal([1], .audio)
        #expect(room.hand(frame, to: 1) && !room.hand(frame, to: 1))
        #expect(!room.hand(frame, to: 1))
        #expect(room.dropped(1) == [.replayed, .replayed])
    }
}
