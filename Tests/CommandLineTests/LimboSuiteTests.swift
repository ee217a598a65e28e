import Foundation
import KeyPinning
import PinScenarios
import Testing

@testable import signet_vectors

/// The suite must tell right from wrong, and a deviation from a mistake.
@Suite struct LimboSuiteTests {
    private func report(expecting results: [String: String], deviations: String = "") async throws -> VectorReport {
        let now = Date()
        let scenarios = try PinScenario.all(at: now)
        let cases = results.compactMap { row, result in
            scenarios.first { $0.row == row }.map { testCase($0, result, now) }
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, list) = (folder.appending(path: "limbo.json"), folder.appending(path: "deviations.txt"))
        try JSONSerialization.data(withJSONObject: ["testcases": cases]).write(to: file)
        try Data(deviations.utf8).write(to: list)
        // The suite waits for the verifier: not on a thread that the verifier may need.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try LimboSuite.report(on: file.path(), deviations: list.path()) })
            }
        }
    }

    private func testCase(_ scenario: PinScenario, _ result: String, _ now: Date) -> [String: Any] {
        func pem(_ certificates: [[UInt8]]) -> [String] {
            certificates.map { String(decoding: PEMBlock.text($0), as: UTF8.self) }
        }
        return [
            "id": scenario.row, "features": [String](), "validation_kind": "SERVER", "expected_result": result,
            "trusted_certs": pem(scenario.anchors),
            "untrusted_intermediates": pem(Array(scenario.presented.dropFirst())),
            "peer_certificate": pem([scenario.presented[0]])[0], "validation_time": now.formatted(.iso8601),
            "expected_peer_name": ["kind": "DNS", "value": PinScenario.host],
        ]
    }

    @Test func agreementPasses() async throws {
        let report = try await report(expecting: ["01": "SUCCESS", "24": "FAILURE", "27": "FAILURE", "32": "FAILURE"])
        #expect(report.passed == 4)
        #expect(report.failed == 0)
    }

    @Test func disagreementFailsUnlessItIsListed() async throws {
        #expect(try await report(expecting: ["01": "FAILURE"]).failed == 1)
        #expect(try await report(expecting: ["24": "SUCCESS"]).failed == 1)
        #expect(try await report(expecting: ["01": "FAILURE"], deviations: "# list\n01 on purpose\n").failed == 0)
        #expect(try await report(expecting: ["01": "SUCCESS"], deviations: "01 for nothing\n").failed == 1)
    }
}
