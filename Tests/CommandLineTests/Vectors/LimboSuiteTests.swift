// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyPinning
import PinScenarios
import Testing

@testable import signet_vectors

/// The suite must tell a right verdict from a wrong one, and a listed deviation from a fault.
@Suite struct LimboSuiteTests {
    private func run(_ cases: String, _ deviations: String) async throws -> VectorReport {
        // The suite waits for the verifier: not on a thread that the verifier may need.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try LimboSuite.report(on: cases, deviations: deviations) })
            }
        }
    }

    private func report(on text: String, deviations: String = "") async throws -> VectorReport {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, list) = (folder.appending(path: "cases.txt"), folder.appending(path: "deviations.txt"))
        try Data(text.utf8).write(to: file)
        try Data(deviations.utf8).write(to: list)
        return try await run(file.path(), list.path())
    }

    private func report(expecting results: [String: String], deviations: String = "") async throws -> VectorReport {
        let now = Date()
        var certificates: [String] = []
        func places(_ list: some Sequence<[UInt8]>) -> String {
            let places = list.map { der in
                certificates.append(String(decoding: Base64.encode(der), as: UTF8.self))
                return String(certificates.count - 1)
            }
            return places.isEmpty ? "-" : places.joined(separator: ",")
        }
        let cases = try PinScenario.all(at: now).filter { results[$0.row] != nil }.map { scenario in
            let time = UInt64(now.timeIntervalSince1970)
            let (anchors, others) = (places(scenario.anchors), places(scenario.presented.dropFirst()))
            let server = places(scenario.presented.prefix(1))
            return
                "\(results[scenario.row] ?? "") \(time) \(PinScenario.host) \(anchors) \(others) \(server) \(scenario.row)"
        }
        let lines =
            ["signet-limbo/v1", "certificates \(certificates.count)"] + certificates + ["cases \(cases.count)"] + cases
        return try await report(on: lines.joined(separator: "\n") + "\n", deviations: deviations)
    }

    @Test func aVerdictThatAgreesPasses() async throws {
        let report = try await report(expecting: ["01": "accept", "24": "refuse", "27": "refuse", "32": "refuse"])
        #expect(report.passed == 4)
        #expect(report.failed == 0)
    }

    @Test func disagreementFailsUnlessItIsListed() async throws {
        #expect(try await report(expecting: ["01": "refuse"]).failed == 1)
        #expect(try await report(expecting: ["24": "accept"]).failed == 1)
        #expect(try await report(expecting: ["01": "refuse"], deviations: "# list\n01 on purpose\n").failed == 0)
        #expect(try await report(expecting: ["01": "accept"], deviations: "01 for nothing\n").failed == 1)
        #expect(try await report(expecting: ["01": "accept"], deviations: "02 for nothing\n").failed == 1)
    }

    @Test(arguments: ["01\n", "01 once\n01 twice\n"]) func everyDeviationHasOneReason(list: String) async throws {
        await #expect(throws: VectorFileError.self) {
            try await report(expecting: ["01": "refuse"], deviations: list)
        }
    }

    @Test(arguments: [
        "", "signet-limbo/v2\n", "signet-limbo/v1\ncertificates 1\n", "signet-limbo/v1\ncertificates 1\n!\ncases 0\n",
        "signet-limbo/v1\ncertificates 0\ncases 1\naccept - localhost - - 0 x\n",
        "signet-limbo/v1\ncertificates 1\nAAAA\ncases 1\nperhaps - localhost - - 0 x\n",
        "signet-limbo/v1\ncertificates 1\nAAAA\ncases 1\naccept then localhost - - 0 x\n",
        "signet-limbo/v1\ncertificates 1\nAAAA\ncases 2\naccept - localhost - - 0 x\n",
        "signet-limbo/v1\ncertificates -1\ncases 0\n", "signet-limbo/v1\ncertificates 0\ncases 0\n",
    ]) func aMalformedFileOfCasesIsRefused(text: String) async throws {
        await #expect(throws: VectorFileError.self) { try await report(on: text) }
    }

    /// The score. A case that agrees again must leave the list; one that no longer agrees must be fixed or justified.
    @Test func theSuiteHasTheRecordedScore_andEveryDeviationIsListed() async throws {
        let vectors = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Vectors/x509-limbo")
        let report = try await run(
            vectors.appending(path: "cases.txt").path(), vectors.appending(path: "deviations.txt").path())
        #expect(report.failed == 0, "\(report.lines)")
        #expect(report.summary == "171 passed, 0 failed (131 agree, 40 are listed deviations)")
    }
}
