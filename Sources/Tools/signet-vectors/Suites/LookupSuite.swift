// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ProtocolTesting

/// What a client of a directory must decide: lookups, walks over milestones, recoveries, each with what a client knows and
/// what must become of it.
struct LookupSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Answers of a directory, good ones and ones with one fault each: Vectors/lookup.")

    @Argument(help: "The file, or the folder of files.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let place = VectorFile(path)
        let names = place.isFolder ? place.contents.filter { $0.hasSuffix(".json") } : []
        for file in place.isFolder ? names.map(place.appending) : [place] { try add(file, to: &report) }
        guard report.passed + report.failed > 0 else { throw .noCases(path: path) }
    }

    private func add(_ file: VectorFile, to report: inout VectorReport) throws(VectorFileError) {
        let kinds: [CaseKind] = try file.json()
        switch kinds.first?.kind {
        case nil: add(try file.json([LookupVector].self), to: &report)
        case MilestoneVector.kind: add(try file.json([MilestoneVector].self), to: &report)
        case RecoveryDelayVector.kind: add(try file.json([RecoveryDelayVector].self), to: &report)
        case let kind?: throw .malformed(path: file.path, reason: "cases of kind \"\(kind)\" are not known here")
        }
    }

    private func add(_ cases: [some DirectoryVector], to report: inout VectorReport) {
        for test in cases { report.add(test) }
    }
}

extension VectorReport {
    /// Puts a case to our verifier.
    mutating func add(_ test: some DirectoryVector) {
        do { add(test.name, failure: try test.disagreement().map { "\($0) (\(test.why))" }) } catch {
            add(test.name, failure: "not a case: \(error)")
        }
    }
}

/// What a case says of its kind; lookups, the first that were published, say nothing.
private struct CaseKind: Decodable {
    let kind: String?
}
