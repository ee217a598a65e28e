// SPDX-License-Identifier: Apache-2.0

import LogFencing
import Testing
import TransparencyLog

@Suite struct LogRowTests {
    private static let row = LogRow(generation: 3, head: head(5), published: head(4))

    private static func request(
        generation: UInt64 = 3, after: UInt64 = 5, next: UInt64 = 6
    ) -> CommitRequest {
        CommitRequest(generation: generation, after: head(after), next: head(next))
    }

    @Test func claim_beginsANewGeneration() {
        #expect(Self.row.claimed() == LogRow(generation: 4, head: head(5), published: head(4)))
    }

    @Test func claim_endsWithTheLastGeneration() {
        #expect(LogRow(generation: .max, head: .empty, published: .empty).claimed() == nil)
    }

    @Test func commit_movesTheHead() {
        #expect(Self.row.committing(Self.request()) == LogRow(generation: 3, head: head(6), published: head(4)))
    }

    @Test func commit_refusesAnotherGeneration() {
        #expect(Self.row.committing(Self.request(generation: 2)) == nil)
        #expect(Self.row.committing(Self.request(generation: 4)) == nil)
    }

    @Test func commit_refusesAWriterWhoDoesNotKnowTheWholeLog() {
        #expect(Self.row.committing(Self.request(after: 4)) == nil)
        #expect(Self.row.committing(Self.request(after: 6, next: 7)) == nil)
    }

    @Test func commit_refusesAFrameThatAddsNothing() { #expect(Self.row.committing(Self.request(next: 5)) == nil) }

    @Test func publish_movesWhatMayBeShown() {
        #expect(Self.row.publishing(head(5), by: 3) == LogRow(generation: 3, head: head(5), published: head(5)))
        #expect(Self.row.publishing(head(4), by: 3) == Self.row, "again, with younger cosignatures")
    }

    @Test func publish_refusesAnotherGeneration() { #expect(Self.row.publishing(head(5), by: 2) == nil) }

    @Test func publish_refusesLessThanIsShown() { #expect(Self.row.publishing(head(3), by: 3) == nil) }

    @Test func confirm_refusesAnotherGeneration() {
        #expect(Self.row.confirming(3) == Self.row)
        #expect(Self.row.confirming(2) == nil)
    }
}

/// The head of a log of so many frames, of which no other candidate makes any.
func head(_ size: UInt64) -> TreeHead { frames(size).head }

func frames(_ size: UInt64, by candidate: Int = 0) -> Frames {
    (0..<size).reduce(Frames()) { frames, batch in frames.adding(batch: batch, by: candidate, in: 1) }
}

@Suite struct FramesTests {
    @Test func aHeadSaysWhichFramesItHas() {
        for size in 0...7 as ClosedRange<UInt64> {
            #expect(head(size).frames == frames(size))
            #expect(head(size).size == size)
        }
    }

    @Test func theRootOfTheFirstFramesIsTheirs() {
        #expect(frames(3).root(2) == head(2).root)
        #expect(frames(3).root(4) == nil)
        #expect(frames(2).begins(frames(3)) && !frames(3).begins(frames(2)))
        #expect(!frames(2, by: 1).begins(frames(3)))
    }

    @Test func aBatchInTwoFramesIsFound() {
        #expect(!frames(3).repeatsABatch)
        #expect(frames(3).adding(batch: 1, by: 0, in: 1).repeatsABatch)
    }
}
