// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Foundation

/// What is played while somebody is calling: two short tones of 440 and 480 Hz, and a pause, every three seconds.
struct RingTone {
    /// In pieces of 20 ms.
    private static let (period, tones) = (150, [0..<20, 30..<50])
    private var place = 0

    /// The next 20 ms.
    mutating func next() -> [Int16] {
        defer { place += 1 }
        guard Self.tones.contains(where: { $0.contains(place % Self.period) }) else {
            return [Int16](repeating: 0, count: SoundFormat.sampleCount)
        }
        return (0..<SoundFormat.sampleCount).map { sample in
            let angle = 2 * Double.pi * Double(place * SoundFormat.sampleCount + sample) / 48_000
            return Int16((sin(440 * angle) + sin(480 * angle)) * 4000)
        }
    }
}
