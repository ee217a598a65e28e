// SPDX-License-Identifier: Apache-2.0

/// A parser with a mistake that random bytes find once in 2^32 inputs, and those led by the paths taken within seconds. A
/// fuzzer that does not find it sees no paths, and its other runs say nothing.
@Sendable func plantedParsers() -> [Parser] {
    [
        Parser("planted") { bytes in
            guard bytes.count >= 4, bytes[0] == 0xB7 else { return false }
            guard bytes[1] == 0x05 else { return false }
            guard bytes[2] == 0xE9 else { return false }
            guard bytes[3] == 0x62 else { return false }
            fatalError("planted: found")
        }
    ]
}
