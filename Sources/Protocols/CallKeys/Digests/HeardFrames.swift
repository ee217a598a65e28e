// SPDX-License-Identifier: Apache-2.0

package import CallSignalling

/// Frames that were opened in a member's name, until a digest of the member's says whether it sent them.
package struct HeardFrames {
    private struct Waiting {
        let name: FrameName
        let hash: UInt64
        let openedAt: UInt64
        /// How many digests this device had made by then.
        let made: UInt64
    }

    private enum Verdict {
        case own
        case foreign
        case unknown
    }

    /// Oldest first.
    private var waiting: [Waiting] = []
    /// What digests said, oldest first: a frame may come later.
    private var saidOrder: [FrameName] = []
    private var said: [FrameName: UInt64] = [:]
    /// Epochs that the member left, oldest first.
    private var ended: [FrameDigest.Sent] = []
    /// Whether the member has signed two frames with one number.
    package private(set) var isContradicted = false

    /// How many frames are remembered, of each kind.
    static let frameCount = 1024
    private static let endedCount = 8

    /// Nothing yet.
    package init() {}

    var isEmpty: Bool { waiting.isEmpty }

    /// A frame was opened.
    ///
    /// - Parameter made: how many digests this device has made.
    /// - Returns: whether the member is known not to have sent it.
    package mutating func open(_ name: FrameName, _ hash: UInt64, made: UInt64, at now: UInt64) -> Bool {
        let frame = Waiting(name: name, hash: hash, openedAt: now, made: made)
        switch judge(frame) {
        case .own: return false
        case .foreign: return true
        case .unknown: waiting.append(frame)
        }
        return false
    }

    /// The member has signed a digest.
    ///
    /// - Parameter answered: which of this device's digests the member had heard when it signed, counted from 0; nil for none.
    /// - Returns: frames that were opened and that the member did not send.
    package mutating func compare(_ digest: FrameDigest, answered: UInt64?) -> [FrameName] {
        for sent in digest.sent { learn(sent) }
        ended.removeAll { known in digest.sent.contains { $0.epoch == known.epoch } }
        ended = Array((ended + digest.sent.dropFirst().reversed()).suffix(Self.endedCount))
        var foreign: [FrameName] = []
        let frames = waiting
        waiting = []
        for frame in frames {
            // Signed after this device had opened the frame: what the member does not have by now it did not send.
            let isLater = answered.map { $0 >= frame.made } ?? false
            switch judge(frame, by: isLater ? digest.sent.first : nil) {
            case .own: break
            case .foreign: foreign.append(frame.name)
            case .unknown: waiting.append(frame)
            }
        }
        return foreign
    }

    /// Forgets frames that were opened before `limit` and those that are too many.
    ///
    /// - Returns: how many.
    package mutating func giveUp(before limit: UInt64) -> Int {
        let old = waiting.prefix { $0.openedAt < limit }.count
        let count = max(old, waiting.count - Self.frameCount)
        waiting.removeFirst(count)
        return count
    }

    private mutating func learn(_ sent: FrameDigest.Sent) {
        for stream in sent.streams {
            let first = stream.count - UInt64(stream.hashes.count)
            for (place, hash) in stream.hashes.enumerated() {
                let name = FrameName(
                    epoch: sent.epoch, index: sent.index, context: stream.context, counter: first + UInt64(place))
                if let known = said[name] {
                    if known != hash { isContradicted = true }
                    continue
                }
                said[name] = hash
                saidOrder.append(name)
            }
        }
        let surplus = max(0, saidOrder.count - Self.frameCount)
        for name in saidOrder.prefix(surplus) { said[name] = nil }
        saidOrder.removeFirst(surplus)
    }

    /// - Parameter current: what the member sends under, if it said so after the frame was opened.
    private func judge(_ frame: Waiting, by current: FrameDigest.Sent? = nil) -> Verdict {
        let name = frame.name
        if let own = said[name] { return own == frame.hash ? .own : .foreign }
        if let current, current.epoch.term == name.epoch.term, current.epoch < name.epoch { return .foreign }
        let sent = (current.map { [$0] } ?? []) + ended
        let isBeyond = sent.contains {
            $0.epoch == name.epoch && $0.index == name.index && name.counter >= $0.count(of: name.context)
        }
        return isBeyond ? .foreign : .unknown
    }
}
