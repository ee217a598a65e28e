// SPDX-License-Identifier: Apache-2.0

import Platform
import Signet

/// A file of the home folder that a running call holds locked, with the number of its process: by it another process ends the
/// call. A file without a lock is what is left of a call that was killed.
package struct CallMark: Sendable {
    private let path: String

    private init(_ home: HomeFolder, _ name: String) { path = home.path + "/" + name }

    /// Of a call.
    package static func running(in home: HomeFolder) -> CallMark { CallMark(home, "call.running") }

    /// Of a process that waits for calls.
    package static func waiting(in home: HomeFolder) -> CallMark { CallMark(home, "call.waiting") }

    /// Holds the mark for as long as what it returns lives; nil if another call does.
    ///
    /// - Parameter isInterruptible: whether a signal to this process ends the call, and nothing else.
    package func hold(isInterruptible: Bool = true) -> HeldCallMark? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        let held = HeldCallMark(descriptor)
        let text = Array("\(isInterruptible ? getpid() : 0)\n".utf8)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, ftruncate(descriptor, 0) == 0,
            write(descriptor, text, text.count) == text.count
        else { return nil }
        return held
    }

    /// Whether a call holds the mark.
    package var isHeld: Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// Interrupts the call that holds the mark; false if there is none.
    package func interrupt() -> Bool {
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

/// The lock on a ``CallMark``.
package final class HeldCallMark: Sendable {
    private let descriptor: Int32

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}
