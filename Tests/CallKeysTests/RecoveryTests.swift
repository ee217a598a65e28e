// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SFrame
import Testing

@testable import CallKeys

/// What happens when a key is missing.
struct RecoveryTests {
    /// Nothing that carries the new key reaches device 1, and the host has switched.
    private func roomWithAMissedRotation() throws -> Room {
        let room = try Room(3)
        room.isLost = { draft, to in to == 1 && (draft.body.isRotation || draft.body.isCommit || draft.body.isHeartbeat)
        }
        room.step(0, .suspect)
        room.wait(2050)
        room.clearLog()
        return room
    }

    @Test func anEarlyFrameWaitsForItsKey_whichIsAskedForAfterAWhile() throws {
        let room = try roomWithAMissedRotation()
        #expect(try !room.frame(0, 1))
        room.wait(100)
        #expect(room.requests().isEmpty)
        room.wait(100)
        #expect(room.requests().count == 1 && room.played(1) == 1 && room.dropped(1).isEmpty)
        #expect(try room.frame(1, 0) && room.frame(2, 1))
    }

    @Test func aFrameWaitsThreeSecondsAndNoLonger() throws {
        let room = try roomWithAMissedRotation()
        room.isLost = { _, to in to == 1 }
        #expect(try !room.frame(0, 1, .camera))
        room.wait(2900)
        #expect(room.dropped(1).isEmpty)
        room.wait(150)
        #expect(room.dropped(1) == [.keyMissing])
        room.isLost = { _, _ in false }
        room.wait(1000)
        #expect(try room.frame(0, 1, .camera))
        let asked = room.log[1].contains {
            if case .keyFrameNeeded(room.people[0].device, .camera) = $0 { true } else { false }
        }
        #expect(asked)
    }

    @Test func aStreamHoldsAtMost160Frames() throws {
        let room = try roomWithAMissedRotation()
        room.isLost = { _, to in to == 1 }
        for _ in 0..<166 { #expect(try !room.frame(0, 1)) }
        #expect(room.dropped(1) == [FrameDropReason](repeating: .noRoom, count: 6))
    }

    @Test func aCommitWithoutItsRotationIsAskedAboutAtOnce() throws {
        let room = try Room(3)
        room.isLost = { draft, to in to == 1 && draft.body.isRotation }
        room.step(0, .suspect)
        room.wait(2050)
        #expect(room.requests().count == 1)
        #expect(room.people[1].sending == room.people[0].sending)
    }

    @Test func theHostSendsARotationAgainToWhoGivesNoAck() throws {
        let room = try Room(3)
        var isFirst = true
        room.isLost = { draft, to in
            guard to == 1, draft.body.isRotation, isFirst else { return false }
            isFirst = false
            return true
        }
        room.step(0, .suspect)
        #expect(room.people[1].sending != nil && room.people[0].sending?.generation == 1)
        room.wait(600)
        #expect(room.people.map { $0.sending?.generation } == [2, 2, 2])
    }

    /// When device 1 asked, by request, and how often it said each; the host sends frames under a key that device 1 lacks.
    private func requests(_ room: Room, for milliseconds: UInt64) throws -> [(at: UInt64, count: Int)] {
        var requests: [(id: SignalNonce, at: UInt64, count: Int)] = []
        for _ in 0..<milliseconds / 50 {
            _ = try room.frame(0, 1)
            room.wait(50)
            for request in room.requests() {
                guard case .request(let body) = request.draft.body else { continue }
                if requests.last?.id != body.id { requests.append((body.id, room.now, 0)) }
                requests[requests.count - 1].count += 1
            }
            room.clearLog()
        }
        return requests.map { ($0.at, $0.count) }
    }

    @Test func anAnswerIsWaitedForTenSeconds_andFruitlessRequestsAreTwelveSecondsApart() throws {
        let room = try roomWithAMissedRotation()
        room.isLost = { draft, to in to == 1 && (!draft.keys.isEmpty || draft.body.isCommit || draft.body.isReply) }
        let requests = try requests(room, for: 45_000)
        try #require(requests.count >= 4)
        // One member more each second, until ten are over.
        #expect(requests.prefix(3).allSatisfy { $0.count == 10 })
        let gaps = zip(requests, requests.dropFirst()).map { $1.at - $0.at }
        #expect((10_000...10_200).contains(gaps[0]), "the first has waited for longer than its six seconds by then")
        #expect(gaps[1...2].allSatisfy { (12_000...12_200).contains($0) })
    }

    @Test func anAnsweredRequestIsFollowedByNoneForThreeSeconds() throws {
        let room = try roomWithAMissedRotation()
        let first = try #require(requests(room, for: 500).first)
        #expect(first.count == 1)
        room.step(0, .suspect)
        room.wait(2050)
        room.clearLog()
        #expect(room.people[1].sending != room.people[0].sending)
        let second = try #require(requests(room, for: 3000).first)
        #expect((3000...3100).contains(second.at - first.at))
        #expect(room.people[1].sending == room.people[0].sending)
    }

    @Test func theHostNeverAsks() throws {
        let room = try Room(2)
        let junk = CallKeyID(index: 1, context: .audio, generation: 5, step: 0)
        for count in 0..<100 {
            let header = [UInt8(0x90), UInt8(junk.rawValue >> 8), UInt8(junk.rawValue & 255)]
            _ = room.hand(header + [UInt8](repeating: UInt8(count), count: 30), to: 0)
            room.wait(50)
        }
        #expect(room.requests().isEmpty)
    }

    @Test func anotherMemberAnswersWhenTheHostIsSilent() throws {
        let room = try roomWithAMissedRotation()
        let frame = try room.people[0].seal([1], .audio)
        room.isLost = { _, to in to == 0 }
        #expect(!room.hand(frame, to: 1))
        room.wait(300, without: [0])
        #expect(room.requests().map { $0.draft.recipient } == [room.people[0].device])
        let second = try room.people[2].seal([1], .audio)
        room.wait(900, without: [0])
        #expect(room.requests().map { $0.draft.recipient }.last == room.people[2].device)
        #expect(room.hand(second, to: 1))
    }

    /// Device 1 has asked device 2, which answers with these keys.
    private func answer(_ room: Room, with keys: [(Epoch, GroupSecret)]) throws {
        let frame = try room.people[2].seal([1], .audio)
        room.isLost = { _, to in to != 2 }
        _ = room.hand(frame, to: 1)
        while !room.requests().contains(where: { $0.draft.recipient == room.people[2].device }) {
            try #require(room.now < 1_020_000)
            room.wait(50, without: [0, 2])
        }
        guard case .request(let body) = try #require(room.requests().last).draft.body else { return }
        let reply = KeyReply(
            id: body.id, current: try #require(keys.first).0, roster: try #require(room.people[1].roster), wraps: [])
        let offered = keys.map { OfferedKey(recipient: room.people[1].device, epoch: $0, secret: $1) }
        let draft = room.people[2].draft(.reply(reply), to: room.people[1].device, keys: offered, at: room.now)
        room.clearLog()
        room.step(1, .signal(room.opened(draft, from: 2, for: 1)))
    }

    /// The same, with a secret that device 2 made up, for a step of the generation that device 1 lacks.
    private func answerWrongly(_ room: Room, step: UInt8 = 0) throws -> (epoch: Epoch, secret: GroupSecret) {
        let missing = try #require(room.people[2].sending)
        let epoch = Epoch(term: missing.term, generation: missing.generation, step: step)
        let secret = GroupSecret(using: &room.people[2].generator)
        try answer(room, with: [(epoch, secret)])
        return (epoch, secret)
    }

    /// A frame under a secret that device 2 gave: its own, or in the name of another.
    private func frame(_ room: Room, _ epoch: Epoch, _ secret: GroupSecret, as number: Int = 2) throws -> [UInt8] {
        let scope = CallScope(callID: room.people[2].callID, term: epoch.term, generation: epoch.generation)
        var ring = KeyRing(suites: CallSuites(), times: CallTimes())
        ring.install(scope, step: epoch.step, secret: secret, members: [:], isProven: true, hostTerm: epoch.term, at: 0)
        let index = try #require(room.people[2].roster?.index(of: room.people[number].device))
        return try #require(ring.sealer(index, .audio, epoch)).seal([6, 6, 6])
    }

    private func fromHost(_ body: SignalBody, in room: Room, keys: [OfferedKey] = []) -> CallEvent {
        let draft = room.people[0].draft(body, keys: keys, at: room.now)
        return .signal(room.opened(draft, from: 0, for: 1))
    }

    private func acks(_ room: Room) -> Int {
        let packets = room.packets.count {
            if $0.from == 1, case .signal(let draft) = $0.draft.content, case .ack = draft.body { true } else { false }
        }
        return packets + room.sent.count { if $0.from == 1, case .ack = $0.draft.body { true } else { false } }
    }

    /// What the host announced of the generation that device 1 lacks, with the key for device 1 or without.
    private func rotation(_ room: Room) throws -> (SignalBody, [OfferedKey]) {
        let repairs = try #require(room.people[0].duty?.repairs)
        let key = OfferedKey(
            recipient: room.people[1].device, epoch: repairs.rotation.epoch, secret: repairs.secret)
        return (.rotation(repairs.rotation), [key])
    }

    @Test func aWrongSecretOfAMemberGivesWayToARightOne() throws {
        let room = try roomWithAMissedRotation()
        _ = try answerWrongly(room)
        #expect(room.people[1].sending?.generation == 1)
        let second = try room.people[0].seal([1], .audio)
        #expect(!room.hand(second, to: 1))
        room.isLost = { _, _ in false }
        room.wait(2100)
        #expect(try room.frame(0, 1) && room.frame(2, 1) && room.frame(1, 0))
    }

    /// The attack: a member that is asked for a key makes one up, and sends a frame under it. Whoever believed that would send under a
    /// key that nobody else has.
    @Test(arguments: [0, 3] as [UInt8])
    func aMemberCannotProveTheSecretThatItMadeUp(step: UInt8) throws {
        let room = try roomWithAMissedRotation()
        let (epoch, secret) = try answerWrongly(room, step: step)
        #expect(room.hand(try frame(room, epoch, secret), to: 1))
        room.step(1, fromHost(.commit(Epoch(term: epoch.term, generation: epoch.generation, step: 0)), in: room))
        #expect(room.people[1].sending?.generation == 1)
        #expect(try room.frame(1, 0) && room.frame(1, 2))
        // The host's own secret takes its place.
        let (body, keys) = try rotation(room)
        room.step(1, fromHost(body, in: room, keys: keys))
        #expect(room.refusals(1).isEmpty && acks(room) == 2)
        #expect(try room.frame(0, 1) && room.people[1].sending == room.people[0].sending && room.frame(1, 0))
    }

    /// As if the host had given the secret: it would not repeat itself any more.
    @Test(arguments: [0, 3] as [UInt8])
    func theSecretOfAMemberIsNotAcknowledgedToTheHost(step: UInt8) throws {
        let room = try roomWithAMissedRotation()
        let (epoch, secret) = try answerWrongly(room, step: step)
        _ = room.hand(try frame(room, epoch, secret), to: 1)
        let (body, _) = try rotation(room)
        room.step(1, fromHost(body, in: room))
        #expect(acks(room) == 0)
    }

    @Test(arguments: [0, 3] as [UInt8])
    func theHostsPacketTakesThePlaceOfAMembersAnswer(step: UInt8) throws {
        let room = try Room(3)
        room.isLost = { draft, to in to == 1 && (draft.body.isRotation || draft.body.isCommit || draft.body.isHeartbeat)
        }
        room.step(0, .suspect)
        let packet = try #require(room.packets.last { $0.draft.isKey && $0.draft.recipient == room.people[1].device })
        room.wait(2050)
        room.clearLog()
        _ = try answerWrongly(room, step: step)
        room.hand(packet.draft, from: 0, to: 1)
        #expect(acks(room) == 2)
        #expect(try room.frame(0, 1) && room.people[1].sending == room.people[0].sending && room.frame(1, 0))
    }

    /// A host whose wrap did not open says what it sends under, all the same.
    @Test func anAnswerOfTheHostsWithoutTheSecretProvesNothing() throws {
        let room = try roomWithAMissedRotation()
        let (epoch, _) = try answerWrongly(room)
        let roster = try #require(room.people[0].roster)
        let nonce = try #require(SignalNonce([UInt8](repeating: 1, count: 16)))
        room.step(1, fromHost(.reply(KeyReply(id: nonce, current: epoch, roster: roster, wraps: [])), in: room))
        #expect(room.people[1].sending?.generation == 1)
    }

    /// Whoever passed it on would be the one that gave a wrong secret.
    @Test func theSecretOfAMemberIsNotPassedOn() throws {
        let room = try roomWithAMissedRotation()
        _ = try answerWrongly(room)
        let nonce = try #require(SignalNonce([UInt8](repeating: 1, count: 16)))
        let request = SignalBody.request(KeyRequest(id: nonce, reason: .audioDecryptFailed, newest: 1))
        let draft = room.people[2].draft(request, to: room.people[1].device, at: room.now)
        room.clearLog()
        room.step(1, .signal(room.opened(draft, from: 2, for: 1)))
        let keys = room.sent.filter { $0.from == 1 && $0.draft.body.isReply }.flatMap(\.draft.keys)
        #expect(keys.map(\.epoch.generation) == [1])
    }

    @Test func aFrameOfTheHostsProvesAMembersAnswer() throws {
        let room = try roomWithAMissedRotation()
        let newest = try #require(room.people[2].ring.generations[2]?.newest)
        try answer(room, with: [(newest.epoch, newest.secret)])
        #expect(room.played(1) == 1 && room.people[1].sending?.generation == 1, "it opens frames")
        #expect(try room.frame(2, 1) && room.people[1].sending?.generation == 1)
        #expect(try room.frame(0, 1) && room.people[1].sending == room.people[0].sending)
        #expect(try room.frame(1, 0))
    }

    /// With the relay's help a member makes frames of the host's. They prove nothing of the tenure of the next one.
    @Test func aFrameOfTheHostsProvesNothingAboutAnotherTenure() throws {
        let room = try roomWithAMissedRotation()
        let term = try #require(room.people[1].roster?.termOfSuccession(of: room.people[2].device))
        let epoch = Epoch(term: term, generation: 4, step: 0)
        let secret = GroupSecret(using: &room.people[2].generator)
        try answer(room, with: [(epoch, secret)])
        #expect(room.hand(try frame(room, epoch, secret, as: 0), to: 1))
        #expect(!room.people[1].isHere(epoch))
    }

    /// Held frames are not lost to a secret that opens none of them, of whatever step it is said to be.
    @Test(arguments: [0, 3] as [UInt8])
    func aWrongAnswerLosesNoHeldFrame(step: UInt8) throws {
        let room = try roomWithAMissedRotation()
        let early = try (0..<30).map { _ in try room.people[0].seal([1], .audio) }
        _ = try answerWrongly(room, step: step)
        for frame in early { _ = room.hand(frame, to: 1) }
        room.wait(100, without: [0, 2])
        #expect(room.dropped(1).isEmpty)
        let (body, keys) = try rotation(room)
        room.step(1, fromHost(body, in: room, keys: keys))
        #expect(room.played(1) == 31, "and that of the other member, for which the key was asked")
    }

    /// Frames of a step ahead cost more to try, so that not all are.
    @Test func aWrongAnswerLosesNoFrameOfAStepAhead() throws {
        let room = try roomWithAMissedRotation()
        for number in [0, 2] {
            room.people[number].ring.advance(2, to: 1, at: room.now)
            room.people[number].followSteps(at: room.now)
        }
        let early = try (0..<30).map { _ in try room.people[0].seal([1], .audio) }
        _ = try answerWrongly(room)
        for frame in early { _ = room.hand(frame, to: 1) }
        #expect(room.dropped(1).isEmpty && room.people[1].hold.frames.count == 31)
    }

    /// A member gives the right secret, but of a step that the host has not made: it may be made for somebody who is let in later.
    @Test func aStepThatAMemberMadeUpIsNotSentUnder_andNothingIsOpenedTwice() throws {
        let room = try roomWithAMissedRotation()
        let (epoch, secret) = try #require(room.people[2].ring.generations[2]?.newest)
        let scope = CallScope(callID: room.people[2].callID, term: epoch.term, generation: epoch.generation)
        let turned = secret.turned(from: 0, in: scope).turned(from: 1, in: scope)
        let ahead = Epoch(term: epoch.term, generation: epoch.generation, step: 2)
        try answer(room, with: [(ahead, turned)])
        let opened = try frame(room, ahead, turned)
        #expect(room.hand(opened, to: 1))
        let (body, keys) = try rotation(room)
        room.step(1, fromHost(body, in: room, keys: keys))
        room.step(1, fromHost(.commit(epoch), in: room))
        #expect(room.people[1].sending == epoch)
        #expect(!room.hand(opened, to: 1) && room.dropped(1).last == .replayed)
        #expect(try room.frame(0, 1) && room.frame(1, 0))
    }

    /// The same secret under another term gives other keys.
    @Test func aMembersSecretForAnotherTenureGivesWayToTheHosts() throws {
        let room = try roomWithAMissedRotation()
        let (epoch, secret) = try #require(room.people[2].ring.generations[2]?.newest)
        try answer(room, with: [(Epoch(term: epoch.term + 1, generation: epoch.generation, step: 0), secret)])
        let (body, keys) = try rotation(room)
        room.people[1].install(
            epoch, secret, try #require(room.people[1].roster), isProven: false, at: room.now)
        #expect(room.people[1].ring.term(of: epoch.generation) == epoch.term)
        room.step(1, fromHost(body, in: room, keys: keys))
        #expect(try room.frame(0, 1) && room.frame(1, 0))
    }

    /// Device 1 has the missing secret from device 2 alone, and missed that a fourth came in.
    private func roomWithAnAnswerAndATurn() throws -> (Room, change: SignalDraft, packet: PacketDraft) {
        let room = try roomWithAMissedRotation()
        let newest = try #require(room.people[2].ring.generations[2]?.newest)
        try answer(room, with: [(newest.epoch, newest.secret)])
        #expect(room.people[1].recovery.neededSince == nil)
        room.people.append(
            CallParticipant(
                callID: room.people[0].callID, device: try Room.device(3), generator: SystemRandomNumberGenerator()))
        room.log.append([])
        room.isLost = { _, to in to == 1 }
        room.join(3)
        let change = try #require(room.sent.last { $0.draft.body.isRoster }).draft
        let packet = try #require(
            room.packets.last {
                guard case .signal(let draft) = $0.draft.content else { return false }
                return draft.body.isRoster && $0.draft.recipient == room.people[1].device
            }
        ).draft
        room.clearLog()
        return (room, change, packet)
    }

    /// The host's secret, which is of the step before, has to be turned too.
    @Test func aRosterInAPacketWaitsForTheHostsSecret() throws {
        let (room, _, packet) = try roomWithAnAnswerAndATurn()
        let before = room.people[1].roster
        room.hand(packet, from: 0, to: 1)
        #expect(room.people[1].roster == before && acks(room) == 0)
        let (body, keys) = try rotation(room)
        room.step(1, fromHost(body, in: room, keys: keys))
        room.hand(packet, from: 0, to: 1)
        #expect(room.people[1].roster == room.people[0].roster && room.people[1].sending == room.people[0].sending)
        #expect(try room.frame(1, 3) && room.frame(3, 1))
    }

    @Test func aTurnOfAMembersAnswerIsNotAcknowledged_andTheHostIsAsked() throws {
        let (room, change, packet) = try roomWithAnAnswerAndATurn()
        // Long after the last request.
        room.people[1].recovery.requestedAt = nil
        room.step(1, .signal(room.opened(change, from: 0, for: 1)))
        #expect(room.people[1].roster == room.people[0].roster && room.requests().count == 1 && acks(room) == 0)
        room.hand(packet, from: 0, to: 1)
        #expect(acks(room) == 0)
        room.isLost = { _, _ in false }
        room.wait(2100)
        #expect(room.people[1].sending == room.people[0].sending)
        #expect(try room.frame(1, 3) && room.frame(3, 1))
    }

    /// The host's rotation came to device 1 without a secret that opened: what it announced is known.
    private func roomWithAnAnnouncement() throws -> Room {
        let room = try roomWithAMissedRotation()
        room.isLost = { _, _ in true }
        room.step(1, fromHost(try rotation(room).0, in: room))
        return room
    }

    @Test func anAnswerThatContradictsWhatTheHostAnnouncedIsRefused() throws {
        let room = try roomWithAnAnnouncement()
        let (epoch, _) = try answerWrongly(room)
        #expect(room.refusals(1) == [.wrongCommitment])
        #expect(room.people[1].ring.newestEpoch(of: epoch.generation) == nil)
        // The next one is asked.
        #expect(room.people[1].recovery.request != nil)
    }

    @Test func anAnswerThatFitsWhatTheHostAnnouncedIsSentUnder() throws {
        let room = try roomWithAnAnnouncement()
        let newest = try #require(room.people[2].ring.generations[2]?.newest)
        try answer(room, with: [(newest.epoch, newest.secret)])
        #expect(room.refusals(1).isEmpty)
        room.step(1, fromHost(.commit(newest.epoch), in: room))
        #expect(room.people[1].sending == newest.epoch)
        #expect(try room.frame(1, 0))
    }

    /// Of a later step as well.
    @Test(arguments: [0, 2] as [UInt8])
    func anAnswerThatContradictsAKeyInUseIsRefused(step: UInt8) throws {
        let room = try roomWithAMissedRotation()
        let term = Roster.firstTerm
        let right = try #require(room.people[2].ring.generations[2]?.newest)
        let wrong = GroupSecret(using: &room.people[2].generator)
        try answer(room, with: [(Epoch(term: term, generation: 1, step: step), wrong), (right.epoch, right.secret)])
        #expect(room.refusals(1) == [.wrongCommitment] && room.people[1].ring.newest == 1)
    }

    /// The host answers the second device, with a secret under the epoch in use that nobody else has.
    private func answerOfTheHost(withAnotherSecretIn room: Room) throws {
        let epoch = try #require(room.people[0].sending)
        let key = OfferedKey(
            recipient: room.people[1].device, epoch: epoch, secret: GroupSecret(using: &room.people[0].generator))
        let nonce = try #require(SignalNonce([UInt8](repeating: 1, count: 16)))
        let reply = KeyReply(id: nonce, current: epoch, roster: try #require(room.people[0].roster), wraps: [])
        room.step(1, fromHost(.reply(reply), in: room, keys: [key]))
    }

    /// A host gives one member another secret than it announced to all.
    @Test func anAnswerOfTheHostsThatContradictsItsAnnouncementIsRefused() throws {
        let room = try roomWithAnAnnouncement()
        try answerOfTheHost(withAnotherSecretIn: room)
        #expect(room.refusals(1) == [.wrongCommitment] && room.people[1].ring.newest == 1)
    }

    /// Nothing announces the secrets of a welcome, or of an answer before a rotation was heard of: two members whom the host gave
    /// different ones do not hear each other, and are told.
    @Test func aMemberWithAnotherSecretOfTheHostsReportsUnopenedFrames() throws {
        let room = try roomWithAMissedRotation()
        try answerOfTheHost(withAnotherSecretIn: room)
        #expect(try !room.frame(1, 2) && !room.frame(2, 1))
        #expect(room.dropped(1) == [.notAuthentic] && room.dropped(2) == [.notAuthentic])
    }

    @Test func anAnnouncementStays_andTheOldestOf16IsForgotten() throws {
        let call = try #require(Room.call)
        var (ring, generator) = (KeyRing(suites: CallSuites(), times: CallTimes()), SystemRandomNumberGenerator())
        let secrets = (0..<17).map { _ in GroupSecret(using: &generator) }
        func epoch(_ number: Int) -> Epoch { Epoch(term: 1, generation: UInt32(number) + 1, step: 0) }
        func commitment(_ number: Int) -> [UInt8] {
            secrets[number].commitment(in: CallScope(callID: call, term: 1, generation: UInt32(number) + 1))
        }
        for number in 0..<16 { ring.remember(commitment(number), of: epoch(number)) }
        for _ in 0..<20 { ring.remember(commitment(3), of: epoch(3)) }
        ring.remember([], of: epoch(3))
        #expect((0..<16).allSatisfy { ring.fits(secrets[$0], epoch($0), in: call) == true })
        #expect(ring.fits(secrets[4], epoch(3), in: call) == false)
        ring.remember(commitment(16), of: epoch(16))
        #expect(ring.fits(secrets[0], epoch(0), in: call) == nil)
        #expect(ring.fits(secrets[16], epoch(16), in: call) == true)
    }

    /// The attack: the number after the greatest is none, and whoever takes over makes it.
    @Test func aNumberThatIsFarAheadIsNoAnswerOfAMember() throws {
        let room = try roomWithAMissedRotation()
        let epoch = Epoch(term: Roster.firstTerm, generation: .max - 1, step: 0)
        try answer(room, with: [(epoch, GroupSecret(using: &room.people[2].generator))])
        #expect(room.people[1].ring.newest == 1)
        room.isLost = { _, _ in false }
        room.step(0, .leave)
        #expect(room.people[1].isHost && room.people[1].sending != nil)
    }

    /// The attack: a member who is asked for a key answers with one whose number ends in the same four bits as an earlier one, which
    /// would have to make room.
    @Test func anAnswerOfAMemberTakesNoKeyAway() throws {
        let room = try Room(3)
        for _ in 0..<2 { room.step(0, .suspect) }
        #expect(try room.frame(0, 1))
        let late = try room.people[0].seal([2], .audio)
        for _ in 0..<8 { room.step(0, .suspect) }
        #expect(room.people[1].sending?.generation == 11)
        room.isLost = { draft, to in to == 1 && (draft.body.isRotation || draft.body.isCommit || draft.body.isHeartbeat)
        }
        room.step(0, .suspect)
        room.wait(2050)
        let epoch = Epoch(term: Roster.firstTerm, generation: 3 + 16, step: 0)
        try answer(room, with: [(epoch, GroupSecret(using: &room.people[2].generator))])
        #expect(room.hand(late, to: 1))
    }

    @Test func tenThousandJunkFramesTakeNoKeyAway() throws {
        let room = try Room(2)
        let sending = try #require(room.people[0].sending)
        let good = try room.people[0].seal([1], .audio)
        let keyID = CallKeyID(index: 0, context: .audio, generation: sending.generation, step: sending.step)
        for count in 0..<10_000 {
            let header = [UInt8(0x90 | 8 | 1), UInt8(keyID.rawValue >> 8), UInt8(keyID.rawValue & 255)]
            let bytes = header + [UInt8(count >> 8 | 1), UInt8(count & 255)] + [UInt8](repeating: 7, count: 30)
            room.step(1, .frame(bytes))
            room.log[1] = []
        }
        #expect(room.hand(good, to: 1))
        #expect(room.requests().count <= 1)
    }

    @Test func aFrameOfOnesOwnIsNotOpened() throws {
        let room = try Room(2)
        let own = try room.people[1].seal([1], .audio)
        #expect(!room.hand(own, to: 1))
        #expect(room.dropped(1) == [.own])
    }

    @Test func aFrameIsOpenedOnce() throws {
        let room = try Room(2)
        let frame = try room.people[0].seal([1], .audio)
        #expect(room.hand(frame, to: 1))
        #expect(!room.hand(frame, to: 1))
        #expect(room.dropped(1) == [.replayed])
    }

    @Test func open_refusesMalformedFrames() throws {
        let room = try Room(2)
        for bytes in [[], [0xFF], [0xB0, 0xFF, 0xFF, 0xFF, 0xFF, 0], [0x80, 1]] as [[UInt8]] {
            _ = room.hand(bytes, to: 1)
        }
        #expect(room.dropped(1) == [.malformed, .malformed, .malformed, .malformed])
    }
}
