import CanonicalCoding
import Foundation
import KeyTransparency
import KeyTransparencyTesting
import Testing

/// The published set of lookups: made again, and put to the verifier as a client of another make would.
@Suite struct LookupVectorTests {
    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/lookup/lookup.json")

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

    @Test func goodCasesSayWhatTheyWereMadeToSay() throws {
        let verdicts = try LookupVectorSet.cases().filter { $0.verdict.outcome != "refused" }
        for test in verdicts {
            let outcome = test.name.split(separator: "-").first.map { $0 == "as" ? "registered" : String($0) }
            #expect(test.verdict.outcome == outcome, "\(test.name)")
        }
    }

    /// Only where Ed25519 is deterministic can the signatures come out the same: CryptoKit adds randomness.
    #if !canImport(Darwin)
        @Test func theCheckedInSetIsWhatTheGeneratorMakes() throws {
            let stored = FileManager.default.contents(atPath: Self.file.path())
            #expect(try stored.map(Array.init) == LookupVectorSet.text())
        }
    #endif

    @Test func theCheckedInSetHasItsVerdicts() throws {
        let cases = try JSONDecoder().decode([LookupVector].self, from: Data(contentsOf: Self.file))
        #expect(cases.count > 60)
        for test in cases { #expect(try test.found() == test.verdict, "\(test.name): \(test.why)") }
    }
}
