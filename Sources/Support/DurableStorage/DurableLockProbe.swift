// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Finds out whether an SQLite file that is open here can be written, or something else has it locked.
package struct DurableLockProbe: Sendable {
    private let queue: DurableQueue

    /// - Parameters:
    ///   - path: of a file that is there; nil is given if it is not, or cannot be opened.
    ///   - patience: for how many seconds a lock may last, which every transaction of another connection has for a moment.
    package init?(of path: String, patience: Double) {
        guard access(path, F_OK) == 0 else { return nil }
        var configuration = Configuration()
        configuration.busyMode = .timeout(patience)
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return nil }
        self.queue = DurableQueue(queue) { try $0.close() }
    }

    /// Whether the file was locked for as long as the probe's patience. It takes the lock of whoever writes and gives it back at once; nothing
    /// is written.
    package func isLocked() async -> Bool {
        do {
            try await queue.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) { .rollback }
            }
            return false
        } catch let error as DatabaseError {
            return error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
        } catch { return false }
    }

    /// Closes the probe's connection.
    package func close() { try? queue.close() }
}
