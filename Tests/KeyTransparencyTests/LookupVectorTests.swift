// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyTransparency
import ProtocolTesting
import Testing

/// The published sets of lookups, milestones and recoveries: made again, and put to the verifiers as a client of another
/// make would.
@Suite struct LookupVectorTests {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/lookup")

    @Test func eachBadCaseIsRefusedByTheCheckItNamesAndEachGoodOneAccepted() throws {
        let cases = try LookupVectorSet.cases()
        #expect(Set(cases.map(\.name)).count == cases.count)
        for test in cases { #expect(try test.found() == test.verdict, "\(test.name): \(test.why)") }
    }

    @Test func theSetHasEveryOutcomeAndEveryCheck() throws {
        let verdicts = try LookupVectorSet.cases().map(\.verdict)
        #expect(Set(verdicts.map(\.outcome)) == ["registered", "closed", "absent", "refused"])
        #expect(Set(verdicts.compactMap(\.check)) == Set(LookupCheck.allCases.map { "\($0)" }))
    }

    @Test func goodCasesGiveTheirExpectedResults() throws {
        let verdicts = try LookupVectorSet.cases().filter { $0.verdict.outcome != "refused" }
        for test in verdicts {
            let outcome = test.name.split(separator: "-").first.map { $0 == "as" ? "registered" : String($0) }
            #expect(test.verdict.outcome == outcome, "\(test.name)")
        }
    }

    @Test func eachWalkAndEachRecoveryHasTheVerdictItWasMadeFor() throws {
        let (walks, recoveries) = (try LookupVectorSet.milestones(), try LookupVectorSet.recoveryDelays())
        #expect(Set(walks.map(\.name)).count == walks.count)
        #expect(Set(recoveries.map(\.name)).count == recoveries.count)
        for test in walks { #expect(try test.found() == test.verdict, "\(test.name): \(test.why)") }
        for test in recoveries { #expect(try test.found() == test.verdict, "\(test.name): \(test.why)") }
    }

    @Test func theWalksHaveEveryFault() throws {
        let verdicts = try LookupVectorSet.milestones().map(\.verdict)
        #expect(Set(verdicts.map(\.outcome)) == ["accepted", "refused"])
        #expect(
            Set(verdicts.compactMap(\.check)) == [
                "envelope", "order", "notRightBefore", "skipsDays", "notFirstOfDay", "missesMark", "surplus", "missing",
                "inclusion", "index", "anotherHistory",
            ])
    }

    @Test func theRecoveriesHaveEveryOutcomeAndEveryFaultOfAStep() throws {
        let verdicts = try LookupVectorSet.recoveryDelays().map(\.verdict)
        #expect(Set(verdicts.map(\.outcome)) == ["recovered", "rushed", "unexplained", "refused"])
        #expect(
            Set(verdicts.compactMap(\.check)) == [
                "step: noSuchEntry", "step: entry", "step: epoch", "step: anotherEpoch",
            ])
    }

    /// Only where Ed25519 is deterministic can the signatures come out the same: CryptoKit adds randomness.
    #if !canImport(Darwin)
        @Test func theCheckedInSetsAreWhatTheGeneratorMakes() throws {
            for (name, bytes) in try LookupVectorSet.files() {
                let stored = FileManager.default.contents(atPath: Self.folder.appending(path: name).path())
                #expect(stored.map(Array.init) == bytes, "\(name)")
            }
        }
    #endif

    @Test func theCheckedInSetsHaveTheirVerdicts() throws {
        #expect(try check(LookupVector.self, "lookup.json") > 60)
        #expect(try check(MilestoneVector.self, "milestones.json") > 20)
        #expect(try check(RecoveryDelayVector.self, "recovery-delay.json") > 20)
    }

    /// The set from before `signet-history/v3` is read. Nothing in it shows since when the quorum has seen a request, so its honest
    /// recoveries are red, and every other verdict is what it was.
    @Test func theRecoveriesOfTheFormBeforeAreReadAndNoneIsAmber() throws {
        let file = Self.folder.appending(path: "../old/recovery-delay-2.json")
        let cases = try JSONDecoder().decode([RecoveryDelayVector].self, from: Data(contentsOf: file))
        #expect(cases.count == 25)
        for test in cases {
            let (found, before) = (try test.found(), test.verdict)
            #expect(found.outcome == (before.outcome == "recovered" ? "rushed" : before.outcome), "\(test.name)")
            #expect(found.check == before.check, "\(test.name)")
        }
    }

    /// How many cases the file has.
    private func check<Vector: DirectoryVector>(_ type: Vector.Type, _ name: String) throws -> Int {
        let file = Self.folder.appending(path: name)
        let cases = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
        for test in cases { #expect(try test.disagreement() == nil, "\(test.name): \(test.why)") }
        return cases.count
    }
}
