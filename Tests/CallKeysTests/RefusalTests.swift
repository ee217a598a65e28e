// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// Signals that are not heeded, each for its own reason.
struct RefusalTests {
    private func signal(
        _ body: SignalBody, from number: Int, in room: Room, keys: [OfferedKey] = []
    ) -> CallEvent {
        .signal(OpenedSignal(sender: room.people[number].device, sequence: room.now << 20, body: body, keys: keys))
    }

    private func rotation(
        _ room: Room, from number: Int, term: UInt32, generation: UInt32 = 9, previous: [UInt8]? = nil,
        members: [RosterMember]? = nil, commitment: [UInt8]? = nil
    ) throws -> (SignalBody, [OfferedKey]) {
        let known = try #require(room.people[1].roster)
        let roster = try Roster(
            callID: known.callID, term: term, number: known.number + 1, previous: previous ?? known.hash,
            host: room.people[number].device, members: members ?? known.members)
        var generator = SystemRandomNumberGenerator()
        let secret = GroupSecret(using: &generator)
        let epoch = Epoch(term: term, generation: generation, step: 0)
        let scope = CallScope(callID: known.callID, term: term, generation: generation)
        let rotation = KeyRotation(
            epoch: epoch, reason: .succession, commitment: commitment ?? secret.commitment(in: scope), notBefore: 0,
            roster: roster, wraps: [])
        return (.rotation(rotation), [OfferedKey(recipient: room.people[1].device, epoch: epoch, secret: secret)])
    }

    @Test func aSignalIsProcessedOnce() throws {
        let room = try Room(3)
        room.step(0, .suspect)
        let draft = try #require(room.sent.first { $0.draft.body.isRotation })
        let again = room.opened(draft.draft, from: 0, for: 1)
        room.clearLog()
        room.step(1, .signal(again))
        #expect(room.refusals(1) == [.replayed])
    }

    @Test func onlyTheHostRotatesCommitsAndChangesTheRoster() throws {
        let room = try Room(3)
        let roster = try #require(room.people[1].roster)
        let epoch = Epoch(term: Roster.firstTerm, generation: 9, step: 0)
        let (body, keys) = try rotation(room, from: 0, term: Roster.firstTerm)
        for body in [body, .commit(epoch), .roster(RosterChange(roster: roster, floors: []))] {
            room.now += 1
            room.clearLog()
            room.step(1, signal(body, from: 2, in: room, keys: keys))
            #expect(room.refusals(1) == [.notTheHost])
        }
        #expect(room.people[1].sending?.generation == 1)
    }

    @Test func succession_refusesToReplaceALivingHost() throws {
        let room = try Room(3)
        let roster = try #require(room.people[1].roster)
        let term = try #require(roster.termOfSuccession(of: room.people[2].device))
        let (body, keys) = try rotation(room, from: 2, term: term)
        room.step(1, signal(body, from: 2, in: room, keys: keys))
        #expect(room.refusals(1) == [.hostAlive])
        #expect(room.people[1].roster?.host == room.people[0].device)
    }

    @Test func succession_refusesTheTermOfAnotherDevice() throws {
        let room = try Room(4)
        room.now += 5000
        let (body, keys) = try rotation(room, from: 3, term: 2 << 16 | 1)
        room.step(1, signal(body, from: 3, in: room, keys: keys))
        #expect(room.refusals(1) == [.stale])
    }

    @Test func succession_refusesAddedMembersAndAnotherRoster() throws {
        for isAdding in [false, true] {
            let room = try Room(3)
            room.now += 5000
            let roster = try #require(room.people[1].roster)
            let term = try #require(roster.termOfSuccession(of: room.people[2].device))
            let stranger = RosterMember(index: 99, device: try Room.device(50))
            let (body, keys) = try rotation(
                room, from: 2, term: term, previous: isAdding ? nil : [UInt8](repeating: 1, count: 32),
                members: isAdding ? roster.members + [stranger] : nil)
            room.step(1, signal(body, from: 2, in: room, keys: keys))
            #expect(room.refusals(1) == [.brokenChain])
            #expect(room.people[1].roster == roster && room.outside(1).isEmpty)
        }
    }

    @Test func anotherSecretThanTheCommittedOneIsRefused() throws {
        let room = try Room(3)
        let (body, keys) = try rotation(
            room, from: 0, term: Roster.firstTerm, commitment: [UInt8](repeating: 1, count: 32))
        room.step(1, signal(body, from: 0, in: room, keys: keys))
        #expect(room.refusals(1) == [.wrongCommitment])
        #expect(room.people[1].ring.newest == 1)
    }

    /// The attack: a host announces two secrets under one number, each to other members.
    @Test func aSecondSecretUnderAKnownNumberIsNotAcknowledged() throws {
        let room = try Room(3)
        room.step(0, .suspect)
        let generation = room.people[1].ring.newest
        let first = try #require(room.people[1].ring.generations[generation]?.commitment)
        for isOther in [false, true] {
            let (body, keys) = try rotation(
                room, from: 0, term: Roster.firstTerm, generation: generation,
                commitment: isOther ? [UInt8](repeating: 1, count: 32) : first)
            room.now += 1
            room.clearLog()
            room.step(1, signal(body, from: 0, in: room, keys: keys))
            #expect(room.refusals(1) == (isOther ? [.wrongCommitment] : []))
        }
    }

    @Test func aRosterThatDoesNotFollowOursIsRefused() throws {
        let room = try Room(3)
        let (body, keys) = try rotation(
            room, from: 0, term: Roster.firstTerm, previous: [UInt8](repeating: 1, count: 32))
        room.step(1, signal(body, from: 0, in: room, keys: keys))
        #expect(room.refusals(1) == [.brokenChain])
    }

    @Test func anEpochThatIsOverIsRefused() throws {
        let room = try Room(3)
        for _ in 0..<3 { room.step(0, .suspect) }
        room.clearLog()
        let (body, keys) = try rotation(room, from: 0, term: 2 << 16, generation: 2)
        room.step(1, signal(body, from: 0, in: room, keys: keys))
        #expect(room.refusals(1) == [.stale])
        #expect(room.people[1].sending?.generation == 4)
    }

    @Test func answer_refusesAnUnrequestedAnswer() throws {
        let room = try Room(3)
        let roster = try #require(room.people[1].roster)
        let epoch = Epoch(term: Roster.firstTerm, generation: 7, step: 0)
        let nonce = try #require(SignalNonce([UInt8](repeating: 1, count: 16)))
        let reply = KeyReply(id: nonce, current: epoch, roster: roster, wraps: [])
        room.step(1, signal(.reply(reply), from: 2, in: room))
        #expect(room.refusals(1) == [.notRequested])
    }

    @Test func aDelayedAnswerTakesNothingBack() throws {
        let room = try Room(3)
        let roster = try #require(room.people[1].roster)
        let old = try #require(room.people[0].ring.generations[1]?.newest)
        room.step(0, .suspect)
        room.now += 1
        let nonce = try #require(SignalNonce([UInt8](repeating: 1, count: 16)))
        let reply = KeyReply(id: nonce, current: old.epoch, roster: roster, wraps: [])
        let key = OfferedKey(recipient: room.people[1].device, epoch: old.epoch, secret: old.secret)
        room.step(1, signal(.reply(reply), from: 0, in: room, keys: [key]))
        #expect(room.people[1].sending?.generation == 2)
        #expect(try room.frame(1, 0) && room.frame(0, 1))
    }

    @Test func aRemovedDeviceIsGivenNothing() throws {
        let room = try Room(3)
        let nonce = try #require(SignalNonce([UInt8](repeating: 1, count: 16)))
        room.step(0, .exclude(room.people[2].device))
        room.wait(1100)
        #expect(room.outside(2) == [.removed])
        room.clearLog()
        let request = KeyRequest(id: nonce, reason: .audioDecryptFailed, newest: 1)
        room.step(0, signal(.request(request), from: 2, in: room))
        room.step(1, signal(.request(request), from: 2, in: room))
        #expect(room.refusals(0) == [.notEntitled] && room.refusals(1) == [.notEntitled])
        room.now += 1000
        room.step(0, signal(.join(nonce), from: 2, in: room))
        let asked = room.log[0].contains { if case .admissionNeeded = $0 { true } else { false } }
        #expect(!asked && room.refusals(0) == [.notEntitled, .excluded])
    }

    @Test func aMemberIsAnsweredOnceInAWhile() throws {
        let room = try Room(3)
        room.now += 2000
        for byte in [1, 2] as [UInt8] {
            room.now += 1
            let nonce = try #require(SignalNonce([UInt8](repeating: byte, count: 16)))
            room.step(
                0, signal(.request(KeyRequest(id: nonce, reason: .audioDecryptFailed, newest: 1)), from: 2, in: room))
        }
        #expect(room.bodies { $0.isReply } == 1)
        #expect(room.refusals(0) == [.tooOften])
    }

    @Test func welcome_refusesAnUntrustedHost() throws {
        let room = try Room(2)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(2), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.step(2, .join(trusting: [try Room.device(9)]))
        #expect(room.refusals(2) == [.hostNotTrusted])
        #expect(!room.people[2].isMember)
    }

    @Test func admission_refusesADeviceThatDidNotAsk() throws {
        let room = try Room(2)
        let stranger = try Room.device(7)
        let nonce = try #require(SignalNonce([UInt8](repeating: 1, count: 16)))
        let actions = room.people[0].handle(
            .signal(OpenedSignal(sender: stranger, sequence: 1, body: .join(nonce), keys: [])), at: room.now)
        #expect(actions.count == 1)
        guard case .admissionNeeded(stranger) = actions[0] else { Issue.record("let in"); return }
    }

    @Test func aCommitCountsNotBeforeItsTime_andNotMuchLater() throws {
        for (ahead, wait) in [(500, 500), (60_000, 700)] as [(UInt64, UInt64)] {
            let room = try Room(3)
            let (body, keys) = try rotation(room, from: 0, term: Roster.firstTerm)
            guard case .rotation(let made) = body else { return }
            let late = KeyRotation(
                epoch: made.epoch, reason: .leave, commitment: made.commitment, notBefore: room.now + ahead,
                roster: made.roster, wraps: [])
            room.step(1, signal(.rotation(late), from: 0, in: room, keys: keys))
            room.now += 1
            room.step(1, signal(.commit(made.epoch), from: 0, in: room))
            let due = room.now - 1 + wait
            while room.now < due {
                #expect(room.people[1].sending?.generation == 1)
                room.now += 50
                _ = room.people[1].handle(.tick, at: room.now)
            }
            #expect(room.people[1].sending?.generation == 9)
        }
    }
}
