// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Lines in and out.
enum Lines {
    private static let turn = Mutex(())

    /// Writes a line whole, whoever else writes.
    static func say(_ line: String) {
        turn.withLock { _ in FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }

    /// What is read, until its end.
    static func ofStandardInput() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }
}

extension ContinuousClock.Instant {
    /// Whole milliseconds since this instant.
    var age: Int64 { Int64((.now - self) / .milliseconds(1)) }
}
