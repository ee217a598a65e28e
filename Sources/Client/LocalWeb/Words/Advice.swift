// SPDX-License-Identifier: Apache-2.0

/// What a person is told when something was refused, or needs them.
public struct Advice: Hashable, Sendable {
    /// What happened, and who caused it.
    public let what: String
    /// What that means for the person; nil if the rest says it.
    public let means: String?
    /// What to do. A command in it is a link where this app has a page for it.
    public let remedy: String

    /// Advice in these sentences.
    public init(_ what: String, means: String? = nil, _ remedy: String) {
        (self.what, self.means, self.remedy) = (what, means, remedy)
    }
}

/// A lookup, check by check, in words.
public struct CheckedLookup: Sendable {
    /// One check of it.
    public struct Line: Sendable {
        /// How it ended.
        public enum Mark: Hashable, Sendable { case passed, failed, notReached }

        /// Whether it held.
        public let mark: Mark
        /// What holds, or what went wrong.
        public let statement: String
        /// The values that were compared, for experts.
        public let facts: [(name: String, value: String)]

        /// A check that ended so.
        public init(_ mark: Mark, _ statement: String, facts: [(name: String, value: String)]) {
            (self.mark, self.statement, self.facts) = (mark, statement, facts)
        }
    }

    /// The checks, in their order.
    public let lines: [Line]
    /// The result, in short.
    public let summary: [String]
    /// What it does not prove.
    public let unproven: [String]
    /// Why the answer is not accepted, or what the person has to decide.
    public let advice: Advice?

    /// A lookup in these words.
    public init(lines: [Line], summary: [String], unproven: [String], advice: Advice?) {
        (self.lines, self.summary, self.unproven, self.advice) = (lines, summary, unproven, advice)
    }
}
