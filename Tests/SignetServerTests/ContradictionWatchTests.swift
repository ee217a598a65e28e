// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@testable import LogWitness
@testable import SignetServer

/// What a running server learns from rounds of witnessing that are below the quorum.
struct ContradictionWatchTests {
    private let head = TreeHead(size: 7, root: .emptyTree)
    private let w0: Policy.Name
    private let w1: Policy.Name

    init() throws {
        w0 = try #require(Policy.Name(Array("w0".utf8)))
        w1 = try #require(Policy.Name(Array("w1".utf8)))
    }

    private func reports(_ outcomes: (Policy.Name, WitnessOutcome)...) -> [WitnessRoundReport.Report] {
        outcomes.map { WitnessRoundReport.Report(name: $0, outcome: $1) }
    }

    @Test func aWitnessThatKnowsALaterCheckpointContradicts() {
        let watch = ContradictionWatch(disregarding: [])
        #expect(watch.contradicts(reports((w0, .failed(.timedOut)), (w1, .ahead(size: 9))), head))
        #expect(watch.found == .foundBehindWitness(w1, size: 9, own: head))
    }

    @Test func aWitnessThatKnowsAnotherTreeContradicts() {
        let watch = ContradictionWatch(disregarding: [])
        #expect(watch.contradicts(reports((w0, .refused(.inconsistent))), head))
        #expect(watch.found == .foundOtherTreeWitnessed(w0, head))
    }

    @Test func oneThatIsDisregardedDoesNotCount() {
        let watch = ContradictionWatch(disregarding: [w0])
        #expect(!watch.contradicts(reports((w0, .ahead(size: 9)), (w1, .failed(.timedOut))), head))
        #expect(watch.found == nil)
        #expect(watch.contradicts(reports((w0, .ahead(size: 9)), (w1, .ahead(size: 8))), head))
        #expect(watch.found == .foundBehindWitness(w1, size: 8, own: head))
    }

    @Test func silenceAndRefusalsContradictNothing() {
        let watch = ContradictionWatch(disregarding: [])
        let others: [WitnessOutcome] = [
            .failed(.unreachable), .failed(.timedOut), .refused(.unknownLog), .refused(.unavailable(status: 503)),
            .noProof(from: 3),
            .overloaded, .unknownKey, .invalidCosignature, .wrongTime(5),
        ]
        #expect(!watch.contradicts(others.map { WitnessRoundReport.Report(name: w0, outcome: $0) }, head))
        #expect(watch.found == nil)
    }
}
