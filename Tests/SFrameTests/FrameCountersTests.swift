// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SFrame

/// How far a frame may move what counts as new.
struct FrameCountersTests {
    private let leap = FrameCounters.maximumLeap

    /// Records every counter that is let through, and says which.
    private func taken(_ counters: [UInt64], by seen: inout FrameCounters) -> [UInt64] {
        counters.filter { counter in
            do throws(ReplayError) { try seen.check(counter) } catch { return false }
            seen.record(counter)
            return true
        }
    }

    /// The attack: a member seals one frame under another's key with a number far ahead, and all that the other sends is old.
    @Test func oneFrameFarAheadDoesNotMoveTheCounter() {
        var seen = FrameCounters()
        let honest = Array(UInt64(0)...20)
        #expect(taken(Array(honest[..<10]), by: &seen).count == 10)
        #expect(taken([1 << 31], by: &seen) == [1 << 31], "it is played")
        #expect(taken(Array(honest[10...]), by: &seen) == Array(honest[10...]))
        // Seven, and again with an honest frame between.
        for round in 0..<5 {
            let far = (0..<7).map { UInt64(1 << 31) + 1 + UInt64(round * 7 + $0) }
            #expect(taken(far, by: &seen) == far)
            #expect(taken([21 + UInt64(round)], by: &seen) == [21 + UInt64(round)])
        }
    }

    @Test func theFirstFrameFarAheadDoesNotMoveTheCounter() {
        var seen = FrameCounters()
        #expect(taken([leap + 1, 0, 1], by: &seen) == [leap + 1, 0, 1])
        var other = FrameCounters()
        #expect(taken([leap, 0], by: &other) == [leap], "so far it may go")
    }

    /// Whoever was away for long hears the sender again, and nothing is opened twice.
    @Test func eightFramesInARowMoveTheCounter() {
        var seen = FrameCounters()
        let later = (1...8).map { 1_000_000 + UInt64($0) }
        #expect(taken([5] + later, by: &seen) == [5] + later)
        #expect(taken([6] + later, by: &seen).isEmpty)
        #expect(taken([1_000_000, 1_000_009], by: &seen) == [1_000_000, 1_000_009])
    }

    @Test func framesFarApartDoNotMoveTheCounterTogether() {
        var seen = FrameCounters()
        let scattered = (1...20).map { UInt64($0) << 20 }
        #expect(taken([5] + scattered + [6], by: &seen) == [5] + scattered + [6])
    }

    @Test func aFrameFarAheadIsOpenedOnce() {
        var seen = FrameCounters()
        #expect(taken([5, 1 << 31, 1 << 31, 6, 1 << 31], by: &seen) == [5, 1 << 31, 6])
    }

    @Test func theLargestCounterIsTreatedLikeAnyOther() {
        var seen = FrameCounters()
        #expect(taken([.max, .max, 0, .max], by: &seen) == [.max, 0])
        let last = (0..<8).map { UInt64.max - 7 + $0 }
        var other = FrameCounters()
        #expect(taken(last + last + [0], by: &other) == last)
    }
}
