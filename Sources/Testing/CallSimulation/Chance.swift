// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: the same sequence on every machine for one seed.
public struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A sequence.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// True with this probability.
    mutating func happens(_ probability: Double) -> Bool {
        Double(next() >> 11) < probability * 9_007_199_254_740_992
    }

    /// 0 to `limit`.
    mutating func upTo(_ limit: UInt64) -> UInt64 { limit == 0 ? 0 : next() % (limit + 1) }
}
