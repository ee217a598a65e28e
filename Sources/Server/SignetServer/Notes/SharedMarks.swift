// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Synchronization

/// Remembers what may be used once, for all front ends of a directory.
package protocol SharedMarks: Sendable {
    /// Takes a mark.
    ///
    /// In SQL it is one row: `INSERT INTO marks (mark, until) VALUES ($1, $2) ON CONFLICT DO NOTHING`, where one row was written or none, and
    /// rows whose time is over are deleted from time to time.
    ///
    /// - Parameters:
    ///   - mark: 32 bytes.
    ///   - until: for how long it has to be remembered, in seconds since 1970.
    /// - Returns: whether it is the first time. Of several front ends that ask at once, one is told so.
    /// - Throws: what kept it from being known; then the mark is worth nothing.
    func take(_ mark: [UInt8], until: UInt64) async throws -> Bool
}

/// Marks in the memory of one process.
package final class LocalMarks: SharedMarks {
    private static let capacity = 1 << 16

    /// There is no room for more marks.
    package struct Full: Error {}

    private let clock: @Sendable () -> UInt64
    private let ends = Mutex<[[UInt8]: UInt64]>([:])

    /// - Parameter clock: seconds since 1970.
    package init(clock: @escaping @Sendable () -> UInt64) { self.clock = clock }

    package func take(_ mark: [UInt8], until: UInt64) async throws -> Bool {
        let now = clock()
        return try ends.withLock { ends in
            if ends.count >= Self.capacity { ends = ends.filter { $0.value > now } }
            guard ends[mark] == nil else { return false }
            // What is remembered is never forgotten for what is new.
            guard ends.count < Self.capacity else { throw Full() }
            ends[mark] = until
            return true
        }
    }
}
