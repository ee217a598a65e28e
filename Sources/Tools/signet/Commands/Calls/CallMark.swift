import SignetClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file of the home folder that a running call holds locked, with the number of its process: by it another process ends the
/// call. A file without a lock is what is left of a call that was killed.
struct CallMark {
    private let path: String

    init(_ home: HomeFolder) { path = home.path + "/call.running" }

    /// Holds the mark for as long as the process runs; false if another call does.
    func hold() -> Bool {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        let text = Array("\(getpid())\n".utf8)
        return ftruncate(descriptor, 0) == 0 && write(descriptor, text, text.count) == text.count
    }

    /// Interrupts the call that holds the mark; false if there is none.
    func interrupt() -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 1, let process = Int32(String(decoding: bytes[..<(count - 1)], as: UTF8.self)), process > 1 else {
            return false
        }
        return kill(process, SIGINT) == 0
    }
}
