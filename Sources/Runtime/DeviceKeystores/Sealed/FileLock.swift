import DeviceIdentity
import SignetClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The sole right to change what a lock file stands for, until this value or the process ends.
final class FileLock: Sendable {
    private let number: Int32

    /// - Returns: nil when another has it.
    init?(_ path: String) throws(DeviceIdentityKeystoreError) {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .unavailable }
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            close(number)
            guard isHeld else { throw .unavailable }
            return nil
        }
        self.number = number
    }

    deinit { close(number) }
}
