// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Loses and delays the frames that a relay passes on, as a bad network does. The same seed makes the same choices.
package final class BadNetwork: Sendable {
    private let loss: Double
    private let latency: UInt64
    private let jitter: UInt64
    private let state: Mutex<UInt64>

    /// A bad network.
    ///
    /// - Parameters:
    ///   - loss: the chance that a packet is lost, 0 to 1.
    ///   - latency: how long a packet takes at least, in milliseconds.
    ///   - jitter: the most additional time, in milliseconds. If it exceeds the pause between packets, their order
    ///     changes.
    ///   - seed: the seed of all random choices.
    package init(loss: Double, latency: UInt64, jitter: UInt64, seed: UInt64) {
        (self.loss, self.latency, self.jitter) = (loss, latency, jitter)
        state = Mutex(seed)
    }

    /// Reads `LOSS,LATENCY,JITTER,SEED`, such as `0.05,20,60,1`; nil for any other text, and for times above ten
    /// seconds.
    package convenience init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, let loss = Double(parts[0]), (0...1).contains(loss), let latency = UInt64(parts[1]),
            let jitter = UInt64(parts[2]), let seed = UInt64(parts[3]), max(latency, jitter) <= 10_000
        else { return nil }
        self.init(loss: loss, latency: latency, jitter: jitter, seed: seed)
    }

    /// How long the next packet takes; nil if it is lost.
    package func nextDelay() -> Duration? {
        let (chance, time) = state.withLock { (Self.next(&$0), Self.next(&$0)) }
        let isLost = Double(chance >> 11) < loss * 9_007_199_254_740_992
        return isLost ? nil : .microseconds(Int64(latency * 1000 + time % (jitter * 1000 + 1)))
    }

    /// SplitMix64.
    private static func next(_ state: inout UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
