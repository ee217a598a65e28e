// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Testing

/// Runs each test of a suite on every engine, and says of a failure on which one it was.
struct EveryEngine: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for engine in LabEngine.present {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("on \(engine.rawValue)")
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase) {
                try await LabEngine.$current.withValue(engine) { try await function() }
            }
        }
    }
}

extension Trait where Self == EveryEngine {
    /// For a suite whose rules hold on every engine.
    static var everyEngine: EveryEngine { EveryEngine() }
}
