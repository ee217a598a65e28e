// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// What a host keeps beside what every member does.
struct HostDuty {
    let term: UInt32
    let since: UInt64
    var freshAt: UInt64 = 0
    var nextIndex: UInt16 = 1
    var barrier: Barrier?
    /// Those without an ack, after the barrier too, and when each was sent the rotation again.
    var repairs: Repairs?
    /// Turns for those who joined, oldest first, and who has not followed yet.
    var turns: [Turn] = []
    var turnPackets = Repetition(0)
    /// When each member last said that it follows this host.
    var followedAt: [CallDevice: UInt64] = [:]
    /// Fresh randomness is due as soon as the one before is in use.
    var isFreshDue = false
    var leaving: [CallDevice] = []
    /// Removed, and not yet in the roster's list; let back, and still in it.
    var excluding: Set<CallDevice> = []
    var readmitted: Set<CallDevice> = []
    var removeAt: UInt64?
    var admitted: Set<CallDevice> = []
    /// The last attempt of each device that was let in, so that a repeated one gets the same answer.
    var welcomed: [CallDevice: SignalNonce] = [:]
    var waitingJoins: [CallDevice: SignalNonce] = [:]
    var answeredAt: [CallDevice: UInt64] = [:]
    var letInAt: [CallDevice: UInt64] = [:]
    var repairedAt: [CallDevice: UInt64] = [:]

    struct Barrier {
        let epoch: Epoch
        var waiting: Set<CallDevice>
        let deadline: UInt64
        let isHasty: Bool
    }

    struct Repairs {
        let rotation: KeyRotation
        /// The same for all members, without wraps.
        let announcement: SignalDraft
        let secret: GroupSecret
        let startedAt: UInt64
        var waiting: Set<CallDevice>
        var done = 0
        var packets: Repetition
    }

    struct Turn {
        let change: SignalDraft
        /// The step that was made in each generation that was in use or pending.
        let floors: [Epoch]
        var waiting: Set<CallDevice>

        /// Whether a member with this epoch has heard of the turn: a later generation was made for a later roster.
        func isFollowed(by epoch: Epoch) -> Bool {
            floors.contains { $0.generation == epoch.generation && $0.step <= epoch.step }
                || floors.allSatisfy { $0.generation < epoch.generation }
        }
    }

    /// At most this many turns that some member has not followed are repeated; beyond that, the oldest is left to the
    /// signals.
    static let turnCount = 8

    /// Takes note of an epoch that a member has: as it says, or as it sends.
    mutating func note(_ epoch: Epoch, of member: CallDevice) {
        guard epoch.term == term else { return }
        if let repairs, repairs.rotation.epoch.generation <= epoch.generation {
            self.repairs?.waiting.remove(member)
            barrier?.waiting.remove(member)
        }
        for place in turns.indices where turns[place].isFollowed(by: epoch) { turns[place].waiting.remove(member) }
        turns.removeAll(where: \.waiting.isEmpty)
    }
}

extension CallParticipant {
    mutating func host(at now: UInt64) {
        guard let duty else { return }
        if let removeAt = duty.removeAt, now >= removeAt { makeFresh(.leave, at: now) }
        removeSilent(at: now)
        if self.duty?.barrier == nil, duty.isFreshDue || now >= duty.freshAt + times.freshInterval {
            makeFresh(duty.isFreshDue ? .suspicion : .timer, at: now)
        }
        if let barrier = self.duty?.barrier, now >= barrier.deadline { commit(barrier.epoch, at: now) }
        repairDue(at: now)
    }

    // MARK: Fresh randomness

    /// Makes fresh randomness now, or when the one before is in use: one that is pending is never replaced for want of haste.
    mutating func makeFreshSoon(at now: UInt64) {
        guard isHost else { return }
        if duty?.barrier == nil { makeFresh(.suspicion, at: now) } else { duty?.isFreshDue = true }
    }

    /// Makes a generation for all remaining members, and waits for their acks before any device sends under it.
    mutating func makeFresh(_ reason: RotationReason, joining: [CallDevice] = [], at now: UInt64) {
        guard let roster, let duty else { return }
        let reason = duty.leaving.isEmpty ? reason : .leave
        let leaving = Set(duty.leaving + joining)
        var members = roster.members.filter { !leaving.contains($0.device) }
        for device in joining { members.append(RosterMember(index: takeIndex(), device: device)) }
        lead(members, reason, at: now)
    }

    /// The same, with these members in this host's term.
    mutating func lead(_ members: [RosterMember], _ reason: RotationReason, at now: UInt64) {
        guard let before = roster, let term = duty?.term else { return }
        let excluded = self.excluded(beside: members)
        let isSame = before.members == members && before.term == term && before.excluded == excluded
        guard
            let roster = try? Roster(
                callID: callID, term: term, number: before.number + (isSame ? 0 : 1),
                previous: isSame ? before.previous : before.hash, host: device, members: members, excluded: excluded)
        else { return }
        // A new host leaves a number out: the old one may have used it for a secret that did not arrive here. Two that take over at
        // once take different ones, so that no frame of one is taken for one of the other's.
        let next: UInt32 = reason == .succession ? 2 + UInt32(min(5, before.successors.firstIndex(of: device) ?? 0)) : 1
        let epoch = Epoch(term: term, generation: max(ring.newest, reached?.generation ?? 0) + next, step: 0)
        let secret = GroupSecret(using: &generator)
        let scope = CallScope(callID: callID, term: term, generation: epoch.generation)
        if roster != before { adopt(roster, epoch.generation, at: now) }
        install(epoch, secret, roster, isProven: true, at: now)
        let rotation = KeyRotation(
            epoch: epoch, reason: reason, commitment: secret.commitment(in: scope), notBefore: now, roster: roster,
            wraps: [])
        announce(rotation, secret, at: now)
        // If a relay no longer serves a removed device, messages to all members do not reach it.
        for device in roster.excluded where before.contains(device) { send(.rotation(rotation), to: device, at: now) }
    }

    private mutating func announce(_ rotation: KeyRotation, _ secret: GroupSecret, at now: UInt64) {
        let others = rotation.roster.members.map(\.device).filter { $0 != device }
        duty?.isFreshDue = false
        duty?.leaving = []
        duty?.removeAt = nil
        duty?.freshAt = now
        // One that takes the place of another after a leave waits no longer than that one would have.
        let earlier = duty?.barrier.flatMap { $0.isHasty ? $0.deadline : nil } ?? .max
        let deadline = min(earlier, now + times.barrier(rotation.reason))
        duty?.barrier = HostDuty.Barrier(
            epoch: rotation.epoch, waiting: Set(others), deadline: deadline,
            isHasty: rotation.reason.isHasty || earlier < .max)
        let announcement = draft(.rotation(rotation), at: now)
        let packets = Repetition(times.packetRounds)
        duty?.repairs = HostDuty.Repairs(
            rotation: rotation, announcement: announcement, secret: secret, startedAt: now, waiting: Set(others),
            packets: packets)
        guard !others.isEmpty else { return commit(rotation.epoch, at: now) }
        let keys = others.map { OfferedKey(recipient: $0, epoch: rotation.epoch, secret: secret) }
        send(.rotation(rotation), keys: keys, at: now)
        repeatPackets(at: now)
    }

    mutating func receiveAck(_ epoch: Epoch, from sender: CallDevice, at now: UInt64) {
        guard let duty, epoch.term == duty.term, epoch.generation <= ring.newest else { return }
        self.duty?.followedAt[sender] = now
        note(epoch, of: sender, at: now)
    }

    /// A member has an epoch; when all have the newest, it is used.
    mutating func note(_ epoch: Epoch, of member: CallDevice, at now: UInt64) {
        duty?.note(epoch, of: member)
        if let barrier = duty?.barrier, barrier.waiting.isEmpty { commit(barrier.epoch, at: now) }
    }

    private mutating func commit(_ epoch: Epoch, at now: UInt64) {
        duty?.barrier = nil
        if (roster?.members.count ?? 0) > 1 { send(.commit(epoch), at: now) }
        switchSending(to: epoch.generation, at: now)
    }

    // MARK: Repair

    private mutating func repairDue(at now: UInt64) {
        guard let repairs = duty?.repairs, repairs.done < times.repairDelays.count, !repairs.waiting.isEmpty,
            now >= repairs.startedAt + times.repairDelays[repairs.done]
        else { return }
        duty?.repairs?.done += 1
        for device in repairs.waiting.sorted() { sendAgain(repairs, to: device, at: now) }
    }

    /// A member's sign of life shows an older generation, or an older roster: it missed something.
    mutating func repair(_ sender: CallDevice, _ beat: Heartbeat, at now: UInt64) {
        guard let sending = reached, let roster, now >= (duty?.repairedAt[sender] ?? 0) + times.replyInterval else {
            return
        }
        guard beat.epoch.generation < sending.generation || beat.rosterNumber < roster.number else { return }
        duty?.repairedAt[sender] = now
        guard let repairs = duty?.repairs, repairs.rotation.roster == roster, beat.epoch.generation < sending.generation
        else {
            return giveAll(to: sender, id: SignalNonce(using: &generator), at: now)
        }
        sendAgain(repairs, to: sender, at: now)
    }

    private mutating func sendAgain(_ repairs: HostDuty.Repairs, to device: CallDevice, at now: UInt64) {
        let key = OfferedKey(recipient: device, epoch: repairs.rotation.epoch, secret: repairs.secret)
        send(.rotation(repairs.rotation), to: device, keys: [key], at: now)
        if reached?.generation == repairs.rotation.epoch.generation {
            send(.commit(repairs.rotation.epoch), to: device, at: now)
        }
    }

    // MARK: Who comes and goes

    mutating func removeSoon(_ device: CallDevice, at now: UInt64) {
        guard isHost, device != self.device, roster?.contains(device) == true,
            duty?.leaving.contains(device) == false
        else { return }
        duty?.leaving.append(device)
        duty?.barrier?.waiting.remove(device)
        let removeAt = duty?.removeAt ?? now + times.leaveBatch
        duty?.removeAt = removeAt
    }

    /// - Parameter isReunion: whether the device has its keys and counters still, and was led by another host.
    mutating func receiveJoin(_ nonce: SignalNonce, from sender: CallDevice, isReunion: Bool, at now: UInt64) {
        guard let duty else { return }
        guard !isExcluded(sender) else { return refuse(.excluded, sender) }
        guard mayLetIn(sender) else { return }
        if duty.admitted.contains(sender) || trusted.contains(sender) {
            return letIn(sender, nonce, isReunion: isReunion, at: now)
        }
        self.duty?.waitingJoins[sender] = nonce
        output.append(.admissionNeeded(sender))
    }

    /// Removes a device and does not let it in again unasked.
    mutating func exclude(_ device: CallDevice, at now: UInt64) {
        guard isHost, device != self.device else { return }
        duty?.admitted.remove(device)
        duty?.waitingJoins[device] = nil
        duty?.readmitted.remove(device)
        duty?.excluding.insert(device)
        roster?.contains(device) == true ? removeSoon(device, at: now) : makeFreshSoon(at: now)
    }

    /// Lets a device that was removed come back; it has to ask.
    mutating func readmit(_ device: CallDevice, at now: UInt64) {
        guard isHost, isExcluded(device) else { return }
        duty?.excluding.remove(device)
        duty?.readmitted.insert(device)
        duty?.admitted.insert(device)
    }

    private func isExcluded(_ device: CallDevice) -> Bool {
        guard let duty, !duty.readmitted.contains(device) else { return false }
        return duty.excluding.contains(device) || roster?.excluded.contains(device) == true
    }

    /// Who stands as removed in the next roster; of more than it has room for, those of before.
    private mutating func excluded(beside members: [RosterMember]) -> [CallDevice] {
        guard let duty else { return [] }
        let before = Set(roster?.excluded ?? []).subtracting(duty.readmitted)
        let added = duty.excluding.subtracting(before).sorted().prefix(Roster.maximumMemberCount - before.count)
        self.duty?.excluding = []
        return before.union(added).subtracting(members.map(\.device)).sorted()
    }

    /// Removes members that have given no sign of life for a long time.
    private mutating func removeSilent(at now: UInt64) {
        guard let duty, let roster else { return }
        for member in roster.members.map(\.device) where member != device {
            if now >= max(heardAt[member] ?? 0, duty.since) + times.memberPatience { removeSoon(member, at: now) }
        }
    }

    mutating func admit(_ device: CallDevice, at now: UInt64) {
        guard isHost, !isExcluded(device) else { return }
        leavers.remove(device)
        duty?.admitted.insert(device)
        if let nonce = duty?.waitingJoins.removeValue(forKey: device) {
            letIn(device, nonce, isReunion: false, at: now)
        }
    }

    private mutating func letIn(_ joiner: CallDevice, _ nonce: SignalNonce, isReunion: Bool, at now: UInt64) {
        guard let sending = reached, let roster, now >= (duty?.letInAt[joiner] ?? 0) + times.replyInterval else {
            return
        }
        guard roster.contains(joiner) || roster.members.count < Roster.maximumPresentCount else {
            return refuse(.callFull, joiner)
        }
        let barrier = duty?.barrier
        let isStepLeft = sending.step < Epoch.lastStep - 1
        duty?.letInAt[joiner] = now
        let isStillIn = roster.contains(joiner) && duty?.leaving.contains(joiner) == false
        if isStillIn, isReunion || duty?.welcomed[joiner] == nonce {
            return giveAll(to: joiner, id: nonce, at: now)
        }
        duty?.welcomed[joiner] = nonce
        if roster.contains(joiner) || !isStepLeft || duty?.leaving.isEmpty == false {
            makeFresh(.join, joining: [joiner], at: now)
        } else {
            turnForJoin(joiner, barrier?.epoch.generation, at: now)
        }
        giveAll(to: joiner, id: nonce, at: now)
    }

    /// One step further in every generation in use, which the others make without a message of their own.
    private mutating func turnForJoin(_ joiner: CallDevice, _ pending: UInt32?, at now: UInt64) {
        guard let before = roster, let sending = reached else { return }
        guard
            let roster = try? Roster(
                callID: callID, term: before.term, number: before.number + 1, previous: before.hash, host: device,
                members: before.members + [RosterMember(index: takeIndex(), device: joiner)],
                excluded: excluded(beside: [RosterMember(index: 0, device: joiner)]))
        else { return }
        var floors: [Epoch] = []
        for generation in [sending.generation, pending].compactMap(\.self) {
            guard let newest = ring.newestEpoch(of: generation) else { continue }
            ring.advance(generation, to: newest.step + 1, at: now)
            ring.setMembers(roster.byIndex, of: generation)
            if let floor = ring.newestEpoch(of: generation) { floors.append(floor) }
        }
        adopt(roster, sending.generation, at: now)
        followSteps(at: now)
        let change = draft(.roster(RosterChange(roster: roster, floors: floors)), at: now)
        output.append(.send(change))
        let others = before.members.map(\.device).filter { $0 != device }
        if duty?.turns.count == HostDuty.turnCount { duty?.turns.removeFirst() }
        duty?.turns.append(HostDuty.Turn(change: change, floors: floors, waiting: Set(others)))
        let packets = Repetition(times.packetRounds)
        duty?.turnPackets = packets
        repeatPackets(at: now)
    }

    private mutating func takeIndex() -> UInt16 {
        let used = ring.generations.values.flatMap(\.members.keys).max() ?? 0
        let next = max(duty?.nextIndex ?? 1, max(used, roster?.members.last?.index ?? 0) &+ 1)
        duty?.nextIndex = next &+ 1
        return next
    }
}
