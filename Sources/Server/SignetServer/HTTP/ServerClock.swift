// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// The two clocks that the server reads; tests bring their own.
package struct ServerClock: Sendable {
    /// Seconds since 1970.
    package var time: @Sendable () -> UInt64
    /// Nanoseconds that never go back.
    package var uptime: @Sendable () -> UInt64

    /// Clocks of one's own.
    package init(time: @escaping @Sendable () -> UInt64, uptime: @escaping @Sendable () -> UInt64) {
        self.time = time
        self.uptime = uptime
    }

    /// The system's.
    package static let system = ServerClock(
        time: { UInt64(max(0, Date().timeIntervalSince1970)) },
        uptime: { NIODeadline.now().uptimeNanoseconds })

    /// Milliseconds since 1970.
    static func milliseconds() -> UInt64 { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }
}
