// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@testable import LogFencing

@Suite struct LogLeadershipTests {
    private var leadership = LogLeadership(
        LogRow(generation: 2, head: head(5), published: head(3)), remembered: head(4))

    @discardableResult
    private mutating func take(_ event: LeaderEvent) throws(LeadershipEnd) -> [LeaderAction] {
        try leadership.take(event) { frames(6).root($0) }
    }

    private mutating func take(_ events: [LeaderEvent]) throws(LeadershipEnd) {
        for event in events { try take(event) }
    }

    private func request(_ after: UInt64, _ next: UInt64) -> CommitRequest {
        CommitRequest(generation: 2, after: head(after), next: head(next))
    }

    @Test mutating func whatALeaderBeforeHasCommittedIsShownFirst() throws {
        #expect(try take(.due) == [.place(head(5))])
        #expect(try take(.placed) == [.remember(head(5), after: head(4))])
        #expect(try take(.remembered) == [.witness(head(5))])
        #expect(leadership.remembered == head(5))
        #expect(try take(.witnessed) == [.publish(head(5), by: 2)])
        #expect(try take(.published) == [.announce(head(5))])
    }

    @Test mutating func aFrameIsPlacedWhenItIsCommitted_andNotBefore() throws {
        #expect(try take(.sealed(head(6))) == [.commit(request(5, 6))])
        #expect(leadership.committed == head(5))
        #expect(try take(.committed) == [.place(head(6))])
        #expect(leadership.committed == head(6))
    }

    @Test mutating func aFrameUnderWayIsNotSigned() throws {
        try take([.sealed(head(6)), .due])
        #expect(try take(.placed) == [.remember(head(5), after: head(4))])
    }

    @Test mutating func aHeadThatWasCommittedMeanwhileIsShownNext() throws {
        try take([.due, .placed, .sealed(head(6)), .committed, .remembered, .witnessed])
        #expect(try take(.published) == [.announce(head(5)), .place(head(6))])
        #expect(try take(.placed) == [.remember(head(6), after: head(5))])
    }

    @Test mutating func oneFrameIsUnderWayAtATime() throws {
        #expect(!leadership.isWriting)
        try take(.sealed(head(6)))
        #expect(leadership.isWriting)
        #expect(throws: LeadershipEnd.outOfTurn) { try take(.sealed(head(7))) }
    }

    @Test mutating func aFrameThatAddsNothingIsABug() {
        #expect(throws: LeadershipEnd.outOfTurn) { try take(.sealed(head(5))) }
    }

    @Test mutating func anUnknownCommitEndsItForGood() throws {
        try take(.sealed(head(6)))
        #expect(throws: LeadershipEnd.outcomeUnknown) { try take(.unknown) }
        #expect(throws: LeadershipEnd.outcomeUnknown) { try take(.committed) }
        #expect(throws: LeadershipEnd.outcomeUnknown) { try take(.sealed(head(6))) }
        #expect(leadership.committed == head(5))
    }

    @Test mutating func aRefusedCommitEndsIt() throws {
        try take(.sealed(head(6)))
        #expect(throws: LeadershipEnd.superseded) { try take(.refused) }
    }

    @Test mutating func aRefusedPublicationEndsIt() throws {
        try take([.due, .placed, .remembered, .witnessed])
        #expect(throws: LeadershipEnd.superseded) { try take(.refused) }
    }

    @Test mutating func anAcknowledgementOfNothingIsABug() {
        #expect(throws: LeadershipEnd.outOfTurn) { try take(.committed) }
    }

    @Test mutating func noStepIsSkipped() throws {
        let ways: [LeaderEvent] = [.placed, .remembered, .witnessed, .published]
        for event in ways {
            var other = self
            #expect(throws: LeadershipEnd.outOfTurn) { try other.take(event) }
        }
        try take(.due)
        for event in ways.dropFirst() {
            var other = self
            #expect(throws: LeadershipEnd.outOfTurn) { try other.take(event) }
        }
        try take(.placed)
        for event in [.placed, .witnessed, .published] as [LeaderEvent] {
            var other = self
            #expect(throws: LeadershipEnd.outOfTurn) { try other.take(event) }
        }
    }

    @Test mutating func whatIsUnderWayIsNotBegunAgain() throws {
        try take(.due)
        #expect(try take(.due) == [])
        try take([.placed, .remembered, .witnessed, .published])
        #expect(try take(.due) == [.place(head(5))])
    }

    // MARK: The second memory

    @Test mutating func aLateNoteOfALeaderBeforeIsReplaced() throws {
        leadership = LogLeadership(LogRow(generation: 2, head: head(5), published: head(3)), remembered: head(3))
        try take([.due, .placed])
        #expect(try take(.memoryHolds(head(4))) == [.remember(head(5), after: head(4))])
    }

    @Test mutating func theOwnNoteInTheMemoryIsASuccess() throws {
        try take([.due, .placed])
        #expect(try take(.memoryUnknown) == [.remember(head(5), after: head(4))])
        #expect(try take(.memoryHolds(head(5))) == [.witness(head(5))])
    }

    @Test mutating func aLargerNoteInTheMemoryEndsIt() throws {
        try take([.due, .placed])
        #expect(throws: LeadershipEnd.superseded) { try take(.memoryHolds(head(6))) }
    }

    @Test mutating func aMemoryThatHasLostItsNoteEndsIt() throws {
        try take([.due, .placed])
        var other = self
        #expect(throws: LeadershipEnd.superseded) { try take(.memoryHolds(nil)) }
        #expect(throws: LeadershipEnd.superseded) { try other.take(.memoryHolds(head(3))) }
    }

    @Test mutating func anotherRootInTheMemoryStopsIt() throws {
        try take([.due, .placed])
        let seen = SeenHead(frames(5, by: 1).head, in: .secondMemory)
        #expect(throws: LeadershipEnd.conflict(.forked(seen: seen, own: head(5).root))) {
            try take(.memoryHolds(seen.head))
        }
    }

    // MARK: Witnesses

    @Test mutating func tooFewWitnessesAreAskedAgain() throws {
        try take([.due, .placed, .remembered])
        #expect(try take(.witnessesShort) == [.witness(head(5))])
        #expect(try take(.witnessHolds(head(4))) == [.witness(head(5))], "a proof was missing")
    }

    @Test mutating func aWitnessThatHasSeenMoreEndsIt() throws {
        try take([.due, .placed, .remembered])
        #expect(throws: LeadershipEnd.superseded) { try take(.witnessHolds(head(6))) }
    }

    @Test mutating func aWitnessOfAnotherRootStopsIt() throws {
        try take([.due, .placed, .remembered])
        let seen = SeenHead(frames(4, by: 1).head, in: .witness(nil))
        #expect(throws: LeadershipEnd.conflict(.forked(seen: seen, own: head(4).root))) {
            try take(.witnessHolds(seen.head))
        }
    }
}
