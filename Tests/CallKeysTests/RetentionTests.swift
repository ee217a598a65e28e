// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// How long keys live.
struct RetentionTests {
    @Test func anOldKeyIsWipedTwoSecondsAfterAllMembersMovedOn() throws {
        let room = try Room(3)
        for sender in 0..<3 { for receiver in 0..<3 where receiver != sender { _ = try room.frame(sender, receiver) } }
        room.step(0, .suspect)
        for sender in 0..<3 { for receiver in 0..<3 where receiver != sender { _ = try room.frame(sender, receiver) } }
        #expect(room.people[1].ring.generations.keys.sorted() == [1, 2])
        room.wait(1900)
        #expect(room.people[1].ring.generations.keys.sorted() == [1, 2])
        room.wait(150)
        #expect(room.people[1].ring.generations.keys.sorted() == [2])
    }

    /// Device 2 sends under the old key and is never heard under the new one.
    private func roomWithALaggard() throws -> Room {
        let room = try Room(3)
        _ = try room.frame(2, 1)
        _ = try room.frame(0, 1)
        room.isLost = { draft, to in to == 2 }
        return room
    }

    @Test func audioOfAnOldKeyOpensFor30Seconds_andVideoFor120() throws {
        let room = try roomWithALaggard()
        var laggard = room.people[2]
        room.step(0, .suspect)
        room.wait(2050, without: [2])
        _ = try room.frame(0, 1)
        room.now += 29_000
        let audio = try laggard.seal([1], .audio)
        #expect(room.hand(audio, to: 1))
        room.now += 2000
        #expect(try !room.hand(laggard.seal([1], .audio), to: 1))
        #expect(room.dropped(1) == [.expired])
        room.now += 80_000
        #expect(try room.hand(laggard.seal([1], .camera), to: 1))
        room.now += 12_000
        #expect(try !room.hand(laggard.seal([1], .camera), to: 1))
        room.step(1, .tick)
        #expect(!room.people[1].ring.generations.keys.contains(1))
    }

    @Test func aKeyThatIsNeverUsedIsWipedAfter60Seconds() throws {
        var times = CallTimes()
        times.barrier = 1_000_000
        (times.hostPatience, times.lonelyPatience) = (1 << 40, 1 << 40)
        let room = try Room(3, times: times)
        room.isLost = { _, to in to == 2 }
        room.step(0, .suspect)
        #expect(room.people[1].ring.generations.keys.sorted() == [1, 2])
        room.now += 59_000
        room.step(1, .tick)
        #expect(room.people[1].ring.generations.keys.contains(2))
        room.now += 1100
        room.step(1, .tick)
        #expect(!room.people[1].ring.generations.keys.contains(2))
    }

    @Test func earlierStepsAreForgottenAfterTenSeconds() throws {
        var times = CallTimes()
        (times.hostPatience, times.lonelyPatience) = (1 << 40, 1 << 40)
        let room = try Room(2, times: times)
        let old = try room.people[0].seal([1], .audio)
        let older = try room.people[0].seal([2], .audio)
        let step = try #require(room.people[1].sending)
        room.now += 33_000
        room.step(0, .tick)
        room.now += 9000
        #expect(room.hand(old, to: 1))
        room.now += 1100
        room.step(1, .tick)
        #expect(!room.hand(older, to: 1))
        #expect(room.people[1].ring.generations[step.generation]?.mediaKey(step.step) == nil)
    }

    @Test func noMoreThan16GenerationsAreKept() throws {
        let room = try Room(2)
        for _ in 0..<40 {
            room.step(0, .suspect)
            #expect(try room.frame(0, 1))
            #expect(room.people[1].ring.generations.count <= 16)
        }
    }
}
