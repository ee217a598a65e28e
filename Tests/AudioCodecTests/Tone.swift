// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Foundation

/// Whether a codec must be present: libopus comes with the package on Linux only.
#if os(Linux)
    let needsCodec = true
#else
    let needsCodec = (try? SoundEncoder()) != nil
#endif

/// Sine waves, and how to measure them.
enum Tone {
    /// The first `count` samples of a sine.
    static func samples(_ frequency: Double, count: Int, loudness: Double = 10_000) -> [Int16] {
        (0..<count).map {
            Int16(sin(2 * Double.pi * frequency * Double($0) / Double(SoundFormat.rate)) * loudness)
        }
    }

    /// Consecutive pieces of 20 ms of a sine.
    static func pieces(_ frequency: Double, count: Int) -> [[Int16]] {
        let all = samples(frequency, count: count * SoundFormat.sampleCount)
        return (0..<count).map { Array(all[$0 * SoundFormat.sampleCount..<($0 + 1) * SoundFormat.sampleCount]) }
    }

    static func energy(_ samples: [Int16]) -> Double { samples.reduce(0) { $0 + Double($1) * Double($1) } }

    /// How much of the energy is at a frequency: 1 for a sine. Goertzel's algorithm.
    static func share(of frequency: Double, in samples: [Int16]) -> Double {
        let step = 2 * Double.pi * frequency / Double(SoundFormat.rate)
        var (last, before) = (0.0, 0.0)
        for sample in samples { (last, before) = (Double(sample) + 2 * cos(step) * last - before, last) }
        let power = last * last + before * before - 2 * cos(step) * last * before
        let all = energy(samples)
        return all > 0 ? 2 * power / (Double(samples.count) * all) : 0
    }
}
