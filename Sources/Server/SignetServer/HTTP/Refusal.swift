// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import KeyDirectory
import SignetAPI

/// The request ends here, with this answer.
struct Refusal: Error {
    let answer: Answer
    /// The limit that the client ran into, if one.
    var limit: Limit?
    /// Whether the log has failed for good.
    var isLogStopped = false

    init(_ code: ErrorCode) { answer = .refusal(code) }

    init(_ limit: Limit, _ answer: Answer) {
        self.answer = answer
        self.limit = limit
    }

    /// What the directory's refusal looks like from outside.
    init(_ error: DirectoryError) {
        switch error {
        case .refused(let code): self.init(code)
        case .stopped:
            self.init(.unavailable)
            isLogStopped = true
        case .database: self.init(.unavailable)
        }
    }
}
