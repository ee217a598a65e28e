// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// Each rule by which two hosts become one, and by which a key is waited for.
struct ReunionRuleTests {
    private func beat(
        _ room: Room, from sender: Int, term: UInt32, heard: UInt16 = 9, isHost: Bool = true
    ) -> CallEvent {
        let beat = Heartbeat(
            epoch: Epoch(term: term, generation: 9, step: 0), rosterNumber: 9,
            rosterHash: [UInt8](repeating: 1, count: 32), heard: heard, isHost: isHost)
        return .signal(
            OpenedSignal(
                sender: room.people[sender].device, sequence: room.now << 20, body: .heartbeat(beat), keys: []))
    }

    /// Three, of whom the first hosts in the fifth term and has heard nobody for six seconds.
    private func lonelyHost() throws -> Room {
        let room = try Room(3)
        room.people[0].roster = try room.people[0].roster.map {
            try Roster(
                callID: $0.callID, term: 5 << 16, number: $0.number + 1, previous: $0.hash, host: $0.host,
                members: $0.members)
        }
        room.now += 6000
        return room
    }

    @Test func aMembersSignOfLifeMakesNoHostOfIt() throws {
        for isHost in [true, false] {
            let room = try Room(3)
            room.now += 5000
            room.step(1, beat(room, from: 2, term: 2 << 16 | 2, isHost: isHost))
            #expect((room.people[1].reunion != nil) == isHost)
        }
    }

    @Test func aHostWithFollowersYieldsToNoOther() throws {
        let room = try Room(3)
        room.wait(2500)
        room.step(0, beat(room, from: 2, term: 9 << 16 | 2, heard: 60_000))
        #expect(room.people[0].reunion == nil)
        room.now += 6000
        room.step(0, beat(room, from: 2, term: 9 << 16 | 2, heard: 60_000))
        #expect(room.people[0].reunion != nil)
    }

    /// More followers first, then the later term: of two hosts exactly one yields. Ours has no follower left.
    @Test func theWeakerOfTwoHostsYields() throws {
        for (heard, number, yields) in [(0, 6, true), (0, 4, false), (1, 4, true)] as [(UInt16, UInt32, Bool)] {
            let room = try lonelyHost()
            room.step(0, beat(room, from: 2, term: number << 16 | 2, heard: heard))
            #expect((room.people[0].reunion != nil) == yields, "\(heard) \(number)")
        }
    }

    /// Two hosts that seek each other, since each was told of the other's followers when they were more: if both let the other in, each
    /// would give up its tenure for the other's, and if none did, they would stay apart.
    @Test func ofTwoHostsThatSeekEachOtherOneLetsTheOtherIn() throws {
        for (number, letsIn) in [(6, false), (4, true)] as [(UInt32, Bool)] {
            let room = try lonelyHost()
            room.isLost = { _, _ in true }
            room.step(0, beat(room, from: 2, term: number << 16 | 2))
            try #require(room.people[0].reunion != nil)
            let nonce = try #require(SignalNonce([UInt8](repeating: 7, count: 16)))
            let asks = OpenedSignal(
                sender: room.people[2].device, sequence: room.now << 20 + 1, body: .reunite(nonce), keys: [])
            room.step(0, .signal(asks))
            #expect((room.bodies(\.isReply) == 1) == letsIn, "\(number)")
            #expect((room.people[0].reunion == nil) == letsIn, "\(number)")
        }
    }

    @Test func aYieldingHostKeepsHostingUntilItIsAdmitted() throws {
        let room = try Room(3)
        room.now += 6000
        room.isLost = { _, _ in true }
        room.step(0, beat(room, from: 2, term: 2 << 16 | 2))
        #expect(room.people[0].isHost && room.people[0].sending != nil)
        #expect(room.bodies { if case .reunite = $0 { true } else { false } } == 1)
    }

    @Test func aDeviceThatComesBackToATenureAsksForNewKeys() throws {
        let room = try Room(2)
        _ = try room.people[1].seal([1], .audio)
        let term = try #require(room.people[1].roster).term
        room.isLost = { _, _ in true }
        room.people[1].seek(room.people[0].device, term, at: room.now)
        let (one, two) = (room.people[1].ring.sealers.hasUsed(term: term), room.people[1].output)
        #expect(one)
        let bodies = two.compactMap { if case .send(let draft) = $0 { draft.body } else { nil } }
        let isJoin = bodies.contains { if case .join = $0 { true } else { false } }
        #expect(isJoin && bodies.count == 1)
    }

    /// Two that tenure apart give the same numbers. A key of the other's opens frames and seals none.
    @Test func nothingIsSentUnderAKeyOfAnotherTenure() throws {
        let room = try Room(2)
        let known = try #require(room.people[1].roster)
        let before = room.people[1].sending
        var generator = SystemRandomNumberGenerator()
        let epoch = Epoch(term: 2 << 16 | 1, generation: 5, step: 0)
        room.people[1].install(epoch, GroupSecret(using: &generator), known, isProven: true, at: room.now)
        let commit = Epoch(term: known.term, generation: 5, step: 0)
        room.step(
            1,
            .signal(
                OpenedSignal(
                    sender: room.people[0].device, sequence: room.now << 20, body: .commit(commit), keys: [])))
        room.people[1].switchSending(to: 5, at: room.now)
        #expect(room.people[1].sending == before)
    }

    @Test func aLostDeviceThatWasNotRemovedAsksToBeAdmittedAgain() throws {
        let room = try Room(3)
        room.step(0, .lost(room.people[2].device))
        room.wait(3000)
        #expect(room.people[2].isMember && room.outside(2) != [.removed])
        #expect(room.people[0].roster?.contains(room.people[2].device) == true)
        #expect(try room.frame(2, 0) && room.frame(0, 2))
    }

    @Test func aDeviceThatHearsNoOtherWaitsLongBeforeItTakesOver() throws {
        let room = try Room(3)
        room.isLost = { _, to in to == 1 }
        room.wait(14_000)
        #expect(!room.people[1].isHost)
        room.wait(8000)
        #expect(room.people[1].isHost)
    }

    @Test func aRotationWithoutHasteReplacesNoneThatIsPending() throws {
        let room = try Room(3, times: CallTimes())
        room.isLost = { draft, to in to == 0 && draft.body.isAck }
        room.step(0, .suspect)
        room.wait(1000)
        room.step(0, .suspect)
        room.wait(6500)
        #expect(room.people[0].ring.newest == 2 && room.people[0].sending?.generation == 1)
        room.wait(1000)
        #expect(room.people[0].ring.newest == 3 && room.people[0].sending?.generation == 2)
    }

    @Test func anAnswerWithoutTheKeyEndsNoRequest() throws {
        let room = try Room(3)
        room.isLost = { draft, to in to == 1 && !draft.body.isRequest }
        room.step(0, .suspect)
        room.wait(2100, without: [1])
        #expect(try !room.frame(0, 1))
        room.wait(200, without: [0, 2])
        let request = try #require(room.people[1].recovery.request)
        let old = try #require(room.people[1].ring.generations[1]?.newest)
        let roster = try #require(room.people[1].roster)
        let reply = KeyReply(id: request.id, current: old.epoch, roster: roster, wraps: [])
        let key = OfferedKey(recipient: room.people[1].device, epoch: old.epoch, secret: old.secret)
        room.step(
            1,
            .signal(
                OpenedSignal(
                    sender: room.people[0].device, sequence: room.now << 20, body: .reply(reply), keys: [key])))
        #expect(room.people[1].recovery.request?.id == request.id)
    }
}

extension SignalBody {
    fileprivate var isAck: Bool { if case .ack = self { true } else { false } }
}
