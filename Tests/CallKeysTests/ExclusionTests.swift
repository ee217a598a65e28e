// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// Who was removed stays away, whatever it sends.
struct ExclusionTests {
    /// Four devices; the host has removed the last.
    private func roomWithoutTheLast() throws -> Room {
        let room = try Room(4)
        room.step(0, .exclude(room.people[3].device))
        room.wait(300)
        #expect(room.outside(3) == [.removed])
        room.clearLog()
        return room
    }

    @Test func aRemovedDeviceDoesNotComeBackUnasked() throws {
        let room = try roomWithoutTheLast()
        room.join(3)
        room.wait(3000)
        #expect(!room.people[3].isMember && room.refusals(0).contains(.excluded))
        let asked = room.log[0].contains { if case .admissionNeeded = $0 { true } else { false } }
        #expect(!asked)
        // Nor does a rule that lets it in without a word of the person.
        room.step(0, .admit(room.people[3].device))
        room.wait(3000)
        #expect(!room.people[3].isMember)
    }

    /// The relay serves it no more when what is for everybody is passed on.
    @Test func aRemovedDeviceIsToldOfItsRemoval() throws {
        let room = try Room(4)
        room.isLost = { draft, to in to == 3 && draft.recipient == nil }
        room.step(0, .exclude(room.people[3].device))
        room.wait(300)
        #expect(room.outside(3) == [.removed])
        #expect(room.sent.allSatisfy { $0.draft.keys.allSatisfy { $0.recipient != room.people[3].device } })
    }

    @Test func itComesBackWhenThePersonLetsIt() throws {
        let room = try roomWithoutTheLast()
        room.join(3)
        room.step(0, .readmit(room.people[3].device))
        room.wait(3000)
        #expect(room.people[3].isMember && room.people[1].roster?.excluded == [])
        #expect(try room.frame(3, 1) && room.frame(1, 3))
    }

    @Test func allMembersKnowTheRemovedDevice_andTheNextHostDoesNotAdmitIt() throws {
        let room = try roomWithoutTheLast()
        for number in 0..<3 { #expect(room.people[number].roster?.excluded == [room.people[3].device]) }
        room.step(0, .leave)
        room.wait(200, without: [0])
        #expect(room.people[1].isHost && room.people[1].roster?.excluded == [room.people[3].device])
        room.join(3)
        room.wait(3000, without: [0])
        #expect(!room.people[3].isMember && room.refusals(1).contains(.excluded))
    }

    /// It says that it leads a far stronger tenure, while the host is silent for a moment.
    @Test func aRemovedDeviceCannotCaptureAMember() throws {
        let room = try roomWithoutTheLast()
        room.now += 4500
        let beat = Heartbeat(
            epoch: Epoch(term: 0xFFFF_0003, generation: 9, step: 0), rosterNumber: 99,
            rosterHash: [UInt8](repeating: 1, count: 32), heard: 60_000, isHost: true)
        for number in 0..<3 {
            room.step(
                number,
                .signal(
                    OpenedSignal(
                        sender: room.people[3].device, sequence: room.now << 20, body: .heartbeat(beat), keys: [])))
            #expect(room.people[number].reunion == nil && room.people[number].isMember)
        }
    }

    @Test func join_refusesAHostWhoseCallHasARemovedDevice() throws {
        let room = try roomWithoutTheLast()
        let known = try #require(room.people[1].roster)
        let roster = try Roster(
            callID: known.callID, term: 2 << 16 | 2, number: 9, previous: known.hash, host: room.people[2].device,
            members: (0..<4).map { RosterMember(index: UInt16($0) + 20, device: room.people[$0].device) })
        var generator = SystemRandomNumberGenerator()
        let epoch = Epoch(term: roster.term, generation: 30, step: 0)
        let key = OfferedKey(recipient: room.people[1].device, epoch: epoch, secret: GroupSecret(using: &generator))
        room.people[1].seek(room.people[2].device, roster.term, at: room.now)
        let nonce = try #require(room.people[1].reunion).nonce
        let reply = KeyReply(id: nonce, current: epoch, roster: roster, wraps: [])
        room.step(
            1,
            .signal(
                OpenedSignal(sender: room.people[2].device, sequence: room.now << 20, body: .reply(reply), keys: [key]))
        )
        #expect(room.refusals(1) == [.excluded] && room.people[1].roster == known)
    }

    @Test func succession_refusesARosterWithoutTheRemovedDevices() throws {
        let room = try roomWithoutTheLast()
        let known = try #require(room.people[1].roster)
        room.now += 5000
        let term = try #require(known.termOfSuccession(of: room.people[2].device))
        let roster = try Roster(
            callID: known.callID, term: term, number: known.number + 1, previous: known.hash,
            host: room.people[2].device, members: known.members.filter { $0.device != known.host })
        var generator = SystemRandomNumberGenerator()
        let secret = GroupSecret(using: &generator)
        let epoch = Epoch(term: term, generation: 30, step: 0)
        let scope = CallScope(callID: known.callID, term: term, generation: 30)
        let rotation = KeyRotation(
            epoch: epoch, reason: .succession, commitment: secret.commitment(in: scope), notBefore: 0, roster: roster,
            wraps: [])
        room.step(
            1,
            .signal(
                OpenedSignal(
                    sender: room.people[2].device, sequence: room.now << 20, body: .rotation(rotation),
                    keys: [OfferedKey(recipient: room.people[1].device, epoch: epoch, secret: secret)])))
        #expect(room.refusals(1) == [.brokenChain] && room.people[1].roster == known)
    }
}
