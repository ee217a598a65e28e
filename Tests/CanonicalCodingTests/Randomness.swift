// SPDX-License-Identifier: Apache-2.0

import SeededRandomness

extension SeededGenerator {
    /// Up to `maximum` random bytes.
    mutating func bytes(upTo maximum: Int) -> [UInt8] {
        (0..<Int.random(in: 0...maximum, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// `input` with one to three changes of a byte: flipped, replaced, inserted, removed or doubled.
    mutating func mutate(_ input: [UInt8]) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            guard !bytes.isEmpty else { return [UInt8.random(in: 0...255, using: &self)] }
            let place = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &self)
            case 2: bytes.insert(Array("=0Az+/\r\n".utf8).randomElement(using: &self) ?? 0, at: place)
            case 3: bytes.remove(at: place)
            default: bytes.insert(bytes[place], at: place)
            }
        }
        return bytes
    }
}

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
