@testable import VRF

/// SplitMix64: the same values from the same seed, for ever. The tests name the seed when they fail.
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }

    /// A scalar below q whose shape is often extreme: few bits, low zeros, runs of ones, or near q.
    mutating func scalar() -> [UInt8] {
        var words = [next(), next(), next(), next() >> 4]
        switch next() % 8 {
        case 0: words = [next() % 4, 0, 0, 0]
        case 1: words = [words[0], words[1], 0, 0]
        case 2: words = [0, 0, words[2], words[3]]
        case 3: words = [0, 0, 0, 1 << (next() % 60)]
        case 4: words = [.max, .max, .max, .max >> 4]
        case 5: words = [PublicScalar.order.word0 - 1 - next() % 3, PublicScalar.order.word1, 0, 1 << 60]
        default: break
        }
        return Bytes32(word0: words[0], word1: words[1], word2: words[2], word3: words[3]).bytes
    }
}
