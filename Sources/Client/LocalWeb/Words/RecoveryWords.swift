// SPDX-License-Identifier: Apache-2.0

import Signet

/// How a recovery of the user's identity stands, in words.
public struct RecoveryWords: Sendable {
    /// What came from a guardian.
    public enum Mark: Hashable, Sendable { case helped, undecided, wrong }

    /// How many have helped, and how many more are needed; nil before the log holds the request.
    public let count: String?
    /// Until when it can be stopped, and until when finished.
    public let deadline: String
    /// What guardians sent.
    public let answers: [(mark: Mark, words: String)]
    /// What is to be read to whom.
    public let codes: [(guardian: String, code: String)]
    /// Who could be asked besides; nil if no others are known.
    public let others: String?
    /// That people answered whom the user did not name; nil if there are none.
    public let strangers: String?

    /// A standing in these words.
    public init(
        count: String?, deadline: String, answers: [(mark: Mark, words: String)],
        codes: [(guardian: String, code: String)], others: String?, strangers: String?
    ) {
        (self.count, self.deadline, self.answers) = (count, deadline, answers)
        (self.codes, self.others, self.strangers) = (codes, others, strangers)
    }
}
