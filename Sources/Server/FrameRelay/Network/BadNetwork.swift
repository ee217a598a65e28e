// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// What a bad network does to the frames that a relay passes on: for tests. The same seed makes the same choices.
public struct BadNetwork: Hashable, Sendable {
    private let loss: Double
    private let latency: UInt64
    private let jitter: UInt64
    private var state: UInt64

    /// A bad network.
    ///
    /// - Parameters:
    ///   - loss: the chance that a packet is lost, 0 to 1.
    ///   - latency: how long a packet takes at least, in milliseconds.
    ///   - jitter: how much longer at most; larger than the pause between packets, it changes their order.
    ///   - seed: where all chance comes from.
    public init(loss: Double, latency: UInt64, jitter: UInt64, seed: UInt64) {
        (self.loss, self.latency, self.jitter, state) = (loss, latency, jitter, seed)
    }

    /// How long the next packet takes; nil if it is lost.
    package mutating func nextDelay() -> TimeAmount? {
        let isLost = Double(next() >> 11) < loss * 9_007_199_254_740_992
        let delay = latency * 1000 + next() % (jitter * 1000 + 1)
        return isLost ? nil : .microseconds(Int64(delay))
    }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
