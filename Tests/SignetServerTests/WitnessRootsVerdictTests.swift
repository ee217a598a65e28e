// SPDX-License-Identifier: Apache-2.0

import LogWitness
import SignetServer
import Testing

@testable import signetd

/// What an operator is told of root certificates with which no witness can be asked.
struct WitnessRootsVerdictTests {
    /// As a start says it, and as a move does.
    private static func verdicts(of error: WitnessRootsError) -> [Verdict] {
        [Verdict(StoredDirectoryError.witnessRoots(error)), Verdict(MoveError.rollback(.witnessRoots(error)))]
    }

    @Test func aSystemWithoutRootCertificatesIsNamed_andNotTheOperatorsFile() {
        for verdict in Self.verdicts(of: .systemHasNone) {
            #expect(verdict.status == .damaged)
            #expect(verdict.sentence.contains("this system has no root certificates"))
            #expect(verdict.sentence.contains("https"), "what needs them")
            #expect(verdict.sentence.contains("the package ca-certificates"), "what to install")
            #expect(!verdict.sentence.contains("--witness-roots"))
        }
    }

    @Test func theOperatorsFileIsNamed_andNotTheSystem() {
        for verdict in Self.verdicts(of: .malformed) {
            #expect(verdict.status == .damaged)
            #expect(verdict.sentence.contains("--witness-roots"))
            #expect(!verdict.sentence.contains("this system"))
        }
    }
}
