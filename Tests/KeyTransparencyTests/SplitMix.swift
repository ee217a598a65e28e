// SPDX-License-Identifier: Apache-2.0

/// A small seeded generator (SplitMix64, Steele, Lea and Flood 2014): the same mutations on every run.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// One to four edits: flip, overwrite, insert, delete, repeat a run, cut.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...below(4) {
            guard !bytes.isEmpty else { break }
            let place = below(bytes.count)
            switch below(6) {
            case 0: bytes[place] ^= 1 << below(8)
            case 1: bytes[place] = UInt8(truncatingIfNeeded: next())
            case 2: bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
            case 3: bytes.remove(at: place)
            case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + below(40))], at: place)
            default: bytes.removeLast(below(min(bytes.count, 50)))
            }
        }
        return bytes
    }
}
