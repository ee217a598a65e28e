#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The sole right to change what a lock file stands for, until this value or the process ends.
package final class FileLock: Sendable {
    private let number: Int32

    /// Waits for half a second: changes are short.
    ///
    /// - Returns: nil when another has it.
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

    /// A program that is being started holds a copy of the descriptor for a moment; the lock goes now.
    deinit {
        flock(number, LOCK_UN)
        close(number)
    }
}
