// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The exclusive lock on the data directory, shared by everything that may still be writing there.
final class DirectoryHold: Sendable {
    private let lock: Mutex<(any LogDirectoryLock)?>

    init(_ lock: any LogDirectoryLock) { self.lock = Mutex(lock) }

    /// Lets go. Called when every stage has come to its end.
    func release() { lock.withLock { $0 = nil } }
}
