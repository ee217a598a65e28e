// SPDX-License-Identifier: Apache-2.0

import CivilTime
import Synchronization

/// The `Date` header's value, printed once a second.
final class HTTPDate: Sendable {
    private let clock: ServerClock
    private let cached = Mutex<(second: UInt64, text: String)>((.max, ""))

    init(_ clock: ServerClock) { self.clock = clock }

    var now: String {
        let second = clock.time()
        return cached.withLock { cached in
            if cached.second != second { cached = (second, UTCTime(secondsSince1970: second).httpDate) }
            return cached.text
        }
    }
}
