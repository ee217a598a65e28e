// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Foundation
import Platform

/// Standard output for sound; what the program says goes to standard error from then on.
struct SoundOutlet: Sendable {
    /// Taken once, by the first caller; nil for a terminal.
    static let standard: SoundOutlet? = isatty(STDOUT_FILENO) == 1 ? nil : SoundOutlet()

    private let descriptor: Int32

    private init() {
        self.init(descriptor: dup(STDOUT_FILENO))
        dup2(STDERR_FILENO, STDOUT_FILENO)
    }

    /// A pipe, which whoever made it closes.
    init(_ pipe: FileHandle) { self.init(descriptor: pipe.fileDescriptor) }

    private init(descriptor: Int32) {
        self.descriptor = descriptor
        // A reader that is too slow misses some sound: the call does not wait for it.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Writes 20 ms: all of it into a pipe or nothing, since it is less than `PIPE_BUF`.
    func write(_ samples: [Int16]) {
        let bytes = SoundFormat.bytes(samples)
        _ = bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
    }
}

private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
