// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import VerifiableMap

/// What each epoch record must say, over days.
@Suite struct EpochChainTests {
    static let day: UInt64 = 86_400_000

    /// A chain of epochs that end at these times, each of three entries.
    static func records(_ times: [UInt64]) throws -> [(record: EpochRecord, index: UInt64)] {
        var chain = EpochChain()
        return try times.enumerated().map { place, time in
            let index = UInt64(place) * 3 + 2
            let record = chain.next(at: time, index: index, labelCount: UInt64(place), root: .emptyTrie)
            try chain.append(record, at: index, labelCount: UInt64(place), root: .emptyTrie)
            return (record, index)
        }
    }

    @Test func epochsAreNumberedTimedAndJoined() throws {
        let chain = try Self.records([5, 9, 9])
        #expect(chain.map(\.record.number) == [1, 2, 3])
        #expect(chain.map(\.record.time) == [5, 9, 9])
        #expect(chain.map(\.record.start) == [0, 3, 6])
        #expect(chain.map(\.record.labelCount) == [0, 1, 2])
    }

    @Test func aRecordNamesTheLastMilestoneBeforeIt() throws {
        // Two epochs on the first day, two on the third, one on the fourth, two on the ninth.
        let times = [0, 1, 2, 2, 3, 8, 8].enumerated().map { Self.day * $1 + UInt64($0) }
        let chain = try Self.records(times)
        // Written by hand: the milestones are the records at 2, 8, 14 and 17.
        #expect(chain.map(\.index) == [2, 5, 8, 11, 14, 17, 20])
        #expect(try Self.records([0, Self.day]).map(\.record.milestone) == [2, 2])
        #expect(chain.map(\.record.milestone) == [2, 2, 5, 8, 8, 14, 17])
    }

    @Test func milestonesOverADayBoundaryOfOneMillisecond() throws {
        let chain = try Self.records([Self.day - 1, Self.day - 1, Self.day, Self.day])
        #expect(chain.map(\.record.milestone) == [2, 2, 2, 8])
    }

    /// At every length of a random chain, what the chain says against the rule: from the last record alone.
    @Test(arguments: 0..<20) func theNewestMilestoneFollowsFromTheLastRecord(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        var chain = EpochChain()
        var records: [UInt64: EpochRecord] = [:]
        var (time, index, firstOfDay) = (UInt64(random.below(1_000_000_000)), UInt64(0), [UInt64: UInt64]())
        #expect(chain.newestMilestone == nil && !chain.endsInMilestone)
        for _ in 0..<60 {
            time += UInt64(random.below(3) == 0 ? random.below(3 * Int(Self.day)) : random.below(10_000_000))
            let record = chain.next(at: time, index: index, labelCount: 0, root: .emptyTrie)
            try chain.append(record, at: index, labelCount: 0, root: .emptyTrie)
            records[index] = record
            let isFirst = firstOfDay[time / Self.day] == nil
            if isFirst { firstOfDay[time / Self.day] = index }
            let before = try #require(records[record.milestone])
            let newest = record.day > before.day || record.number == 1 ? index : record.milestone
            #expect(newest == firstOfDay[time / Self.day])
            #expect(chain.newestMilestone == newest && chain.endsInMilestone == isFirst)
            #expect(chain.last == record && chain.lastIndex == index)
            index += UInt64(1 + random.below(5))
        }
    }

    @Test func aClockThatRunsBackDoesNotTakeTheEpochsWithIt() throws {
        #expect(try Self.records([9, 5, 7, 10]).map(\.record.time) == [9, 9, 9, 10])
    }

    @Test func aRefusedRecordChangesNothing() throws {
        var chain = EpochChain()
        let first = chain.next(at: 5, index: 2, labelCount: 1, root: .emptyTrie)
        try chain.append(first, at: 2, labelCount: 1, root: .emptyTrie)
        let before = chain
        let honest = chain.next(at: 6, index: 4, labelCount: 1, root: .emptyTrie)
        #expect(throws: IndexFault.timeRunsBack(from: 5, to: 4, at: 4)) {
            try chain.append(honest.with(time: 4), at: 4, labelCount: 1, root: .emptyTrie)
        }
        let otherRoot = try #require(MapHash([UInt8](repeating: 1, count: 32)))
        #expect(throws: IndexFault.indexRoot(found: honest, expected: otherRoot)) {
            try chain.append(honest, at: 4, labelCount: 1, root: otherRoot)
        }
        for lie in [
            honest.with(number: 3), honest.with(start: 2), honest.with(labelCount: 2), honest.with(milestone: 1),
        ] {
            #expect(throws: IndexFault.epochFields(found: lie, expected: honest)) {
                try chain.append(lie, at: 4, labelCount: 1, root: .emptyTrie)
            }
        }
        #expect(chain == before && chain.hashValue == before.hashValue)
    }
}
