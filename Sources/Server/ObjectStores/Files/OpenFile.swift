// SPDX-License-Identifier: Apache-2.0

import Platform

/// A call to the disk that failed.
struct DiskError: Error {
    /// The `errno`.
    let code: Int32

    /// What the last call of this thread left.
    init(code: Int32 = errno) { self.code = code }
}

/// Makes what is in an open file or folder durable.
///
/// - Returns: 0, or -1 with a reason in `errno`.
@Sendable func flushed(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
        fcntl(descriptor, F_FULLFSYNC)
    #else
        fsync(descriptor)
    #endif
}

/// An open file or folder, which is closed, and its lock let go, when released.
final class OpenFile {
    let number: Int32

    init(_ path: String, _ flags: Int32) throws(DiskError) {
        number = open(path, flags | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw DiskError() }
    }

    deinit {
        // By name: a program that is being started holds a copy of every descriptor for a moment.
        if number >= 0 {
            flock(number, LOCK_UN)
            close(number)
        }
    }

    /// Waits for the lock that excludes everybody else.
    func lock() throws(DiskError) {
        while flock(number, LOCK_EX) != 0 {
            guard errno == EINTR else { throw DiskError() }
        }
    }

    /// Takes the lock if nobody has it.
    func tryLock() -> Bool { flock(number, LOCK_EX | LOCK_NB) == 0 }

    /// Writes all bytes at the end.
    func write(_ bytes: [UInt8]) throws(DiskError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Platform.write(number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw DiskError(code: count == 0 ? ENOSPC : errno) }
            written += count
        }
    }

    /// Reads so many bytes from the beginning; fewer if there are no more.
    func read(_ count: Int) throws(DiskError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(number, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(filled))
                if got < 0 && errno == EINTR { continue }
                if got < 0 { code = errno }
                if got <= 0 { break }
                filled += got
            }
        }
        guard code == 0 else { throw DiskError(code: code) }
        return bytes
    }
}
