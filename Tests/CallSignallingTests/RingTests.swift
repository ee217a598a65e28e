// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import CallSignalling

/// Who rings in another's name, rings again with what was said once, rings a thousand times, or answers for another.
struct RingTests {
    static let now: UInt64 = 10_000_000_000
    let cast: Cast
    var rings: IncomingRings

    init() throws {
        cast = try Cast()
        rings = IncomingRings(of: cast.member.device, Array("member@example.org".utf8), remembering: RingMemory())
    }

    private var hosts: Set<CallDevice> { [cast.host.device] }

    private func content(
        _ body: SignalBody, from sender: Actor, to recipient: Actor?, at time: UInt64 = now
    ) -> Signal.Content {
        Signal.Content(
            callID: cast.callID, sender: sender.device, recipient: recipient?.device, term: 0, sequence: time,
            sentAt: time, body: body)
    }

    private func signal(
        _ ring: Ring, from sender: Actor? = nil, to recipient: Actor? = nil, at time: UInt64 = now
    ) throws
        -> Signal
    {
        let sender = sender ?? cast.host
        return try sender.sign(content(.ring(ring), from: sender, to: recipient ?? cast.member, at: time))
    }

    private mutating func hear(
        _ signal: Signal, accepted: Set<CallDevice>? = nil, at time: UInt64 = now
    ) throws(RingRefusal) -> ScreenedRing {
        guard case .ring(let ring) = signal.content.body else { throw .unknownRing }
        return try rings.screen(signal, ring, accepted: accepted ?? [cast.host.device], at: time)
    }

    private mutating func refusal(
        _ signal: Signal, accepted: Set<CallDevice>? = nil, at time: UInt64 = now
    ) -> RingRefusal? {
        do throws(RingRefusal) { _ = try hear(signal, accepted: accepted, at: time) } catch { return error }
        return nil
    }

    // MARK: Rings

    @Test mutating func aRingOfSomebodyAcceptedRings_andStopsByItself() throws {
        let heard = try hear(signal(cast.ring()))
        try rings.begin(heard, devices: hosts)
        #expect(rings.ringing == [heard] && heard.endsAt == Self.now + 45_000)
        #expect(rings.tick(at: Self.now + 44_999).isEmpty)
        #expect(rings.tick(at: Self.now + 45_000) == [heard] && rings.ringing.isEmpty)
    }

    @Test mutating func whoIsNotAcceptedDoesNotRing() throws {
        let signal = try signal(cast.ring())
        #expect(throws: RingRefusal.stranger) {
            try rings.screen(signal, cast.ring(), accepted: nil, at: Self.now)
        }
    }

    @Test mutating func nobodyRingsInAnothersName() throws {
        // Signed by Eve with her own device, naming the host as the caller.
        let heard = try hear(signal(cast.ring(), from: cast.other))
        #expect(throws: RingRefusal.anotherDevice) { try rings.begin(heard, devices: hosts) }
        // Naming the host's device, signed by Eve.
        let named = content(.ring(try cast.ring(id: 7)), from: cast.host, to: cast.member)
        let forged = try cast.other.sign(named)
        #expect(refusal(forged) == .invalidSignature && rings.ringing.isEmpty)
    }

    @Test mutating func aRingForAnotherDeviceOrPersonOrForEverybodyIsRefused() throws {
        #expect(try refusal(signal(cast.ring(), to: cast.other)) == .anotherRecipient)
        let toAll = try cast.host.sign(content(.ring(cast.ring()), from: cast.host, to: nil))
        #expect(refusal(toAll) == .anotherRecipient)
        let others = [Array("other@example.org".utf8)]
        let ring = try Ring(id: cast.ring().id, duration: 45, caller: Array("host@example.org".utf8), others: others)
        #expect(try refusal(signal(ring)) == .anotherPerson)
    }

    @Test mutating func aRingIsHeardOnce_alsoByTheNextProcess() throws {
        let signal = try signal(cast.ring())
        _ = try hear(signal)
        #expect(refusal(signal) == .replayed)
        let kept = try #require(RingMemory(decoding: rings.memory.encoded))
        rings = IncomingRings(of: cast.member.device, Array("member@example.org".utf8), remembering: kept)
        #expect(refusal(signal, at: Self.now + 20_000) == .replayed)
        // Whoever signs the same again at another time changes nothing.
        #expect(try refusal(self.signal(cast.ring(), at: Self.now + 1)) == .replayed)
    }

    @Test mutating func aLateRingIsAMissedCall_onceAndForAnHour() throws {
        let signal = try signal(cast.ring())
        #expect(refusal(signal, at: Self.now + 45_000) == .late)
        #expect(refusal(signal, at: Self.now + 46_000) == .replayed)
        let another = try self.signal(cast.ring(id: 8))
        #expect(refusal(another, at: Self.now + IncomingRings.keptFor + IncomingRings.clockSkew) == .late)
        #expect(refusal(signal, at: Self.now + IncomingRings.keptFor + IncomingRings.clockSkew + 1) == .outdated)
    }

    @Test mutating func aRingOfATimeToComeIsRefused() throws {
        let ahead = try signal(cast.ring(), at: Self.now + IncomingRings.clockSkew + 1)
        #expect(refusal(ahead) == .early)
        let soon = try hear(signal(cast.ring(id: 8), at: Self.now + IncomingRings.clockSkew))
        #expect(soon.endsAt == Self.now + 45_000, "it rings no longer than it says")
    }

    @Test mutating func aThousandRingsAreFive_andNobodyElseIsHeardLess() throws {
        var heard = 0
        for number in 0..<1000 {
            let id = SignalNonce((0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 2 * 8)) })
            let ring = try Ring(
                id: #require(id), duration: 45, caller: cast.ring().caller, others: cast.ring().others)
            let time = Self.now + UInt64(number)
            if refusal(try signal(ring, at: time), at: time) == nil { heard += 1 }
        }
        #expect(heard == IncomingRings.ringsPerPace)
        // Devices that nobody knows, in the name of whom they like, share a pace of their own.
        for number in 0..<10 as Range<UInt8> {
            let ring = try Ring(
                id: cast.ring(id: number).id, duration: 45, caller: Array("friend@example.org".utf8),
                others: cast.ring().others)
            let expected: RingRefusal? = number < IncomingRings.ringsPerPace ? nil : .tooOften
            #expect(refusal(try signal(ring, from: cast.other), accepted: hosts) == expected)
        }
        let friend = try Ring(
            id: cast.ring(id: 99).id, duration: 45, caller: Array("friend@example.org".utf8), others: cast.ring().others
        )
        _ = try hear(signal(friend, from: cast.other), accepted: [cast.other.device])
        let later = Self.now + IncomingRings.pace + 1000
        #expect(refusal(try signal(cast.ring(id: 100), at: later), at: later) == nil)
    }

    @Test mutating func inACallAndWithManyRinging_itIsBusy() throws {
        for number in 0..<5 as Range<UInt8> {
            let caller = try Actor(20 + number)
            let ring = try Ring(
                id: cast.ring().id, duration: 45, caller: Array("p\(number)@example.org".utf8),
                others: cast.ring().others)
            let heard = try hear(signal(ring, from: caller), accepted: [caller.device])
            if number < IncomingRings.capacity {
                try rings.begin(heard, devices: [caller.device])
            } else {
                #expect(throws: RingRefusal.busy) { try rings.begin(heard, devices: [caller.device]) }
            }
        }
        rings = IncomingRings(
            of: cast.member.device, Array("member@example.org".utf8), remembering: RingMemory(), isBusy: true)
        let heard = try hear(signal(cast.ring()))
        #expect(throws: RingRefusal.busy) { try rings.begin(heard, devices: hosts) }
    }

    @Test mutating func onlyTheDeviceThatRingsEndsIt() throws {
        let heard = try hear(signal(cast.ring()))
        try rings.begin(heard, devices: hosts)
        let end = RingEnd(.over, of: heard.ring.id)
        func attempt(_ signal: Signal) -> RingRefusal? {
            do throws(RingRefusal) { _ = try rings.end(signal, end) } catch { return error }
            return nil
        }
        let body = SignalBody.ringEnd(end)
        #expect(attempt(try cast.other.sign(content(body, from: cast.other, to: cast.member))) == .anotherSender)
        #expect(attempt(try cast.other.sign(content(body, from: cast.host, to: cast.member))) == .invalidSignature)
        #expect(attempt(try cast.host.sign(content(body, from: cast.host, to: cast.other))) == .anotherRecipient)
        #expect(attempt(try cast.host.sign(content(body, from: cast.host, to: cast.member))) == nil)
        #expect(attempt(try cast.host.sign(content(body, from: cast.host, to: cast.member))) == .unknownRing)
    }

    // MARK: The memory

    @Test mutating func theMemoryIsReadStrictly() throws {
        for number in 0..<3 as Range<UInt8> { _ = try hear(signal(cast.ring(id: number))) }
        let bytes = rings.memory.encoded
        #expect(RingMemory(decoding: bytes) == rings.memory && bytes.count == 16 + 2 + 3 * 24)
        for length in 0..<bytes.count { #expect(RingMemory(decoding: Array(bytes[..<length])) == nil) }
        #expect(RingMemory(decoding: bytes + [0]) == nil)
        #expect(RingMemory(decoding: [UInt8](repeating: 0, count: RingMemory.maximumByteCount + 1)) == nil)
        let swapped = Array(bytes[..<18] + bytes[42..<66] + bytes[18..<42] + bytes[66...])
        #expect(RingMemory(decoding: swapped) == nil, "out of order")
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            var damaged = bytes
            damaged[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                1 << UInt8.random(in: 0..<8, using: &generator)
            if let memory = RingMemory(decoding: damaged) { #expect(memory.encoded == damaged) }
        }
    }

    @Test func aRingHasBoundsAndOneOrder() throws {
        let id = try cast.ring().id
        let (a, b) = (Array("a@b.org".utf8), Array("c@d.org".utf8))
        func refused(_ duration: UInt16, _ caller: [UInt8], _ others: [[UInt8]]) -> Bool {
            (try? Ring(id: id, duration: duration, caller: caller, others: others)) == nil
        }
        #expect(!refused(5, a, [b]) && !refused(120, a, [b]))
        #expect(refused(4, a, [b]) && refused(121, a, [b]) && refused(45, a, []) && refused(45, a, [a]))
        #expect(refused(45, a, [b, b]) && refused(45, Array("x".utf8), [b, a]) && refused(45, [], [b]))
        #expect(refused(45, [UInt8](repeating: 1, count: 256), [b]))
        let many = (0..<33).map { [UInt8($0)] }
        #expect(refused(45, a, many) && !refused(45, a, Array(many.dropLast())))
    }

    @Test func ring_refusesUndefinedNumbers() throws {
        let body = 22 + 16 + 32 + 32 + 4 + 8 + 8 + 2
        for (kind, offset) in [
            (SignalBody.ringAnswer(RingAnswer(.accept, to: try cast.ring().id)), 17),
            (.ringEnd(RingEnd(.over, of: try cast.ring().id)), 17),
        ] {
            var bytes = try cast.host.sign(cast.content(kind)).encoded
            for value in [0, 4, 255] as [UInt8] {
                bytes[body + offset] = value
                #expect(throws: SignalDecodingError.unknownReason(value)) { try Signal(decoding: bytes) }
            }
        }
        var bytes = try cast.host.sign(cast.content(.ring(cast.ring()))).encoded
        bytes[body + 18] = 1
        #expect(throws: SignalDecodingError.invalidRing) { try Signal(decoding: bytes) }
    }
}

/// The caller's side: the first device that answers decides for its person, and for nobody else.
struct OutgoingRingTests {
    let cast: Cast
    let phone: Actor
    let bob = Array("member@example.org".utf8)
    let carol = Array("other@example.org".utf8)
    var out: OutgoingRing

    init() throws {
        cast = try Cast()
        phone = try Actor(11)
        out = OutgoingRing(
            id: try cast.ring().id,
            people: [bob: [cast.member.device, phone.device], carol: [cast.other.device]], until: 1000)
    }

    private func answer(
        _ answer: RingAnswer.Answer, _ sender: Actor, id: UInt8 = 6, to recipient: Actor? = nil
    ) throws -> (VerifiedSignal, RingAnswer) {
        let answer = RingAnswer(answer, to: try cast.ring(id: id).id)
        let content = Signal.Content(
            callID: cast.callID, sender: sender.device, recipient: (recipient ?? cast.host).device, term: 0,
            sequence: 1, sentAt: 1, body: .ringAnswer(answer))
        return (try sender.sign(content).verify(for: cast.host.device, in: cast.callID), answer)
    }

    private mutating func take(_ kind: RingAnswer.Answer, _ sender: Actor, id: UInt8 = 6) throws -> [RingAction] {
        let (signal, answer) = try answer(kind, sender, id: id)
        return try out.take(signal, answer)
    }

    @Test mutating func oneAccepts_andTheOthersOfTheSamePersonStop() throws {
        let actions = try take(.accept, phone)
        #expect(
            actions == [
                .end(cast.member.device, RingEnd(.acceptedElsewhere, of: out.id)),
                .settled(bob, .accepted(phone.device)),
            ])
        #expect(out.outcome(of: carol) == nil && !out.isSettled)
        #expect(try take(.accept, cast.member) == [.end(cast.member.device, RingEnd(.acceptedElsewhere, of: out.id))])
        #expect(out.outcome(of: bob) == .accepted(phone.device))
    }

    @Test mutating func oneDeclines_andItIsDeclined() throws {
        let actions = try take(.decline, cast.member)
        #expect(
            actions == [.end(phone.device, RingEnd(.declinedElsewhere, of: out.id)), .settled(bob, .declined)])
        #expect(try take(.decline, cast.other) == [.settled(carol, .declined)] && out.isSettled)
    }

    @Test mutating func busyIsWhoIsBusyOnEveryDevice_orOnOneWhenTheTimeIsOver() throws {
        #expect(try take(.busy, cast.other) == [.settled(carol, .busy)])
        #expect(try take(.busy, phone).isEmpty)
        #expect(out.tick(at: 999).isEmpty)
        #expect(
            out.tick(at: 1000) == [
                .end(cast.member.device, RingEnd(.over, of: out.id)), .settled(bob, .busy),
            ])
        #expect(out.isSettled && out.tick(at: 2000).isEmpty)
    }

    @Test mutating func whoDoesNotAnswerHasMissedIt_andMayStillComeIn() throws {
        _ = out.cancel()
        #expect(out.outcome(of: carol) == .missed && out.outcome(of: bob) == .missed)
        #expect(try take(.accept, cast.other) == [.settled(carol, .accepted(cast.other.device))])
        #expect(try take(.decline, cast.member).isEmpty && out.outcome(of: bob) == .missed)
    }

    @Test mutating func nobodyAnswersForAnother() throws {
        // Carol, who was rung too, speaks for Carol; whoever was not rung for nobody.
        _ = try take(.decline, cast.other)
        #expect(out.outcome(of: bob) == nil && out.outcome(of: carol) == .declined)
        #expect(throws: RingRefusal.anotherSender) { try take(.accept, try Actor(40)) }
        // Another ring's answer, and the same one again.
        #expect(throws: RingRefusal.unknownRing) { try take(.accept, phone, id: 7) }
        _ = try take(.busy, phone)
        #expect(throws: RingRefusal.replayed) { try take(.accept, phone) }
        // A signature of another device than the one named is refused before.
        let answer = RingAnswer(.accept, to: out.id)
        let content = Signal.Content(
            callID: cast.callID, sender: cast.member.device, recipient: cast.host.device, term: 0, sequence: 1,
            sentAt: 1, body: .ringAnswer(answer))
        #expect(throws: SignalVerificationError.invalidSignature) {
            try cast.other.sign(content).verify(for: cast.host.device, in: cast.callID)
        }
    }

    /// An answer to everybody is none: it has to be for the device that rings.
    @Test mutating func anAnswerIsForTheCallerAlone() throws {
        let answer = RingAnswer(.accept, to: out.id)
        let signal = try phone.sign(
            Signal.Content(
                callID: cast.callID, sender: phone.device, recipient: nil, term: 0, sequence: 1, sentAt: 1,
                body: .ringAnswer(answer))
        ).verify(for: cast.host.device, in: cast.callID)
        #expect(throws: RingRefusal.anotherRecipient) { try out.take(signal, answer) }
    }
}
