// SPDX-License-Identifier: Apache-2.0

import Platform

/// The exclusive right to change what a lock file protects, until this value is released or the process ends.
package final class FileLock: Sendable {
    private let number: Int32

    /// Takes the lock; waits up to half a second, because changes are short.
    ///
    /// - Returns: nil if another holder has the lock.
    /// - Throws: ``FileFault``.
    package init?(_ path: String) throws(FileFault) {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .last }
        for _ in 0..<50 {
            if flock(number, LOCK_EX | LOCK_NB) == 0 {
                self.number = number
                return
            }
            let code = errno
            guard code == EWOULDBLOCK else {
                close(number)
                throw FileFault(errno: code)
            }
            usleep(10_000)
        }
        close(number)
        return nil
    }

    /// A program that is being started holds a copy of the descriptor for a moment, so the lock is released explicitly.
    deinit {
        flock(number, LOCK_UN)
        close(number)
    }
}
