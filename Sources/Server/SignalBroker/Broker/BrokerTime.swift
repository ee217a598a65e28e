// SPDX-License-Identifier: Apache-2.0

/// The two clocks that a broker is told.
public struct BrokerTime: Hashable, Sendable {
    /// Milliseconds of a clock that never goes back: for heart-beats and rates.
    public let uptime: UInt64
    /// Milliseconds since 1970: for what outlives the process.
    public let date: UInt64

    /// A moment.
    public init(uptime: UInt64, date: UInt64) {
        self.uptime = uptime
        self.date = date
    }
}
