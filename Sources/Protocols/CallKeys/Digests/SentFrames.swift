// SPDX-License-Identifier: Apache-2.0

package import CallSignalling

/// A frame's place among those that its sender numbers.
package struct FrameName: Hashable {
    let epoch: Epoch
    let index: UInt16
    let context: UInt8
    let counter: UInt64

    init(epoch: Epoch, index: UInt16, context: UInt8, counter: UInt64) {
        (self.epoch, self.index, self.context, self.counter) = (epoch, index, context, counter)
    }

    /// Of a frame under a generation of a tenure.
    package init(_ keyID: CallKeyID, _ counter: UInt64, term: UInt32, generation: UInt32) {
        self.init(
            epoch: Epoch(term: term, generation: generation, step: keyID.step), index: keyID.index,
            context: keyID.context.rawValue, counter: counter)
    }
}

/// What this device sent: all of it in numbers, and hashes of the last.
struct SentFrames {
    private struct Stream {
        var count: UInt64 = 0
        var latest: [(hash: UInt64, round: UInt64)] = []
    }

    private struct Part {
        let epoch: Epoch
        let index: UInt16
        var streams: [UInt8: Stream] = [:]
        /// When another epoch took its place.
        var endedIn: UInt64?
    }

    /// Newest first.
    private var parts: [Part] = []
    /// The newest epoch of each tenure.
    private var reached: [UInt32: Epoch] = [:]
    private var round: UInt64 = 0
    var dueAt: UInt64 = 0

    /// In how many digests a hash, or an epoch that was left, is repeated if there is room, so that a lost digest does
    /// no harm.
    static let roundCount: UInt64 = 4

    mutating func append(_ name: FrameName, _ hash: UInt64) {
        begin(name.epoch, name.index)
        guard !parts.isEmpty else { return }
        var stream = parts[0].streams.removeValue(forKey: name.context) ?? Stream()
        stream.count = name.counter + 1
        // There may be no other member to tell.
        if stream.latest.count >= 2 * FrameDigest.maximumHashCount {
            stream.latest.removeFirst(FrameDigest.maximumHashCount)
        }
        stream.latest.append((hash, round))
        parts[0].streams[name.context] = stream
    }

    /// This device sends under an epoch, or would.
    mutating func begin(_ epoch: Epoch, _ index: UInt16) {
        guard parts.first?.epoch != epoch || parts.first?.index != index else { return }
        let isNew = reached[epoch.term].map { $0 < epoch } ?? true
        reached[epoch.term] = max(epoch, reached[epoch.term] ?? epoch)
        // What was sent under an epoch from before a stay outside is not known any more: then nothing is said.
        guard isNew else { return parts = [] }
        if !parts.isEmpty { parts[0].endedIn = round }
        parts.removeAll { $0.epoch >= epoch }
        parts.insert(Part(epoch: epoch, index: index), at: 0)
        parts = Array(parts.prefix(FrameDigest.maximumEpochCount))
    }

    /// The next digest; nil before anything could be sent.
    mutating func next(mark: UInt64, heard: [UInt64]) -> FrameDigest? {
        defer { round += 1 }
        parts.removeAll { $0.endedIn.map { $0 + Self.roundCount <= round } ?? false }
        var room = FrameDigest.maximumHashCount - heard.count
        let sent = parts.indices.map { place in
            let contexts = parts[place].streams.keys.sorted()
            return FrameDigest.Sent(
                epoch: parts[place].epoch, index: parts[place].index,
                streams: contexts.compactMap { stream($0, of: place, &room) })
        }
        return try? FrameDigest(mark: mark, heard: heard, sent: sent)
    }

    private mutating func stream(_ context: UInt8, of place: Int, _ room: inout Int) -> FrameDigest.Stream? {
        guard var stream = parts[place].streams[context] else { return nil }
        stream.latest.removeAll { $0.round + Self.roundCount <= round }
        stream.latest = stream.latest.suffix(room)
        room -= stream.latest.count
        parts[place].streams[context] = stream
        return FrameDigest.Stream(context: context, count: stream.count, hashes: stream.latest.map(\.hash))
    }
}
