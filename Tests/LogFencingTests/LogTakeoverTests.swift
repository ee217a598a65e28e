// SPDX-License-Identifier: Apache-2.0

import LogFencing
import Testing
import TransparencyLog

@Suite struct LogTakeoverTests {
    private static let row = LogRow(generation: 2, head: head(5), published: head(3))
    private var takeover: LogTakeover

    init() throws {
        takeover = try LogTakeover(
            on: DatabaseFacts(
                isInRecovery: false, commitsAreSynchronous: true, hasStandbys: true, systemIdentifier: 1, timeline: 1,
                database: 1),
            DatabaseDemands(systemIdentifier: 1, timeline: 1, database: 1))
    }

    @discardableResult
    private mutating func take(_ event: TakeoverEvent) throws(TakeoverEnd) -> TakeoverAction {
        try takeover.take(event) { frames(5).root($0) }
    }

    private mutating func recall(_ memory: TreeHead?, _ others: [SeenHead] = []) throws(TakeoverEnd) -> TakeoverAction {
        try take(.claimed(Self.row))
        try take(.replayed(head(5)))
        return try take(.recalled(memory: memory, others: others))
    }

    @Test mutating func aCandidateClaims_replays_recallsAndLeads() throws {
        #expect(try take(.claimed(Self.row)) == .replay(head(5)))
        #expect(try take(.replayed(head(5))) == .recall)
        guard case .lead(let leadership) = try take(.recalled(memory: head(4), others: [])) else {
            Issue.record("does not lead")
            return
        }
        #expect(leadership.generation == 2 && leadership.committed == head(5) && leadership.remembered == head(4))
    }

    @Test mutating func nothingIsBelievedBeforeTheClaim() throws {
        #expect(throws: TakeoverEnd.outOfTurn) { try take(.replayed(head(5))) }
        takeover = try Self().takeover
        #expect(throws: TakeoverEnd.outOfTurn) { try take(.recalled(memory: head(4), others: [])) }
    }

    @Test mutating func framesThatDoNotMakeTheHeadStopIt() throws {
        try take(.claimed(Self.row))
        let other = frames(5, by: 1).head
        #expect(throws: TakeoverEnd.framesDiffer(row: head(5), frames: other)) { try take(.replayed(other)) }
    }

    @Test mutating func aLargerHeadInTheSecondMemoryStopsIt_onceItsGenerationIsConfirmed() throws {
        #expect(try recall(head(6)) == .confirm(generation: 2))
        let behind = HeadConflict.databaseBehind(seen: SeenHead(head(6), in: .secondMemory), database: head(5))
        #expect(throws: TakeoverEnd.conflict(behind)) { try take(.confirmed) }
    }

    @Test mutating func aLargerHeadOfSomebodyWhoClaimedLaterDoesNotStopIt() throws {
        #expect(try recall(head(6)) == .confirm(generation: 2))
        #expect(throws: TakeoverEnd.othersLead) { try take(.refused) }
    }

    @Test mutating func aLargerHeadWithAWitnessStopsItToo() throws {
        #expect(try recall(head(5), [SeenHead(head(6), in: .witness(nil))]) == .confirm(generation: 2))
    }

    /// The tree must not be asked for what the row does not have.
    @Test mutating func aLargerHeadBeyondTheRowIsNotComparedWithTheTree() throws {
        try take(.claimed(Self.row))
        try take(.replayed(head(5)))
        let action = try takeover.take(.recalled(memory: head(6), others: [])) { frames(6).root($0) }
        #expect(action == .confirm(generation: 2))
    }

    @Test mutating func anotherRootAtTheSameSizeStopsItAtOnce() throws {
        let seen = SeenHead(frames(4, by: 1).head, in: .secondMemory)
        #expect(throws: TakeoverEnd.conflict(.forked(seen: seen, own: head(4).root))) { try recall(seen.head) }
    }

    @Test mutating func anOlderOrEmptyMemoryStopsIt() throws {
        #expect(throws: TakeoverEnd.memoryBehind(head(2), published: head(3))) { try recall(head(2)) }
        takeover = try Self().takeover
        #expect(throws: TakeoverEnd.memoryBehind(nil, published: head(3))) { try recall(nil) }
    }

    @Test mutating func aNewLogHasNoMemory() throws {
        #expect(try take(.claimed(LogRow(generation: 1, head: .empty, published: .empty))) == .replay(.empty))
        try take(.replayed(.empty))
        guard case .lead(let leadership) = try take(.recalled(memory: nil, others: [])) else {
            Issue.record("does not lead")
            return
        }
        #expect(leadership.committed == .empty && leadership.remembered == nil)
    }

    @Test mutating func anUnknownClaimIsNotTriedAgain() throws {
        #expect(throws: TakeoverEnd.outcomeUnknown) { try take(.unknown) }
        #expect(throws: TakeoverEnd.outcomeUnknown, "and whatever comes then changes nothing") {
            try take(.claimed(Self.row))
        }
    }

    @Test mutating func aRefusedClaimEndsIt() throws {
        #expect(throws: TakeoverEnd.othersLead) { try take(.refused) }
    }
}
