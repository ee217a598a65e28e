// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SFrame

/// What this device and the others say of their frames.
struct DigestState {
    var sent = SentFrames()
    var heard: [CallDevice: HeardFrames] = [:]
    /// How many digests this device has made, and the marks of the last.
    var made: UInt64 = 0
    var marks: [(mark: UInt64, number: UInt64)] = []
    /// The mark of each member's last digest.
    var marksHeard: [CallDevice: (mark: UInt64, at: UInt64)] = [:]

    /// A mark that comes back later than so many of them says nothing.
    static let markCount = 16
    /// Marks of so many members go into a digest: there has to be room for hashes.
    static let heardCount = 63
}

/// Each member signs what it sent. A device that opened any other frame in that member's name knows that another holder
/// of the key made it.
///
/// Security: what is reported as forged is proven to this device, if the member speaks the truth of itself: it signed another frame of that
/// number; or signed, after this device had opened the frame, how many it has sent, and the frame is beyond them. Neither needs a clock,
/// and nothing that is lost, late, repeated or kept back makes it so. A frame of which no digest spoke in time is unconfirmed.
extension CallParticipant {
    mutating func note(sent frame: [UInt8], _ context: MediaContext) {
        guard times.digestInterval > 0, let reached, let index = roster?.index(of: device),
            let header = try? FrameHeader(startOf: frame)
        else { return }
        let name = FrameName(epoch: reached, index: index, context: context.rawValue, counter: header.counter)
        digests.sent.append(name, FrameDigest.hash(of: frame))
    }

    mutating func note(
        opened frame: HoldBuffer.Held, _ generation: UInt32, _ counter: UInt64, of sender: CallDevice, at now: UInt64
    ) {
        guard times.digestInterval > 0, let term = ring.term(of: generation) else { return }
        let name = FrameName(frame.keyID, counter, term: term, generation: generation)
        let isForeign = digests.heard[sender, default: HeardFrames()]
            .open(name, FrameDigest.hash(of: frame.frame), made: digests.made, at: now)
        if isForeign { accuse([name], as: sender) }
    }

    mutating func receive(_ digest: FrameDigest, from sender: CallDevice, at now: UInt64) {
        guard roster?.contains(sender) == true || digests.heard[sender] != nil else { return }
        digests.marksHeard[sender] = (digest.mark, now)
        let answered = digests.marks.last { digest.heard.contains($0.mark) }?.number
        let wasContradicted = digests.heard[sender]?.isContradicted ?? false
        let foreign = digests.heard[sender, default: HeardFrames()].compare(digest, answered: answered)
        if !foreign.isEmpty { accuse(foreign, as: sender) }
        if !wasContradicted, digests.heard[sender]?.isContradicted == true { output.append(.contradicted(sender)) }
    }

    private mutating func accuse(_ frames: [FrameName], as sender: CallDevice) {
        output.append(.forged(frames: frames.count, as: sender, holders: holders(of: frames, but: sender)))
    }

    /// Who else has the keys of these frames; nil if this device cannot know.
    private func holders(of frames: [FrameName], but sender: CallDevice) -> [CallDevice]? {
        var holders: Set<CallDevice> = []
        for epoch in Set(frames.map(\.epoch)) {
            // A device that was admitted with a step that the host has not mentioned is not in our roster yet.
            guard let generation = ring.generations[epoch.generation], generation.scope.term == epoch.term,
                epoch.step <= generation.headStep
            else { return nil }
            holders.formUnion(generation.members.values)
        }
        return holders.subtracting([sender, device]).sorted()
    }

    /// Twice a second, tells every other device what this device sent, and gives up on frames that no digest covered in
    /// time.
    mutating func exchangeDigests(at now: UInt64) {
        guard times.digestInterval > 0, let roster, let reached, let index = roster.index(of: device),
            now >= digests.sent.dueAt
        else { return }
        digests.sent.dueAt = now + times.digestInterval
        giveUpFrames(at: now)
        digests.sent.begin(reached, index)
        sendDigest(to: roster.members.map(\.device).filter { $0 != device }, at: now)
    }

    mutating func sendDigest(to others: [CallDevice], at now: UInt64) {
        guard times.digestInterval > 0, !others.isEmpty else { return }
        let mark = UInt64.random(in: 0 ... .max, using: &generator)
        let heard = Set(digests.marksHeard.values.map(\.mark)).sorted().prefix(DigestState.heardCount)
        guard let digest = digests.sent.next(mark: mark, heard: Array(heard)) else { return }
        digests.marks = digests.marks.suffix(DigestState.markCount - 1) + [(mark, digests.made)]
        digests.made += 1
        // The relay takes 250 packets a second of a device, frames and all: in a large call each has its turn.
        let half =
            others.count <= PacketDraft.digestCount
            ? others
            : others.enumerated().filter {
                ($0.offset + Int(digests.made % 2)).isMultiple(of: 2)
            }.map(\.element)
        output.append(.sendPacket(PacketDraft(recipients: half, content: .signal(draft(.digest(digest), at: now)))))
    }

    private mutating func giveUpFrames(at now: UInt64) {
        let limit = now - min(now, times.digestPatience)
        for sender in digests.heard.keys.sorted() {
            let count = digests.heard[sender]?.giveUp(before: limit) ?? 0
            if count > 0 { output.append(.unconfirmed(frames: count, of: sender)) }
        }
        digests.heard = digests.heard.filter { !$0.value.isEmpty || roster?.contains($0.key) == true }
        digests.marksHeard = digests.marksHeard.filter { now < $0.value.at + times.digestPatience }
    }
}
