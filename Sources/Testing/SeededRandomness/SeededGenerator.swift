// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: the same numbers from the same seed on every machine, so that a failure can be repeated. Not secret.
///
/// Spec: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, section 3.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// Where it began; what a test names when it fails.
    public let seed: UInt64
    private var state: UInt64

    /// A generator that begins at `seed`.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// `count` bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &self) } }

    /// `input` with one to three bytes changed, cut, put in, doubled or swapped.
    public mutating func mutant(of input: [UInt8]) -> [UInt8] {
        var result = input
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            guard !result.isEmpty else { return bytes(5) }
            let place = Int.random(in: 0..<result.count, using: &self)
            switch next() % 7 {
            case 0: result[place] ^= 1 << UInt8(next() % 8)
            case 1: result[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &self) ?? 0
            case 2: result.insert(UInt8(next() & 255), at: place)
            case 3: result.removeSubrange(place..<min(result.count, place + Int(next() % 40)))
            case 4: result.insert(contentsOf: result[place..<min(result.count, place + Int(next() % 40))], at: place)
            case 5: result.removeSubrange(place...)
            default: result.swapAt(place, Int.random(in: 0..<result.count, using: &self))
            }
        }
        return result
    }
}
