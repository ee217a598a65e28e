// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// What packets beside the signals can do: bring what the signals are late with, and nothing that the signals could not.
struct PacketRuleTests {
    /// Devices that hear no signal of the host's, and of each other only what a test says.
    private func room(_ count: Int, deaf: Set<Int>) throws -> Room {
        let room = try Room(count)
        room.isLost = { draft, to in deaf.contains(to) && draft.recipient != room.people[0].device }
        return room
    }

    private func keys(_ room: Room, to number: Int) -> [(from: Int, draft: PacketDraft)] {
        room.packets.filter { $0.draft.isKey && $0.draft.recipient == room.people[number].device }
    }

    private func rosters(_ room: Room, to number: Int) -> [PacketDraft] {
        room.packets.map(\.draft).filter { draft in
            guard draft.recipient == room.people[number].device, case .signal(let signal) = draft.content else {
                return false
            }
            return signal.body.isRoster
        }
    }

    // MARK: What they are for

    @Test func aKeyAndItsAckGoByPacketsAlone() throws {
        let room = try Room(3)
        room.isLost = { _, _ in true }
        room.packetsArrive = { _, _ in true }
        room.step(0, .suspect)
        // Everybody's ack came: the host did not wait for its time to be over.
        #expect(room.people[0].sending?.generation == 2)
        #expect(try room.frame(0, 1) && room.frame(0, 2))
        #expect(room.people.map { $0.sending?.generation } == [2, 2, 2])
    }

    @Test func aMemberThatLeavesByPacketsAloneIsOut() throws {
        let room = try Room(3)
        room.isLost = { _, _ in true }
        room.packetsArrive = { _, _ in true }
        room.step(2, .leave)
        room.wait(400, without: [2])
        #expect(room.people[0].roster?.members.count == 2 && room.people[1].roster?.members.count == 2)
        #expect(room.people[0].sending?.generation == 2)
    }

    @Test func aFarewellIsRepeatedFourTimes_andNoMore() throws {
        let room = try Room(3)
        room.step(2, .leave)
        room.wait(1000)
        #expect(room.packets.count { $0.from == 2 && $0.draft.recipient == room.people[0].device } == 4)
    }

    @Test func theHostRepeatsPacketsToSilentMembers_forSixSeconds() throws {
        let room = try Room(3)
        room.isLost = { draft, to in to == 1 || draft.recipient == room.people[0].device }
        room.packetsArrive = { draft, from in from == 2 || draft.recipient == room.people[2].device }
        room.step(0, .suspect)
        room.wait(15_000)
        #expect(keys(room, to: 2).count == 1)
        #expect(keys(room, to: 1).count == CallTimes().packetRounds)
    }

    /// An ack is nothing that a frame does not say as well.
    @Test func aFrameUnderTheNewKeyIsAnAck() throws {
        let room = try Room(3)
        room.isLost = { draft, to in to == 0 }
        room.step(0, .suspect)
        room.wait(2100)
        #expect(room.people[1].sending?.generation == 2)
        room.clearLog()
        #expect(try room.frame(1, 0))
        room.wait(300)
        #expect(keys(room, to: 1).isEmpty && !keys(room, to: 2).isEmpty)
    }

    /// A roster names the one before: two that joined at once are one after the other for whoever heard of neither.
    @Test func aMemberThatMissedTwoJoinsIsGivenBoth() throws {
        let room = try Room(2)
        for number in 2...3 {
            room.people.append(
                CallParticipant(
                    callID: room.people[0].callID, device: try Room.device(number),
                    generator: SystemRandomNumberGenerator()))
            room.log.append([])
        }
        room.isLost = { draft, to in to == 1 }
        room.packetsArrive = { _, _ in true }
        room.packetsArrive = { draft, _ in draft.recipient != room.people[1].device }
        room.join(2)
        room.join(3)
        room.packetsArrive = { _, _ in true }
        room.wait(500)
        #expect(room.people[1].roster == room.people[0].roster)
        #expect(try room.frame(2, 1) && room.frame(3, 1) && room.frame(1, 3))
    }

    /// Two generations turned for a joiner; who sends under the later one without the step has not heard of the turn.
    @Test func aFrameWithoutTheStepIsNoAckOfTheJoin() throws {
        let room = try Room(2)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(2), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.isLost = { draft, to in
            to == 0 ? !draft.body.isJoin : to == 1 && (draft.body.isRoster || draft.body.isCommit)
        }
        room.step(0, .suspect)
        room.join(2)
        room.wait(2100)
        #expect(try room.frame(0, 1) && room.people[1].sending == Epoch(term: Roster.firstTerm, generation: 2, step: 0))
        #expect(try room.frame(1, 0))
        room.clearLog()
        room.wait(300)
        #expect(!rosters(room, to: 1).isEmpty)
    }

    /// The host's packets do not reach the third; the second's do.
    @Test func afterALeaveMembersPassTheKeyOn() throws {
        let room = try Room(4)
        room.isLost = { draft, to in to == 2 && !draft.body.isRequest }
        room.packetsArrive = { draft, from in from != 0 || draft.recipient != room.people[2].device }
        room.step(3, .leave)
        room.wait(1000, without: [3])
        #expect(room.people[2].roster?.members.count == 3)
        #expect(try room.frame(1, 2) && room.frame(2, 1))
        #expect(keys(room, to: 2).contains { $0.from == 1 })
    }

    // MARK: What a late, repeated or foreign one does

    @Test func aPacketOfAnEarlierGenerationTakesNothingBack() throws {
        let room = try room(3, deaf: [1])
        room.step(0, .suspect)
        let old = try #require(keys(room, to: 1).last)
        room.packetsArrive = { _, _ in true }
        room.wait(200)
        room.step(0, .suspect)
        room.wait(200)
        #expect(try room.frame(0, 1))
        #expect(room.people[1].sending?.generation == 3)
        room.clearLog()
        room.hand(old.draft, from: old.from, to: 1)
        #expect(room.people[1].sending?.generation == 3 && room.refusals(1).isEmpty)
        #expect(try room.frame(0, 1) && room.frame(1, 0))
    }

    /// Somebody who was removed has the key before and its announcement: nobody who heard of the removal goes back to it.
    @Test func aRemovedDeviceBringsNoMemberBackToItsKey() throws {
        let room = try room(4, deaf: [1])
        room.step(0, .suspect)
        let old = try #require(keys(room, to: 1).last)
        room.step(0, .exclude(room.people[3].device))
        room.wait(300, without: [3])
        let rotation = try #require(room.sent.last { $0.draft.body.isRotation && $0.draft.recipient == nil }).draft
        let bare = OpenedSignal(
            sender: room.people[0].device, sequence: rotation.sequence, body: rotation.body, keys: [])
        room.step(1, .signal(bare))
        #expect(room.people[1].roster?.contains(room.people[3].device) == false)
        room.hand(old.draft, from: old.from, to: 1)
        room.wait(800, without: [3])
        #expect(room.people[1].sending == nil)
    }

    @Test func aRosterOverAGapWaitsForTheSignals() throws {
        let room = try Room(2)
        for number in 2...3 {
            room.people.append(
                CallParticipant(
                    callID: room.people[0].callID, device: try Room.device(number),
                    generator: SystemRandomNumberGenerator()))
            room.log.append([])
        }
        room.isLost = { draft, to in to == 1 && draft.body.isRoster }
        room.join(2)
        room.join(3)
        let changes = rosters(room, to: 1)
        let before = room.people[1].roster
        room.hand(try #require(changes.last), from: 0, to: 1)
        #expect(room.people[1].roster == before)
        room.hand(try #require(changes.first), from: 0, to: 1)
        #expect(room.people[1].roster?.members.count == 3)
        room.hand(try #require(changes.last), from: 0, to: 1)
        #expect(room.people[1].roster == room.people[0].roster)
    }

    /// Otherwise the step that was made for the joiner would be passed over, and the joiner hear nothing.
    @Test func aKeyOverAGapWaitsForTheRosterBetween() throws {
        let room = try Room(3)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(3), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.isLost = { draft, to in to == 1 }
        room.join(3)
        let change = try #require(rosters(room, to: 1).last)
        room.step(2, .leave)
        room.wait(250, without: [2])
        let key = try #require(keys(room, to: 1).last)
        room.hand(key.draft, from: 0, to: 1)
        #expect(room.people[1].roster?.number == 3)
        room.hand(change, from: 0, to: 1)
        #expect(room.people[1].roster?.number == 4 && room.people[1].sending?.step == room.people[0].sending?.step)
        room.hand(key.draft, from: 0, to: 1)
        #expect(room.people[1].roster == room.people[0].roster)
    }

    /// A step of a secret that is not there cannot be made, and would be forgotten.
    @Test func aRosterWithAKeyThatIsNotThereWaitsForIt() throws {
        let room = try Room(2)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(2), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.isLost = { draft, to in to == 1 }
        room.step(0, .suspect)
        let key = try #require(keys(room, to: 1).last)
        room.join(2)
        let change = try #require(rosters(room, to: 1).last)
        room.hand(change, from: 0, to: 1)
        #expect(room.people[1].roster?.members.count == 2)
        room.hand(key.draft, from: 0, to: 1)
        room.hand(change, from: 0, to: 1)
        #expect(room.people[1].roster?.members.count == 3)
        room.packetsArrive = { _, _ in true }
        room.wait(2500)
        #expect(try room.frame(1, 2) && room.frame(2, 1))
    }

    @Test func aMessageThatComesBothWaysIsProcessedOnce_andIsNotAFault() throws {
        let room = try Room(3)
        room.packetsArrive = { _, _ in true }
        var late: [SignalDraft] = []
        room.isLost = { draft, to in
            if to == 0 { late.append(draft) }
            return to == 0
        }
        room.step(2, .leave)
        room.wait(300, without: [2])
        let roster = room.people[0].roster
        let farewell = try #require(late.first)
        room.step(0, .signal(room.opened(farewell, from: 2, for: 0)))
        #expect(room.refusals(0).isEmpty && room.people[0].roster == roster)
    }

    /// The relay keeps a farewell until its sender is in the call again.
    @Test func aLateFarewellDoesNotRemoveAMemberThatCameBack() throws {
        let room = try Room(3)
        room.step(2, .leave)
        let farewell = try #require(room.packets.last { $0.from == 2 }).draft
        room.wait(2000, without: [2])
        // The signal of the leave was lost, so that its number is free.
        room.people[0].windows[room.people[2].device] = nil
        room.join(2)
        room.wait(2000)
        let roster = try #require(room.people[0].roster)
        #expect(roster.contains(room.people[2].device))
        room.hand(farewell, from: 2, to: 0)
        room.wait(1000)
        #expect(room.people[0].roster == roster)
    }

    /// A member that goes on passing the last key of a host on does not keep that host alive.
    @Test func packetsAreNoSignOfLifeOfTheHost() throws {
        let room = try Room(3)
        room.step(0, .suspect)
        room.packetsArrive = { _, _ in true }
        let old = try #require(keys(room, to: 1).last).draft
        room.wait(2000)
        for _ in 0..<30 {
            room.wait(200, without: [0])
            room.hand(old, from: 0, to: 1)
        }
        #expect(room.people[1].isHost)
    }

    /// Somebody who lost touch with the host, and tells others so, is not accused of anything.
    @Test func aSuccessorsPacketChangesNothingWhileTheHostLives_andIsNotAFault() throws {
        let room = try Room(3)
        let alone = try room.copy()
        alone.wait(12_000, without: [0])
        #expect(alone.people[1].isHost)
        let packet = try #require(keys(alone, to: 2).last).draft
        let roster = room.people[2].roster
        let opened = try #require(
            packet.opened(by: room.people[2].device, sentBy: room.people[1].device, in: room.people[1].callID))
        room.step(2, .packet(opened))
        #expect(room.people[2].roster == roster && room.refusals(2).isEmpty)
    }

    @Test func aRepeatedAckIsNoSignOfLife() throws {
        let room = try Room(3)
        room.packetsArrive = { _, _ in true }
        room.step(0, .suspect)
        let ack = try #require(room.packets.last { $0.from == 2 }).draft
        let device = room.people[2].device
        let heardAt = try #require(room.people[0].heardAt[device])
        room.wait(200, without: [1, 2])
        room.hand(ack, from: 2, to: 0)
        #expect(room.people[0].heardAt[device] == heardAt && room.people[0].duty?.followedAt[device] == heardAt)
    }

    @Test func aLargeCallIsServedInTurns() throws {
        let devices = try (0..<40).map { try Room.device($0) }
        var packets = Repetition(10)
        var served: Set<CallDevice> = []
        for _ in 0..<3 {
            let turn = packets.turn(of: Set(devices))
            #expect(turn.count == Repetition.recipientCount)
            served.formUnion(turn)
        }
        #expect(served.count == 40)
    }
}
