// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SFrame
import Testing

@testable import CallKeys

/// A member who has the key, with the relay's help, sends frames in the name of another: what that one signs tells.
struct DigestTests {
    /// Everybody's packets arrive at once, unless a test says otherwise.
    private func room(_ count: Int) throws -> Room {
        let room = try Room(count, times: CallTimes())
        room.packetsArrive = { _, _ in true }
        room.wait(1000)
        room.clearLog()
        return room
    }

    private struct Forgery: Equatable {
        let frames: Int
        let sender: CallDevice
        let holders: [CallDevice]?
    }

    private func forgeries(_ room: Room, _ number: Int) -> [Forgery] {
        room.log[number].compactMap {
            if case .forged(let frames, let sender, let holders) = $0 {
                Forgery(frames: frames, sender: sender, holders: holders)
            } else {
                nil
            }
        }
    }

    private func unconfirmed(_ room: Room, _ number: Int) -> Int {
        room.log[number].reduce(0) { if case .unconfirmed(let count, _) = $1 { $0 + count } else { $0 } }
    }

    private func contradicted(_ room: Room, _ number: Int) -> [CallDevice] {
        room.log[number].compactMap { if case .contradicted(let device) = $0 { device } else { nil } }
    }

    /// The first, as the third plays it.
    private func forge(_ room: Room, _ context: MediaContext = .audio, number: UInt64) throws -> [UInt8] {
        try #require(room.people[2].forge([6, 6, 6], as: room.people[0].device, context, number: number))
    }

    private func named(_ room: Room, frames: Int = 1) -> [Forgery] {
        [Forgery(frames: frames, sender: room.people[0].device, holders: [room.people[2].device])]
    }

    /// What arrives at a device from another.
    private func digest(_ room: Room, of number: Int) throws -> (draft: SignalDraft, digest: FrameDigest) {
        for packet in room.packets.reversed() where packet.from == number {
            if case .signal(let draft) = packet.draft.content, case .digest(let digest) = draft.body {
                return (draft, digest)
            }
        }
        return try #require(nil)
    }

    private func say(_ digest: FrameDigest, as sender: Int, to receiver: Int, in room: Room) {
        let sequence = 5_000_000 + UInt64(room.log[receiver].count)
        let signal = OpenedSignal(
            sender: room.people[sender].device, sequence: sequence, body: .digest(digest), keys: [])
        room.step(receiver, .packet(.signal(signal)))
    }

    // MARK: Forgers

    /// The member's own frame comes second, and is taken for a repetition.
    @Test func aFrameInPlaceOfAMembersOwnIsNamedWithinHalfASecond() throws {
        let room = try room(3)
        #expect(room.hand(try forge(room, number: 0), to: 1))
        #expect(!room.hand(try room.people[0].seal([1, 2, 3], .audio), to: 1))
        room.wait(550)
        #expect(forgeries(room, 1) == named(room))
        #expect(forgeries(room, 2).isEmpty && unconfirmed(room, 1) == 0)
    }

    /// No frame of the member's ever has that number.
    @Test(arguments: [0, 7, 40_000]) func aFrameThatAMemberNeverSentIsNamedWithinASecond(_ number: UInt64) throws {
        let room = try room(3)
        #expect(room.hand(try forge(room, number: number), to: 1))
        room.wait(1100)
        #expect(forgeries(room, 1) == named(room))
    }

    @Test func aFrameInAContextThatAMemberDoesNotUseIsNamed() throws {
        let room = try room(3)
        for _ in 0..<5 { #expect(try room.frame(0, 1)) }
        #expect(room.hand(try forge(room, .screen, number: 3), to: 1))
        room.wait(1100)
        #expect(forgeries(room, 1) == named(room))
    }

    @Test func aFrameThatComesAfterTheDigestIsNamedAtOnce() throws {
        let room = try room(3)
        let forged = try forge(room, number: 0)
        _ = try room.people[0].seal([1], .audio)
        room.wait(600)
        #expect(room.hand(forged, to: 1))
        #expect(forgeries(room, 1) == named(room))
    }

    @Test func aFrameUnderAKeyThatItsMemberLeftIsNamedAtOnce() throws {
        let room = try room(3)
        #expect(try room.frame(0, 1))
        let forged = try forge(room, number: 1)
        room.step(0, .suspect)
        room.wait(1000)
        #expect(room.people[0].sending?.generation == 2)
        room.clearLog()
        #expect(room.hand(forged, to: 1))
        #expect(forgeries(room, 1) == named(room))
    }

    @Test func aFrameUnderAKeyThatItsMemberDoesNotUseYetIsNamed() throws {
        let room = try room(3)
        // The first waits for acks.
        room.isLost = { _, to in to == 0 }
        room.packetsArrive = { draft, _ in draft.isDigest }
        room.step(0, .suspect)
        let epoch = try #require(room.people[0].sending)
        room.people[2].reached = Epoch(term: epoch.term, generation: epoch.generation + 1, step: 0)
        #expect(room.hand(try forge(room, number: 0), to: 1))
        room.wait(1100)
        #expect(room.people[0].sending == epoch && forgeries(room, 1) == named(room))
    }

    @Test func aNewMemberMayHaveTheKeyToo_soNoMemberIsNamed() throws {
        let room = try room(4)
        let epoch = try #require(room.people[2].sending)
        // A step of which the host has told the third alone.
        room.people[2].ring.advance(epoch.generation, to: epoch.step + 1, at: room.now)
        room.people[2].reached = Epoch(term: epoch.term, generation: epoch.generation, step: epoch.step + 1)
        #expect(room.hand(try forge(room, number: 0), to: 1))
        room.wait(1100, without: [2])
        #expect(forgeries(room, 1) == [Forgery(frames: 1, sender: room.people[0].device, holders: nil)])
    }

    @Test func inACallOfTwoNoOtherMemberHasTheKey() throws {
        let room = try room(2)
        let frame = try room.people[0].seal([1], .audio)
        #expect(room.hand(frame, to: 1))
        room.people[0].digests.sent = SentFrames()
        room.wait(1100)
        #expect(forgeries(room, 1) == [Forgery(frames: 1, sender: room.people[0].device, holders: [])])
    }

    // MARK: Members that lie about themselves

    @Test func aMemberThatSignsTwoFramesWithOneNumberIsNamed() throws {
        let room = try room(3)
        #expect(try room.frame(0, 1))
        room.wait(600)
        let said = try digest(room, of: 0).digest
        let stream = try #require(said.sent[0].streams.first)
        let other = FrameDigest.Stream(context: stream.context, count: stream.count, hashes: stream.hashes.map { ~$0 })
        let sent = FrameDigest.Sent(epoch: said.sent[0].epoch, index: said.sent[0].index, streams: [other])
        say(try FrameDigest(mark: 1, heard: [], sent: [sent]), as: 0, to: 1, in: room)
        #expect(contradicted(room, 1) == [room.people[0].device] && forgeries(room, 1).isEmpty)
    }

    /// Another's mark, repeated as one's own, makes nobody answer what they have not heard.
    @Test func aMarkIsAnsweredOnlyAfterItWasMade() throws {
        let room = try room(3)
        room.wait(600)
        #expect(try room.frame(0, 1))
        let said = try digest(room, of: 0).digest
        room.packetsArrive = { _, _ in false }
        let early = try FrameDigest(
            mark: 2, heard: said.heard,
            sent: [FrameDigest.Sent(epoch: said.sent[0].epoch, index: said.sent[0].index, streams: [])])
        // Made before the frame was opened, and heard late: it says nothing of the frame.
        say(early, as: 0, to: 1, in: room)
        #expect(forgeries(room, 1).isEmpty)
    }

    @Test func digest_refusesAnotherMembersDigest() throws {
        let room = try room(3)
        room.wait(600)
        #expect(try room.frame(0, 1))
        room.packetsArrive = { _, _ in false }
        let said = try digest(room, of: 2).digest
        let lie = try FrameDigest(
            mark: 3, heard: room.people[1].digests.marks.map(\.mark).sorted(),
            sent: [FrameDigest.Sent(epoch: said.sent[0].epoch, index: 0, streams: [])])
        say(lie, as: 2, to: 1, in: room)
        #expect(forgeries(room, 1).isEmpty)
    }

    @Test func aDigestIsAcceptedOnce() throws {
        let room = try room(3)
        room.packetsArrive = { _, _ in false }
        room.wait(600)
        let sent = try #require(
            room.packets.last { $0.from == 0 && $0.draft.recipient == room.people[1].device })
        room.hand(sent.draft, from: 0, to: 1)
        let heard = try #require(room.people[1].digests.marksHeard[room.people[0].device])
        room.now += 5000
        room.hand(sent.draft, from: 0, to: 1)
        #expect(room.people[1].digests.marksHeard[room.people[0].device]?.at == heard.at)
    }

    @Test func digest_refusesAStrangersDigest() throws {
        let room = try room(2)
        room.wait(600)
        let stranger = try Room.device(9)
        let said = try digest(room, of: 0).digest
        room.step(
            1, .packet(.signal(OpenedSignal(sender: stranger, sequence: 1, body: .digest(said), keys: []))))
        #expect(room.people[1].digests.marksHeard[stranger] == nil && room.people[1].digests.heard[stranger] == nil)
    }

    // MARK: What nothing is said of

    /// A frame that was opened before a digest that answers it, of a sender that has sent nothing.
    private func isForged(_ name: FrameName) throws -> Bool {
        var heard = HeardFrames()
        let isForeign = heard.open(name, 1, made: 3, at: 0)
        #expect(!isForeign)
        let sent = FrameDigest.Sent(epoch: Self.epoch, index: 5, streams: [])
        return heard.compare(try FrameDigest(mark: 1, heard: [], sent: [sent]), answered: 3) == [name]
    }

    private static let epoch = Epoch(term: 2, generation: 6, step: 1)

    private func name(_ epoch: Epoch = epoch, index: UInt16 = 5) -> FrameName {
        FrameName(epoch: epoch, index: index, context: 0, counter: 0)
    }

    @Test func digest_refusesAnotherTenureOrIndex() throws {
        #expect(try isForged(name()))
        #expect(try isForged(name(Epoch(term: 2, generation: 7, step: 0))))
        #expect(try !isForged(name(Epoch(term: 3, generation: 7, step: 0))))
        #expect(try !isForged(name(Epoch(term: 2, generation: 6, step: 0))))
        #expect(try !isForged(name(index: 4)))
    }

    @Test func memoryIsBounded() throws {
        var heard = HeardFrames()
        for counter in 0..<5000 as Range<UInt64> {
            _ = heard.open(
                FrameName(epoch: Self.epoch, index: 5, context: 0, counter: counter), counter, made: 0, at: counter)
        }
        let counts = [heard.giveUp(before: 0), heard.giveUp(before: 4990)]
        #expect(counts == [5000 - HeardFrames.frameCount, HeardFrames.frameCount - 10])
    }

    // MARK: Honest members

    @Test func honestFramesAccuseNoMember_inAnyOrder() throws {
        let room = try room(3)
        var late: [[UInt8]] = []
        for number in 0..<100 {
            let frame = try room.people[0].seal([UInt8(number)], number % 2 == 0 ? .audio : .camera)
            if number % 3 == 0 { late.append(frame) } else { #expect(room.hand(frame, to: 1)) }
            if number == 50 { room.step(0, .suspect) }
            room.wait(50)
        }
        // Some of them under a key that is wiped by now.
        for frame in late.reversed() { _ = room.hand(frame, to: 1) }
        room.wait(4000)
        #expect(forgeries(room, 1).isEmpty && unconfirmed(room, 1) == 0)
    }

    /// Rotations, joins, leaves and a killed host, with a tenth of all packets lost, and frames up to two seconds late.
    @Test func honestCallsAccuseNoMember() async throws {
        var chance = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            let room = try room(4)
            room.packetsArrive = { _, _ in UInt8.random(in: 0..<10, using: &chance) > 0 }
            var late: [(at: UInt64, to: Int, frame: [UInt8])] = []
            var gone: Set<Int> = []
            for round in 0..<400 {
                await Task.yield()  // Tests of real servers share the threads.
                if round == 60 { room.step(0, .suspect) }
                if round == 120 { room.step(3, .leave) }
                if round == 160 { room.join(3) }
                if round == 240 { gone = [0] }
                for sender in room.people.indices where !gone.contains(sender) {
                    guard let frame = try? room.people[sender].seal([UInt8(round % 250)], .audio) else { continue }
                    for receiver in room.people.indices where receiver != sender && !gone.contains(receiver) {
                        late.append((room.now + UInt64.random(in: 0..<2000, using: &chance), receiver, frame))
                    }
                }
                for arrival in late where arrival.at <= room.now { _ = room.hand(arrival.frame, to: arrival.to) }
                late.removeAll { $0.at <= room.now }
                room.wait(50, without: gone)
            }
            for number in room.people.indices { #expect(forgeries(room, number).isEmpty) }
            for number in room.people.indices { #expect(contradicted(room, number).isEmpty) }
        }
    }

    @Test func lostDigestsAccuseNoMember_andAreCounted() throws {
        let room = try room(3)
        room.packetsArrive = { _, _ in false }
        for _ in 0..<5 { #expect(try room.frame(0, 1)) }
        room.wait(4000)
        #expect(forgeries(room, 1).isEmpty && unconfirmed(room, 1) == 5)
    }

    @Test func oneDigestOfFourIsEnough() throws {
        let room = try room(2)
        var count = 0
        room.packetsArrive = { _, from in
            guard from == 0 else { return true }
            count += 1
            return count.isMultiple(of: 4)
        }
        for _ in 0..<20 {
            #expect(try room.frame(0, 1))
            room.wait(100)
        }
        room.packetsArrive = { _, _ in true }
        room.wait(4000)
        #expect(unconfirmed(room, 1) == 0)
    }

    @Test func theLastFramesAreConfirmedWhenTheirMemberLeaves() throws {
        let room = try room(3)
        #expect(try room.frame(2, 1))
        room.step(2, .leave)
        room.wait(4000, without: [2])
        #expect(unconfirmed(room, 1) == 0 && forgeries(room, 1).isEmpty)
    }

    @Test func aMemberBackInAnEarlierEpochSignsNothingAboutIt() {
        var sent = SentFrames()
        let epoch = Epoch(term: 1, generation: 2, step: 0)
        sent.append(FrameName(epoch: epoch, index: 0, context: 0, counter: 0), 7)
        sent.begin(Epoch(term: 9, generation: 1, step: 0), 0)
        var digests = [sent.next(mark: 1, heard: [])]
        sent.begin(epoch, 0)
        digests.append(sent.next(mark: 2, heard: []))
        sent.append(FrameName(epoch: epoch, index: 0, context: 0, counter: 1), 8)
        digests.append(sent.next(mark: 3, heard: []))
        #expect(digests.map { $0?.sent.count } == [1, nil, nil])
    }

    // MARK: Cost

    @Test func eachMemberSignsOnceInHalfASecond_forAllRecipients() throws {
        let room = try Room(5, times: CallTimes())
        room.wait(1000)
        let actions = room.log[0].count { if case .sendPacket(let draft) = $0 { draft.isDigest } else { false } }
        #expect(actions == 2)
    }

    @Test func aLargeCallIsServedInTurn() throws {
        let room = try Room(40, times: CallTimes())
        room.wait(1000)
        let drafts = room.log[0].compactMap {
            if case .sendPacket(let draft) = $0, draft.isDigest { draft.recipients } else { nil }
        }
        #expect(drafts.map(\.count).allSatisfy { $0 <= PacketDraft.digestCount } && drafts.count == 2)
        #expect(Set(drafts.joined()).count == 39)
    }

    /// At fifty frames a second of each of a hundred members, with more contexts than are used.
    @Test func everyDigestFitsIntoAPacket() throws {
        var sent = SentFrames()
        for generation in 1...5 as ClosedRange<UInt32> {
            let epoch = Epoch(term: 1 << 16, generation: generation, step: 3)
            for context in 0..<4 as Range<UInt8> {
                for counter in 0..<500 as Range<UInt64> {
                    sent.append(FrameName(epoch: epoch, index: 3, context: context, counter: counter), counter)
                }
            }
        }
        let next = sent.next(mark: 1, heard: Array(0..<63))
        let digest = try #require(next)
        #expect(digest.sent.count == 3 && digest.sent[0].count(of: 3) == 500)
        let draft = SignalDraft(
            recipient: nil, term: 1, sequence: 1, sentAt: 1, body: .digest(digest), keys: [])
        let device = try Room.device(0)
        let signal = draft.signed(by: device, in: try #require(Room.call), agreementKey: { _ in nil }) { _ in
            [UInt8](repeating: 0, count: 64)
        }
        #expect(try Signal(decoding: signal.encoded).content.body == .digest(digest))
        #expect(KeyPacket.signal(signal).encoded.count + DeviceBox.overhead <= KeyPacket.maximumByteCount)
    }
}

extension PacketDraft {
    fileprivate var isDigest: Bool {
        if case .signal(let draft) = content, case .digest = draft.body { true } else { false }
    }
}
