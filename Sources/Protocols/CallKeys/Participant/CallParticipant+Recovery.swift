// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// A missing secret, from when it is missed until it is there.
struct Recovery {
    var neededSince: UInt64?
    var reason = KeyRequestReason.signalMissed
    var request: Request?
    var requestedAt: UInt64?
    var fruitless = 0

    struct Request {
        let id: SignalNonce
        let startedAt: UInt64
        var sentAt: UInt64
        /// How many members were asked.
        var asked: Int
        var targets: Set<CallDevice>
    }
}

extension CallParticipant {
    /// A secret is missing. The host never asks: it makes them.
    mutating func need(_ reason: KeyRequestReason, since: UInt64? = nil, at now: UInt64) {
        guard !isHost, recovery.neededSince == nil else { return }
        recovery.neededSince = since ?? now
        recovery.reason = reason
        pursueMissingKeys(at: now)
    }

    /// Asks when it is time, at most once in three seconds: the host first and then, until an answer comes, the next
    /// member each second, for ten seconds.
    mutating func pursueMissingKeys(at now: UInt64) {
        guard !isHost, recovery.neededSince != nil else { return }
        guard let request = recovery.request else { return beginRequest(at: now) }
        if now >= request.startedAt + times.requestTimeout {
            recovery.request = nil
            recovery.neededSince = nil
            recovery.fruitless = min(recovery.fruitless + 1, 2)
        } else if now >= request.sentAt + times.requestRetarget {
            ask(request, at: now)
        }
    }

    private mutating func beginRequest(at now: UInt64) {
        let cooldown = times.requestCooldown << UInt64(recovery.fruitless)
        if let requestedAt = recovery.requestedAt, now < requestedAt + cooldown { return }
        recovery.requestedAt = now
        let id = SignalNonce(using: &generator)
        ask(Recovery.Request(id: id, startedAt: now, sentAt: now, asked: 0, targets: []), at: now)
    }

    private mutating func ask(_ request: Recovery.Request, at now: UInt64) {
        guard let roster else { return }
        let others = roster.successors.filter { $0 != device }
        let targets = isHostSilent(at: now) ? others + [roster.host] : [roster.host] + others
        let target = targets[request.asked % targets.count]
        var request = request
        request.sentAt = now
        request.asked += 1
        request.targets.insert(target)
        recovery.request = request
        let body = KeyRequest(id: request.id, reason: recovery.reason, newest: reached?.generation ?? 0)
        send(.request(body), to: target, at: now)
    }

    /// Answers a member, but not again and again.
    mutating func answer(_ request: KeyRequest, from sender: CallDevice, at now: UInt64) {
        guard roster?.contains(sender) == true else { return refuse(.notEntitled, sender) }
        guard now >= (heardRequestAt(sender) ?? 0) + times.replyInterval else { return refuse(.tooOften, sender) }
        giveAll(to: sender, id: request.id, at: now)
    }

    private func heardRequestAt(_ sender: CallDevice) -> UInt64? {
        duty?.answeredAt[sender] ?? streams.answeredAt[sender]
    }

    /// Gives a member what it is entitled to: the newest step of each generation of which it is a member, and which is not only another
    /// member's word.
    mutating func giveAll(to member: CallDevice, id: SignalNonce, at now: UInt64) {
        guard let roster, let sending = reached else { return }
        guard let index = roster.index(of: member) else { return refuse(.notEntitled, member) }
        let entitled = ring.generations.values.filter {
            $0.isProven && $0.scope.generation >= sending.generation && $0.members[index] == member
        }
        guard !entitled.isEmpty else { return refuse(.notEntitled, member) }
        duty?.answeredAt[member] = now
        streams.answeredAt[member] = now
        let keys = entitled.map(\.newest).sorted { $0.epoch < $1.epoch }.suffix(3)
        let newestEntitled = keys.first { $0.epoch.generation == sending.generation } ?? keys.last
        send(
            .reply(KeyReply(id: id, current: newestEntitled?.epoch ?? sending, roster: roster, wraps: [])), to: member,
            keys: keys.map { OfferedKey(recipient: member, epoch: $0.epoch, secret: $0.secret) }, at: now)
    }

    /// An answer installs by epoch and never takes anything back. From the host it is believed; from another member it is
    /// used to open frames, and to send only after the host has proven it: by a frame, by giving the same, or by having
    /// announced it. One that contradicts what this device knows of the secret is refused.
    mutating func receiveReply(_ reply: KeyReply, _ signal: OpenedSignal, at now: UInt64) {
        let isFromHost = signal.sender == roster?.host && reply.roster.host == signal.sender
        let isAnswer = recovery.request.map { $0.id == reply.id && $0.targets.contains(signal.sender) } ?? false
        guard isFromHost || isAnswer, let known = roster, reply.roster.callID == callID else {
            return refuse(.notRequested, signal.sender)
        }
        guard !isHost else { return refuse(.notTheHost, signal.sender) }
        let verdicts = signal.keys.map { ring.fits($0.secret, $0.epoch, in: callID) }
        if verdicts.contains(false) {
            refuse(.wrongCommitment, signal.sender)
            // The roster is the host's, even if what it says of a key is not used.
            guard isFromHost else { return }
        }
        if isFromHost, reply.roster.term == known.term, reply.roster.number > known.number,
            reply.roster.contains(device)
        {
            adopt(reply.roster, signal.newestGeneration ?? reply.current.generation, at: now)
        }
        let limit = Int(reached?.generation ?? 0) + Self.generationsAhead
        for (key, fits) in zip(signal.keys, verdicts) where fits != false {
            guard isFromHost || Int(key.epoch.generation) <= limit else { continue }
            install(key.epoch, key.secret, roster ?? known, isProven: isFromHost || fits == true, at: now)
        }
        if isFromHost {
            for key in signal.keys { ring.advance(key.epoch.generation, to: key.epoch.step, at: now) }
            switchSending(to: reply.current.generation, at: now)
            followSteps(at: now)
            awaitCommit(of: signal.keys, at: now)
        }
        releaseHeld(at: now)
        endRecovery(signal, at: now)
    }

    /// A key of the host's that is not in use yet is used when its commit comes, or soon.
    mutating func awaitCommit(of keys: [OfferedKey], at now: UInt64) {
        guard let newest = keys.map(\.epoch).max(), isBehind(newest), pending?.epoch.generation != newest.generation
        else {
            return
        }
        let deadline = min(pending?.deadline ?? .max, now + times.leaveBarrier)
        pending = PendingSwitch(epoch: newest, notBefore: now, deadline: deadline)
    }

    private mutating func endRecovery(_ signal: OpenedSignal, at now: UInt64) {
        guard let since = recovery.neededSince, !signal.keys.isEmpty, !isStillMissing(since: since) else { return }
        output.append(.recovered(milliseconds: now - min(now, since)))
        recovery.neededSince = nil
        recovery.request = nil
        recovery.fruitless = 0
    }

    /// Whether an answer lacked what was asked for: a frame still waits, or a departure's new secret is not there.
    private func isStillMissing(since: UInt64) -> Bool {
        if let departure, departure.isOver, !ring.isProven(departure.generation, in: roster?.term) { return true }
        return hold.oldest.map { $0 <= since } ?? false
    }

    /// What was missed came by itself.
    mutating func forgetNeed(at now: UInt64) {
        guard let since = recovery.neededSince else { return }
        output.append(.recovered(milliseconds: now - min(now, since)))
        recovery.neededSince = nil
        recovery.request = nil
    }
}
