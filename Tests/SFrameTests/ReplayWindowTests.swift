// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import SFrame

struct ReplayWindowTests {
    @Test func aCounterIsTakenOnce() throws {
        var window = ReplayWindow()
        for counter: UInt64 in [0, 5, 3, 1024, 900] {
            try window.check(counter)
            window.record(counter)
            #expect(throws: ReplayError.replayed) { try window.check(counter) }
        }
    }

    @Test func aCounterBehindTheWindowIsTooOld() throws {
        var window = ReplayWindow()
        window.record(2000)
        try window.check(2000 - 1023)
        #expect(throws: ReplayError.tooOld) { try window.check(2000 - 1024) }
        #expect(throws: ReplayError.tooOld) { try window.check(0) }
    }

    @Test func aJumpForgetsOnlyCountersThatLeaveTheWindow() throws {
        var window = ReplayWindow()
        for counter: UInt64 in 0..<1024 { window.record(counter) }
        window.record(1500)
        #expect(throws: ReplayError.replayed) { try window.check(1023) }
        #expect(throws: ReplayError.tooOld) { try window.check(476) }
        #expect(throws: ReplayError.replayed) { try window.check(477) }
        for counter: UInt64 in 1024..<1500 { try window.check(counter) }
        window.record(.max)
        #expect(throws: ReplayError.replayed) { try window.check(.max) }
        #expect(throws: ReplayError.tooOld) { try window.check(1500) }
        try window.check(.max - 1023)
    }

    @Test func theWindowAgreesWithASetOfAllSeenCounters() {
        var generator = SeededGenerator(seed: 7)
        var (window, seen, newest) = (ReplayWindow(), Set<UInt64>(), UInt64(0))
        for _ in 0..<50_000 {
            let leap = UInt64.random(in: 0..<20, using: &generator) == 0 ? UInt64(3000) : 40
            let middle = UInt64.random(in: 0..<leap, using: &generator) + newest
            let counter = middle - min(middle, UInt64.random(in: 0..<1200, using: &generator))
            let isTooOld = !seen.isEmpty && counter + 1024 <= newest
            let expected: ReplayError? = isTooOld ? .tooOld : seen.contains(counter) ? .replayed : nil
            var verdict: ReplayError?
            do throws(ReplayError) { try window.check(counter) } catch { verdict = error }
            #expect(verdict == expected)
            guard verdict == nil else { continue }
            window.record(counter)
            seen.insert(counter)
            newest = max(newest, counter)
        }
    }
}
