// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// Certificate paths of C2SP's x509-limbo, as `Scripts/limbo-vectors` writes them.
///
/// A rule without pins trusts the host's chain, so that trust alone is measured. A case with which we disagree on purpose
/// stands with its reason in a list; one that is not listed, or listed without need, fails.
struct LimboSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "limbo", abstract: "Certificate paths (C2SP x509-limbo, from Scripts/limbo-vectors).")

    @Argument(help: "The file of cases.") var path: String

    @Option(help: "Where accepted deviations are listed: a case and a reason on each line.")
    var deviations = "Vectors/x509-limbo/deviations.txt"

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let cases = try LimboFile(path).cases
        guard !cases.isEmpty else { throw .noCases(path: path) }
        var reasons = try readDeviations()
        let refusals = Self.judge(cases)
        for (test, refusal) in zip(cases, refusals) {
            let agrees = (refusal == nil) == test.mustPass
            switch (agrees, reasons.removeValue(forKey: test.id)) {
            case (true, nil): report.add(test.id, failure: nil)
            case (true, _?): report.add(test.id, failure: "listed as a deviation, and agrees")
            case (false, let reason?):
                report.add(
                    test.id, deviation: "\(refusal == nil ? "accepted" : "refused") on purpose: \(reason)")
            case (false, nil): report.add(test.id, valid: test.mustPass, refusal: refusal)
            }
        }
        for id in reasons.keys.sorted() { report.add(id, failure: "listed as a deviation, and there is no such case") }
    }

    /// Runs the suite with a list of its own, and returns its verdicts.
    static func report(on path: String, deviations: String) throws -> VectorReport {
        guard let suite = try parseAsRoot([path, "--deviations", deviations]) as? LimboSuite else {
            throw VectorFileError.unreadable(path: path)
        }
        var report = VectorReport()
        try suite.fill(&report)
        return report
    }

    /// Why, by case. A line without a reason is none.
    private func readDeviations() throws(VectorFileError) -> [String: String] {
        let text = String(decoding: try VectorFile(deviations).bytes(), as: UTF8.self)
        var reasons: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2, reasons.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw .malformed(path: deviations, reason: "a case twice or without a reason: \(line)")
            }
        }
        return reasons
    }

    /// Why each case is refused; nil for an acceptance. Waits for the verifier, which is asynchronous.
    private static func judge(_ cases: [LimboCase]) -> [String?] {
        let results = Mutex<[String?]>([])
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            for test in cases {
                let refusal = await test.refusal()
                results.withLock { $0.append(refusal) }
            }
            done.signal()
        }
        done.wait()
        return results.withLock { $0 }
    }
}
