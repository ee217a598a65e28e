/// SplitMix64: the same sequence on every machine for one seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &self) } }

    /// `input` with one to three bytes changed, cut, put in, doubled or swapped.
    mutating func mutant(of input: [UInt8]) -> [UInt8] {
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
