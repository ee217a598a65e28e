// SPDX-License-Identifier: Apache-2.0

import Platform
import Synchronization

/// A bar on a terminal, and a line now and then anywhere else.
final class AuditProgress: Sendable {
    private let last = Mutex<(tenth: UInt64, size: UInt64)>((0, 0))

    /// Shows how many entries of how many have been read.
    @Sendable func show(_ done: UInt64, _ size: UInt64) {
        // A few bundles are read at once: nothing to wait for.
        guard size >= 10_000 else { return }
        if isatty(STDERR_FILENO) == 1 {
            let filled = Int(done * 30 / size)
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
            return Output.progress("\(bar) \(done * 100 / size) %  \(done) of \(size) entries")
        }
        let isNew = last.withLock { last in
            let tenth = done * 10 / size
            defer { last = (tenth, size) }
            return last != (tenth, size) && tenth > 0
        }
        if isNew { Output.error("audited \(done) of \(size) entries") }
    }
}
