// SPDX-License-Identifier: Apache-2.0

import SeededRandomness

/// Damages bytes in the ways in which attackers and broken software do.
struct Mutator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0...Int.random(in: 0..<3, using: &generator) { step(&result) }
        return result
    }

    private mutating func step(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(UInt8.random(in: 0...255, using: &generator)) }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let length = Bool.random(using: &generator) ? 33 : Int.random(in: 1...70, using: &generator)
        let end = min(bytes.count, place + length)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 3: bytes.removeSubrange(place..<end)
        case 4: bytes.insert(contentsOf: bytes[place..<end], at: end)
        case 5: bytes.removeSubrange(place...)
        default: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &generator))
        }
    }
}
