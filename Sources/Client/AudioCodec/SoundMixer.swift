// SPDX-License-Identifier: Apache-2.0

/// Everybody's sound, added up, 20 ms at a time.
public struct SoundMixer<Speaker: Hashable & Sendable>: Sendable {
    /// Somebody is heard once so many pieces are there, so that one that is late leaves no hole: 60 ms.
    static var head: Int { 3 }
    /// More pieces than these make the call late: 200 ms. The oldest go.
    static var capacity: Int { 10 }

    private var queues: [Speaker: [[Int16]]] = [:]
    private var heard: Set<Speaker> = []

    /// Nobody is heard.
    public init() {}

    /// Takes a piece of somebody's, ``SoundFormat/sampleCount`` samples.
    public mutating func add(_ samples: [Int16], of speaker: Speaker) {
        var queue = queues[speaker] ?? []
        queue.append(samples)
        if queue.count > Self.capacity { queue.removeFirst() }
        if queue.count >= Self.head { heard.insert(speaker) }
        queues[speaker] = queue
    }

    /// The next 20 ms; silence if nobody says anything. What is too loud is cut off.
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
