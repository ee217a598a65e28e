// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Ends all that a process asks its PostgreSQL, at once and for good: of a process that was told to stop, while the server stands still.
///
/// Whoever waits for a socket waits for a pipe beside it. A commit that is ended so is of unknown outcome, as at any other loss of its
/// connection: nobody is told that it succeeded.
package final class PostgresCutOff: Sendable {
    /// Can be read once all is ended; less than 0 if the system had no pipe to give, so that nobody is woken.
    let descriptor: Int32
    /// The other end of the pipe; nil once all is ended.
    private let other: Mutex<Int32?>

    package init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 { for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
        descriptor = ends[0]
        other = Mutex(ends[1])
    }

    deinit {
        cut()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Ends it.
    package func cut() {
        let end = other.withLock { other in
            defer { other = nil }
            return other
        }
        guard let end, end >= 0 else { return }
        // Its end alone would not do where a program that was just started has it open too.
        _ = write(end, [0], 1)
        close(end)
    }

    /// Whether it was ended.
    var isCut: Bool { other.withLock { $0 == nil } }
}
