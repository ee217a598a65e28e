// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TransparencyLog

@testable import LogWitness

/// What a log concludes about a witness's memory from its answer.
struct WitnessedSizeTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    private func memory(_ answer: WitnessAnswer, size: UInt64 = 9) throws -> WitnessMemory {
        WitnessMemory(answer, to: try log.head(size), try log.note(size), try witnessSigner(0).verifierKey)
    }

    @Test func aWitnessWithALargerSizeIsAhead() throws {
        #expect(try memory(.otherSize(latest: 10)) == .ahead(size: 10))
        #expect(try memory(.otherSize(latest: .max)) == .ahead(size: .max))
        #expect(try memory(.otherSize(latest: 8)) == .notAhead(size: 8, at: nil))
        #expect(try memory(.otherSize(latest: 0)) == .notAhead(size: 0, at: nil))
    }

    @Test func anInconsistentWitnessKnowsAnotherTree() throws {
        #expect(try memory(.inconsistent) == .otherTree)
    }

    @Test func onlyTheWitnesssOwnCosignatureProvesThatItKnowsTheSameTree() throws {
        let note = try log.note(9)
        let own = try witnessSigner(0).cosign(note.text, time: 1_800_000_000)
        let others = try witnessSigner(1).cosign(note.text, time: currentTime())
        let ofOtherText = try witnessSigner(0).cosign(try log.note(8).text, time: currentTime())
        #expect(try memory(.cosignatures([own])) == .notAhead(size: 9, at: 1_800_000_000))
        for line in [others, ofOtherText] {
            #expect(try memory(.cosignatures([line])) == .unknown(.unknownKey))
        }
    }

    @Test(arguments: [
        WitnessAnswer.unknownLog, .signatureRefused, .tooManyRequests, .unavailable(status: 503), .malformed,
        .unexpectedStatus(302), .otherSize(latest: 9),
    ])
    func otherAnswersLeaveTheMemoryUnknown(answer: WitnessAnswer) throws {
        #expect(try memory(answer) == .unknown(.refused(answer)))
    }
}
