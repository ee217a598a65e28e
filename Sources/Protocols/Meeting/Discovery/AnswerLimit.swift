// SPDX-License-Identifier: Apache-2.0

/// How often is answered, so that a flood of questions makes no flood of answers: to all once a second (RFC 6762, section 6), to askers at
/// ports of their own twenty times a second.
public struct AnswerLimit: Sendable {
    private var second = Int64.min
    private var counts = (toAll: 0, direct: 0)

    /// Nothing was answered yet.
    public init() {}

    /// Whether one more answer may be given.
    ///
    /// - Parameters:
    ///   - isDirect: whether it goes to one asker.
    ///   - second: by any clock that does not go back.
    public mutating func take(isDirect: Bool, in second: Int64) -> Bool {
        if self.second != second { (self.second, counts) = (second, (0, 0)) }
        if isDirect { counts.direct += 1 } else { counts.toAll += 1 }
        return isDirect ? counts.direct <= 20 : counts.toAll <= 1
    }
}
