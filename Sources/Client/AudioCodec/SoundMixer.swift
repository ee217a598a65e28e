// SPDX-License-Identifier: Apache-2.0

/// The sound of all speakers, added up, 20 ms at a time.
public struct SoundMixer<Speaker: Hashable & Sendable>: Sendable {
    /// A speaker is played once this many pieces are there, so that a late piece leaves no gap: 60 ms.
    static var head: Int { 3 }
    /// More pieces than these make the call late: 200 ms. The oldest go.
    static var capacity: Int { 10 }

    private var queues: [Speaker: [[Int16]]] = [:]
    private var heard: Set<Speaker> = []

    /// A mixer without speakers.
    public init() {}

    /// Adds a piece of a speaker's sound, ``SoundFormat/sampleCount`` samples.
    public mutating func add(_ samples: [Int16], of speaker: Speaker) {
        var queue = queues[speaker] ?? []
        queue.append(samples)
        if queue.count > Self.capacity { queue.removeFirst() }
        if queue.count >= Self.head { heard.insert(speaker) }
        queues[speaker] = queue
    }

    /// The next 20 ms; silence if no speaker has a piece. Sums that are too loud are clipped.
    public mutating func next() -> [Int16] {
        var sum = [Int32](repeating: 0, count: SoundFormat.sampleCount)
        for speaker in heard {
            guard var queue = queues[speaker], !queue.isEmpty else {
                heard.remove(speaker)
                continue
            }
            for (place, sample) in queue.removeFirst().prefix(sum.count).enumerated() { sum[place] += Int32(sample) }
            queues[speaker] = queue
        }
        return sum.map { Int16(clamping: $0) }
    }
}
