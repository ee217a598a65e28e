import ArgumentParser
import KeyTransparencyTesting

/// Whole lookup answers, each with what a client knows and what must become of it.
struct LookupSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Lookup answers, good ones and ones with one fault each: Vectors/lookup.")

    @Argument(help: "The file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let cases: [LookupVector] = try VectorFile(path).json()
        guard !cases.isEmpty else { throw .noCases(path: path) }
        for test in cases { report.add(test.name, failure: failure(of: test)) }
    }

    /// How our verifier disagrees; nil when it does not.
    private func failure(of test: LookupVector) -> String? {
        do {
            let found = try test.found()
            return found == test.verdict ? nil : "\(found) instead of \(test.verdict) (\(test.why))"
        } catch { return "not a case: \(error)" }
    }
}
