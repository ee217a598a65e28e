// SPDX-License-Identifier: Apache-2.0

import CallSignalling
public import SFrame

/// What is remembered of the streams that arrive.
struct StreamWatch {
    typealias Stream = HoldBuffer.Stream

    /// Streams that lost frames and need one that stands by itself.
    var broken: Set<Stream> = []
    var askedAt: [Stream: UInt64] = [:]
    /// Failures in a row under a known key, and since when.
    var failures: [UInt64: (since: UInt64, count: Int)] = [:]
    var answeredAt: [CallDevice: UInt64] = [:]
}

/// Why nothing was sealed. Drop the frame; never send it in the clear.
public enum CallSealError: Error, Hashable, Sendable {
    /// This device has no key to send under.
    case noKey
    /// SFrame refused: our bug.
    case frame(FrameSealError)
}

extension CallParticipant {
    /// Seals a frame under the epoch in use.
    ///
    /// - Throws: ``CallSealError``. Drop the frame; never send it in the clear.
    public mutating func seal(_ plaintext: [UInt8], _ context: MediaContext) throws(CallSealError) -> [UInt8] {
        guard let sealer = sealer(context) else { throw .noKey }
        let frame: [UInt8]
        do { frame = try sealer.seal(plaintext) } catch { throw .frame(error) }
        note(sent: frame, context)
        return frame
    }

    private func sealer(_ context: MediaContext) -> FrameSealer? {
        guard isMember, let sending, let index = roster?.index(of: device) else { return nil }
        return ring.sealer(index, context, sending)
    }

    mutating func receive(_ frame: [UInt8], carriedFor alias: MemberAlias? = nil, at now: UInt64) {
        guard let header = try? FrameHeader(startOf: frame), let keyID = CallKeyID(rawValue: header.keyID) else {
            return drop(.malformed, nil)
        }
        guard isMember else { return drop(.outside, keyID) }
        guard keyID.index != roster?.index(of: device) else { return drop(.own, keyID) }
        open(HoldBuffer.Held(frame: frame, keyID: keyID, carriedFor: alias, arrivedAt: now), at: now)
    }

    private mutating func open(_ held: HoldBuffer.Held, at now: UInt64) {
        switch ring.open(held, at: now) {
        case .opened(let opened, let sender, let generation):
            play(opened, held, sender, generation, at: now)
            followEvidence(generation, held.keyID.step, sender, at: now)
        case .unknownGeneration:
            isAhead(held.keyID)
                ? keep(held, at: now) : drop(wasEntitled(held.keyID) ? .expired : .notEntitled, held.keyID)
        case .unknownSender: keep(held, at: now)
        case .notEntitled: drop(.notEntitled, held.keyID)
        case .expired: drop(.expired, held.keyID)
        case .replayed: drop(.replayed, held.keyID)
        case .anotherSender: drop(.anotherSender, held.keyID, carriedFor: held.carriedFor)
        case .notAuthentic: fail(held, at: now)
        }
    }

    /// At most this many generations after ours are taken for later ones, by their four bits.
    static let generationsAhead = 8

    /// Whether the four bits name a generation after ours rather than one before.
    private func isAhead(_ keyID: CallKeyID) -> Bool {
        guard let sending = reached else { return true }
        return (1...Self.generationsAhead).contains(Int((UInt32(keyID.generationBits) &- sending.generation) & 15))
    }

    /// Whether the generation, which is one before ours, is one that this device was given when it had its turn.
    private func wasEntitled(_ keyID: CallKeyID) -> Bool {
        guard let sending = reached else { return false }
        let age = (sending.generation &- UInt32(keyID.generationBits)) & 15
        return sending.generation >= firstGeneration + age
    }

    private mutating func play(
        _ opened: OpenedFrame, _ held: HoldBuffer.Held, _ sender: CallDevice, _ generation: UInt32, at now: UInt64
    ) {
        streams.failures[held.keyID.rawValue] = nil
        output.append(
            .play(
                PlayedFrame(
                    sender: sender, context: held.keyID.context, generation: generation, step: held.keyID.step,
                    counter: opened.header.counter, plaintext: opened.plaintext, waited: now - held.arrivedAt)))
        note(opened: held, generation, opened.header.counter, of: sender, at: now)
        let stream = StreamWatch.Stream(index: held.keyID.index, context: held.keyID.context)
        guard streams.broken.contains(stream), now >= (streams.askedAt[stream] ?? 0) + times.keyFrameInterval else {
            return
        }
        streams.broken.remove(stream)
        streams.askedAt[stream] = now
        output.append(.keyFrameNeeded(sender, held.keyID.context))
    }

    /// An authentic frame of the host's proves a generation, and moves this device to it. No frame moves this device's
    /// step, because that step may have been made for a member of which this device has not heard.
    ///
    /// Security: another member's frame proves nothing, for that member may have chosen the secret itself.
    private mutating func followEvidence(
        _ generation: UInt32, _ step: UInt8, _ sender: CallDevice, at now: UInt64
    ) {
        heardAt[sender] = now
        if let term = ring.term(of: generation) {
            note(Epoch(term: term, generation: generation, step: step), of: sender, at: now)
        }
        guard let roster, sender == roster.host else { return }
        if now < hostSignalAt + times.frameCredit { hostHeardAt = now }
        if ring.term(of: generation) == roster.term { ring.prove(generation) }
        switchSending(to: generation, at: now)
    }

    private mutating func keep(_ held: HoldBuffer.Held, at now: UInt64) {
        if now >= held.arrivedAt + times.holdDuration { return drop(.keyMissing, held.keyID) }
        if !hold.insert(held) { drop(.noRoom, held.keyID) }
    }

    /// Tries every held frame again, asks for what has been missing for a while, and gives up what waited too long.
    mutating func releaseHeld(at now: UInt64) {
        guard let oldest = hold.oldest else { return }
        let held = hold.takeAll()
        for frame in held { open(frame, at: now) }
        if now >= oldest + times.needDelay, let waiting = hold.frames.first {
            need(waiting.keyID.context == .audio ? .audioDecryptFailed : .mediaDecryptFailed, since: oldest, at: now)
        }
    }

    /// A known key that opens nothing any more may be the wrong one: ask, but never give it up.
    private mutating func fail(_ held: HoldBuffer.Held, at now: UInt64) {
        drop(.notAuthentic, held.keyID)
        var failures = streams.failures[held.keyID.rawValue] ?? (now, 0)
        if now > failures.since + 500 { failures = (now, 0) }
        failures.count += 1
        if streams.failures.count >= 4096 { streams.failures = [:] }
        streams.failures[held.keyID.rawValue] = failures
        if failures.count > 5 {
            need(held.keyID.context == .audio ? .audioDecryptFailed : .mediaDecryptFailed, at: now)
        }
    }

    private mutating func drop(_ reason: FrameDropReason, _ keyID: CallKeyID?, carriedFor alias: MemberAlias? = nil) {
        output.append(.dropped(DroppedFrame(reason: reason, keyID: keyID, carriedFor: alias)))
        guard let keyID, keyID.context.isVideo, reason == .keyMissing || reason == .noRoom else { return }
        streams.broken.insert(StreamWatch.Stream(index: keyID.index, context: keyID.context))
    }
}
