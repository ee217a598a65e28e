// SPDX-License-Identifier: Apache-2.0

import SeededRandomness

/// Damages bytes in the ways in which attackers and broken software do.
struct Mutator {
    private var generator: SeededGenerator
    private static let telling: [UInt8] = [
        0x00, 0x09, 0x0A, 0x0D, 0x20, 0x23, 0x2B, 0x2D, 0x2F, 0x30, 0x3D, 0x41, 0x78, 0x7F, 0x80, 0xC2, 0xE2,
        0xFF,
    ]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0...Int.random(in: 0..<3, using: &generator) { step(&result) }
        return result
    }

    private mutating func step(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(UInt8.random(in: 0...255, using: &generator)) }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, place + Int.random(in: 1...70, using: &generator))
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[place] = Self.telling.randomElement(using: &generator) ?? 0
        case 2: bytes.insert(Self.telling.randomElement(using: &generator) ?? 0, at: place)
        case 3: bytes.removeSubrange(place..<end)
        case 4: bytes.insert(contentsOf: bytes[place..<end], at: end)
        case 5: bytes.removeSubrange(place...)
        case 6: duplicateOrDropLine(&bytes, around: place)
        default: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &generator))
        }
    }

    private mutating func duplicateOrDropLine(_ bytes: inout [UInt8], around place: Int) {
        let start = bytes[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let end = bytes[place...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
        if Bool.random(using: &generator) {
            bytes.insert(contentsOf: bytes[start..<end], at: end)
        } else {
            bytes.removeSubrange(start..<end)
        }
    }
}
