// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Remembers the first failure of a log and reports it to every listener once.
final class FailureLatch: Sendable {
    private let first = Mutex<LogFailure?>(nil)
    private let onFailure: @Sendable (LogFailure) -> Void

    init(_ onFailure: @escaping @Sendable (LogFailure) -> Void) { self.onFailure = onFailure }

    /// The failure, if there was one.
    var failure: LogFailure? { first.withLock { $0 } }

    /// Ends the log. Only the first call does anything.
    func fail(_ failure: LogFailure) {
        let isFirst = first.withLock { first in
            defer { first = first ?? failure }
            return first == nil
        }
        if isFirst { onFailure(failure) }
    }
}
