import CallSignalling
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

    @Test func aWrongSecretOfAMemberGivesWayToARightOne() throws {
        let room = try roomWithAMissedRotation()
        let frame = try room.people[2].seal([1], .audio)
        room.isLost = { _, _ in true }
        _ = room.hand(frame, to: 1)
        room.wait(1300, without: [0, 2])
        let request = try #require(room.requests().last)
        guard case .request(let body) = request.draft.body, let roster = room.people[1].roster,
            let epoch = room.people[2].sending
        else { return }
        var generator = SystemRandomNumberGenerator()
        let wrong = OfferedKey(
            recipient: room.people[1].device, epoch: epoch, secret: GroupSecret(using: &generator))
        let reply = KeyReply(id: body.id, current: epoch, roster: roster, wraps: [])
        room.step(
            1,
            .signal(
                OpenedSignal(
                    sender: room.people[2].device, sequence: 1 << 50, body: .reply(reply), keys: [wrong])))
        #expect(room.people[1].sending?.generation == 1)
        let second = try room.people[0].seal([1], .audio)
        #expect(!room.hand(second, to: 1))
        room.isLost = { _, _ in false }
        room.wait(2100)
        #expect(try room.frame(0, 1) && room.frame(2, 1) && room.frame(1, 0))
    }

    /// The attack: a member who is asked for a key answers with one whose number ends in the same four bits as the one in use, which
    /// would have to make room.
    @Test func anAnswerOfAMemberTakesNoKeyInUseAway() throws {
        let room = try roomWithAMissedRotation()
        _ = try room.people[1].seal([1], .audio)
        let sending = try #require(room.people[1].sending)
        let frame = try room.people[2].seal([1], .audio)
        room.isLost = { _, _ in true }
        _ = room.hand(frame, to: 1)
        room.wait(1300, without: [0, 2])
        let request = try #require(room.requests().last)
        guard case .request(let body) = request.draft.body, let roster = room.people[1].roster else {
            Issue.record("no request")
            return
        }
        var generator = SystemRandomNumberGenerator()
        let epoch = Epoch(term: sending.term, generation: sending.generation + 16, step: 0)
        let key = OfferedKey(recipient: room.people[1].device, epoch: epoch, secret: GroupSecret(using: &generator))
        let reply = KeyReply(id: body.id, current: epoch, roster: roster, wraps: [])
        room.step(
            1,
            .signal(
                OpenedSignal(sender: room.people[2].device, sequence: 1 << 50, body: .reply(reply), keys: [key])))
        #expect(room.people[1].sending == sending)
        _ = try room.people[1].seal([2], .audio)
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

    @Test func whatIsNoFrameIsMalformed() throws {
        let room = try Room(2)
        for bytes in [[], [0xFF], [0xB0, 0xFF, 0xFF, 0xFF, 0xFF, 0], [0x80, 1]] as [[UInt8]] {
            _ = room.hand(bytes, to: 1)
        }
        #expect(room.dropped(1) == [.malformed, .malformed, .malformed, .malformed])
    }
}
