// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Meeting

/// What two people give each other who have met: the network between them, and a person who keeps to no rule.
@Suite struct MeetingGiftTests {
    private func host(_ seed: UInt8 = 1) throws -> MeetingChannel {
        MeetingChannel(try Scene(seed: seed).keys(), as: .host)
    }

    private func guest(_ seed: UInt8 = 1) throws -> MeetingChannel {
        MeetingChannel(try Scene(seed: seed).keys(), as: .guest)
    }

    private func message(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    @Test(arguments: [0, 1, 16_366, 16_367, 16_368, 40_000, 262_144]) func messagesOfEveryLengthArrive(
        count: Int
    ) throws {
        var host = try host()
        var guest = try guest()
        for _ in 0..<2 {
            let frames = try host.frames(of: message(count))
            #expect(frames.allSatisfy { $0.count <= MeetingChannel.maximumFrameByteCount })
            for (place, frame) in frames.enumerated() {
                let received = try guest.receive(frame)
                #expect((received != nil) == (place == frames.count - 1))
                if let received { #expect(received == message(count)) }
            }
        }
        var back = try guest.frames(of: [7])
        #expect(try host.receive(back.removeFirst()) == [7])
    }

    @Test func aMessageThatIsTooLongIsNotSent() throws {
        var host = try host()
        let refusal = refusal { _ = try host.frames(of: [UInt8](repeating: 0, count: 262_145)) }
        #expect(refusal == .malformed)
    }

    /// A person who sends a message without an end.
    @Test func aMessageWithoutAnEndIsRefused() throws {
        var host = try host()
        let most = try host.frames(of: message(262_144)).dropLast()
        var other = try self.host()
        for _ in most { _ = try other.frames(of: []) }
        let oneMore = try other.frames(of: message(40_000))[0]
        var guest = try guest()
        for frame in most { #expect(try guest.receive(frame) == nil) }
        let outcome = refusal { _ = try guest.receive(oneMore) }
        #expect(outcome == .malformed)
    }

    @Test func frames_refuseAChangeAtEachPosition() throws {
        var host = try host()
        let frame = try host.frames(of: message(40))[0]
        for spot in frame.indices {
            var changed = frame
            var guest = try guest()
            changed[spot] ^= 1
            let outcome = refusal { _ = try guest.receive(changed) }
            #expect(outcome == .notOpened)
        }
    }

    @Test func framesThatAreLostRepeatedMovedOrSentBackAreRefused() throws {
        var host = try host()
        let frames = try host.frames(of: [1]) + host.frames(of: [2])
        var behind = try guest()
        let lost = refusal { _ = try behind.receive(frames[1]) }
        #expect(lost == .notOpened)
        var twice = try guest()
        #expect(try twice.receive(frames[0]) == [1])
        let repeated = refusal { _ = try twice.receive(frames[0]) }
        #expect(repeated == .notOpened)
        var sender = try self.host()
        let back = refusal { _ = try sender.receive(frames[0]) }
        #expect(back == .notOpened)
        var other = try guest(2)
        let moved = refusal { _ = try other.receive(frames[0]) }
        #expect(moved == .notOpened)
        var short = try guest()
        let cut = refusal { _ = try short.receive([]) }
        #expect(cut == .notOpened)
    }

    @Test func aMeetingHasOneChannel() throws {
        var concluded = try Scene().concludedHost()
        let (first, second) = (concluded.takeChannel() != nil, concluded.takeChannel() != nil)
        #expect(first && !second)
    }

    // MARK: The gift

    private func gift(
        _ tokens: [[UInt8]] = [[UInt8](repeating: 1, count: 32)], card: [UInt8]? = [1, 2]
    ) throws -> MeetingGift {
        try require(MeetingGift(tokens: tokens, comparesContacts: true, card: card))
    }

    @Test func aGiftIsReadAsItIsWritten_andItsLengthSaysLittle() throws {
        for gift in [try gift(), try gift([], card: nil), try gift(card: [UInt8](repeating: 5, count: 8192))] {
            #expect(try MeetingGift(decoding: gift.encoded) == gift)
            #expect(gift.encoded.count.isMultiple(of: 2048))
        }
        #expect(try gift([], card: nil).encoded.count == gift(card: [UInt8](repeating: 5, count: 1900)).encoded.count)
    }

    @Test func aGiftOfAnotherFormIsRefused() throws {
        #expect(MeetingGift(tokens: [[1]], comparesContacts: false, card: nil) == nil)
        let token = [UInt8](repeating: 1, count: 32)
        #expect(MeetingGift(tokens: [token, token, token], comparesContacts: false, card: nil) == nil)
        #expect(MeetingGift(tokens: [], comparesContacts: false, card: []) == nil)
        #expect(MeetingGift(tokens: [], comparesContacts: false, card: [UInt8](repeating: 0, count: 8193)) == nil)
        let good = try gift().encoded
        var wrong = [Array(good.dropLast()), good + [0], [], good + [UInt8](repeating: 0, count: 2048)]
        for (spot, byte) in [(0, 2), (1, 3), (34, 2), (35, 255), (40, 1), (good.count - 1, 1)] as [(Int, UInt8)] {
            var changed = good
            changed[spot] = byte
            wrong.append(changed)
        }
        for bytes in wrong {
            let outcome = refusal { _ = try MeetingGift(decoding: bytes) }
            #expect(outcome == .malformed)
        }
    }
}
