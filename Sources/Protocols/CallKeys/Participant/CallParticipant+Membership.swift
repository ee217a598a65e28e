// SPDX-License-Identifier: Apache-2.0

import CallSignalling

extension CallParticipant {
    mutating func startCall(at now: UInt64) {
        guard phase == .outside,
            let roster = try? Roster(
                callID: callID, term: Roster.firstTerm, number: 1, previous: [UInt8](repeating: 0, count: 32),
                host: device,
                members: [RosterMember(index: 0, device: device)])
        else { return }
        phase = .member
        firstGeneration = 1
        duty = HostDuty(term: Roster.firstTerm, since: now)
        adopt(roster, 1, at: now)
        makeFresh(.timer, at: now)
    }

    mutating func beginJoining(trusting hosts: Set<CallDevice>, at now: UInt64) {
        guard phase == .outside else { return }
        let attempt = JoinAttempt(nonce: SignalNonce(using: &generator), hosts: hosts, sentAt: now)
        beside = PacketState()
        phase = .joining(attempt)
        send(.join(attempt.nonce), at: now)
    }

    mutating func retryJoining(_ attempt: JoinAttempt, at now: UInt64) {
        guard now >= attempt.sentAt + times.joinInterval else { return }
        var attempt = attempt
        attempt.sentAt = now
        phase = .joining(attempt)
        send(.join(attempt.nonce), at: now)
    }

    mutating func leaveCall(at now: UInt64) {
        if isMember {
            sendDigest(to: roster?.members.map(\.device).filter { $0 != device } ?? [], at: now)
            sayFarewell(at: now)
        }
        goOutside(.left)
    }

    /// Wipes every key.
    mutating func goOutside(_ reason: OutsideReason) {
        guard phase != .outside else { return }
        phase = .outside
        roster = nil
        reached = nil
        ring.removeAll()
        hold = HoldBuffer()
        pending = nil
        departure = nil
        duty = nil
        recovery = Recovery(requestedAt: recovery.requestedAt)
        formerHost = nil
        reunion = nil
        waitingSuccession = nil
        beside.end()
        (digests.heard, digests.marksHeard) = ([:], [:])
        output.append(.outside(reason))
    }

    /// Takes a roster as the one in force.
    ///
    /// - Parameter generation: the host's newest; only devices in this roster have it.
    mutating func adopt(_ roster: Roster, _ generation: UInt32, at now: UInt64) {
        if let before = self.roster {
            if before.host != roster.host { formerHost = before.host }
            if !before.members.allSatisfy({ roster.contains($0.device) }) { noteDeparture(generation, at: now) }
        }
        self.roster = roster
        everMembers.formUnion(roster.members.map(\.device))
        leavers.subtract(roster.members.map(\.device))
        output.append(.roster(roster))
    }

    /// The effect of an earlier departure stands: another departure neither silences a member later nor lets one be
    /// heard again.
    private mutating func noteDeparture(_ generation: UInt32, at now: UInt64) {
        let deadline = min(departure?.deadline ?? .max, now + times.leaveBarrier)
        departure = Departure(
            generation: max(departure?.generation ?? 0, generation), deadline: deadline,
            isOver: departure?.isOver ?? false)
    }

    /// When the time of the old generation is over, the new one is used, or nothing is sent until it is there.
    mutating func applyDeparture(at now: UInt64) {
        guard let departure, now >= departure.deadline else { return }
        if ring.isProven(departure.generation, in: roster?.term) {
            return switchSending(to: departure.generation, at: now)
        }
        guard !departure.isOver else { return }
        self.departure?.isOver = true
        need(.signalMissed, at: now)
    }

    /// The first reply to a join makes a member.
    mutating func receiveWelcome(_ reply: KeyReply, _ attempt: JoinAttempt, _ signal: OpenedSignal, at now: UInt64) {
        if let refusal = refusal(of: reply, attempt, signal) { return refuse(refusal, signal.sender) }
        guard let key = signal.keys.first(where: { $0.epoch.generation == reply.current.generation }) else { return }
        phase = .member
        firstGeneration = signal.keys.map(\.epoch.generation).min() ?? key.epoch.generation
        (hostHeardAt, hostSignalAt) = (now, now)
        lastHeartbeat = now
        adopt(reply.roster, reply.current.generation, at: now)
        for key in signal.keys { install(key.epoch, key.secret, reply.roster, isProven: true, at: now) }
        switchSending(to: key.epoch.generation, at: now)
        awaitCommit(of: signal.keys, at: now)
        send(.ack(key.epoch), to: reply.roster.host, at: now)
    }

    /// Why a welcome is none; nil if it is one.
    func refusal(of reply: KeyReply, _ attempt: JoinAttempt, _ signal: OpenedSignal) -> SignalRefusal? {
        guard reply.id == attempt.nonce else { return .notRequested }
        guard attempt.hosts.contains(signal.sender) else { return .hostNotTrusted }
        guard reply.roster.host == signal.sender, reply.roster.callID == callID, reply.roster.contains(device) else {
            return .notTheHost
        }
        guard !reply.roster.members.contains(where: { attempt.barred.contains($0.device) }) else { return .excluded }
        guard signal.keys.contains(where: { $0.epoch.generation == reply.current.generation }) else { return .stale }
        return nil
    }

    mutating func refuse(_ refusal: SignalRefusal, _ sender: CallDevice) {
        output.append(.refused(refusal, from: sender))
    }
}
