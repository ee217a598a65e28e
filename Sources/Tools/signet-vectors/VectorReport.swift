// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The verdicts of a run, and what to print about them.
struct VectorReport {
    private(set) var passed = 0
    private(set) var failed = 0
    /// How many of those that passed differ on purpose, as a list of deviations says.
    private(set) var deviations = 0
    /// A line for each failure and remark, in order.
    private(set) var lines: [String] = []

    /// Counts a case; without a reason it passed.
    mutating func add(_ name: String, failure: String?) {
        guard let failure else { return passed += 1 }
        failed += 1
        lines.append("FAIL \(name): \(failure)")
    }

    /// Counts a case that must be accepted or refused.
    ///
    /// `refusal` is why our code refused it, nil when it accepted.
    mutating func add(_ name: String, valid: Bool, refusal: String?, about: String? = nil) {
        let about = about.map { " (\($0))" } ?? ""
        switch (valid, refusal) {
        case (true, let refusal?): add(name, failure: "refused, must be accepted: \(refusal)\(about)")
        case (false, nil): add(name, failure: "accepted, must be refused\(about)")
        default: add(name, failure: nil)
        }
    }

    /// Counts a case in which we differ on purpose: it passes, and the closing line says so.
    mutating func add(_ name: String, deviation: String) {
        passed += 1
        deviations += 1
        remark("\(name): \(deviation)")
    }

    /// The verdict in one line.
    var summary: String {
        let listed = deviations == 0 ? "" : " (\(passed - deviations) agree, \(deviations) are listed deviations)"
        return "\(passed) passed, \(failed) failed\(listed)"
    }

    /// Adds a line that is not a verdict.
    mutating func remark(_ text: String) { lines.append("note: \(text)") }
}

/// A suite: reads what is at `path` and fills a report.
protocol VectorSuite: ParsableCommand {
    /// The file or folder that was named.
    var path: String { get }
    /// Runs every case.
    ///
    /// - Throws: ``VectorFileError`` when there is nothing to run.
    func fill(_ report: inout VectorReport) throws(VectorFileError)
}

extension VectorSuite {
    /// Runs the suite as with this one argument, and returns its verdicts.
    static func report(on path: String) throws -> VectorReport {
        guard let suite = try parseAsRoot([path]) as? Self else {
            throw VectorFileError.unreadable(path: path)
        }
        var report = VectorReport()
        try suite.fill(&report)
        return report
    }

    /// Runs the suite and ends the process as the command's help says.
    func run() throws {
        var report = VectorReport()
        do throws(VectorFileError) {
            try fill(&report)
        } catch {
            for line in report.lines { print(line) }
            FileHandle.standardError.write(Data("error: \(error.message)\n".utf8))
            throw ExitCode(error.exitCode)
        }
        for line in report.lines { print(line) }
        print(report.summary)
        if report.failed > 0 { throw ExitCode(1) }
    }
}
