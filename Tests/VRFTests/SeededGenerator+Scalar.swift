// SPDX-License-Identifier: Apache-2.0

import SeededRandomness

@testable import VRF

extension SeededGenerator {
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
