// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SFrame

extension CallParticipant {
    /// Processes a signal. Each is processed once, in any order.
    mutating func receive(_ signal: OpenedSignal, at now: UInt64) {
        let sender = signal.sender
        guard sender != device, phase != .outside else { return }
        guard isNew(signal) else { return beside.hasTaken(signal) ? () : refuse(.replayed, sender) }
        heardAt[sender] = now
        if case .joining(let attempt) = phase {
            if case .reply(let reply) = signal.body { receiveWelcome(reply, attempt, signal, at: now) }
            return
        }
        if sender == roster?.host { (hostHeardAt, hostSignalAt) = (now, now) }
        if case .reply(let reply) = signal.body, isReunited(by: reply, signal, at: now) { return }
        if signal.body.isJoin { joinedWith[sender] = max(signal.sequence, joinedWith[sender] ?? 0) }
        switch signal.body {
        case .join(let nonce): receiveJoin(nonce, from: sender, isReunion: false, at: now)
        case .reunite(let nonce): receiveJoin(nonce, from: sender, isReunion: true, at: now)
        case .leave: receiveLeave(signal, at: now)
        case .roster(let change): receiveChange(change, from: sender, at: now)
        case .rotation(let rotation): receiveRotation(rotation, signal, at: now)
        case .ack(let epoch): receiveAck(epoch, from: sender, at: now)
        case .commit(let epoch): receiveCommit(epoch, from: sender, at: now)
        case .request(let request): answer(request, from: sender, at: now)
        case .reply(let reply): receiveReply(reply, signal, at: now)
        case .heartbeat(let beat): receiveHeartbeat(beat, from: sender, at: now)
        case .yield(let yielding): receiveYielding(yielding, from: sender, at: now)
        case .digest(let digest): receive(digest, from: sender, at: now)
        // The owner of a participant deals with rings.
        case .ring, .ringAnswer, .ringEnd: return
        }
    }

    /// Whether a signal was not processed before, as a signal or as a packet; it is marked as processed.
    mutating func isNew(_ signal: OpenedSignal) -> Bool {
        var window = windows[signal.sender] ?? ReplayWindow()
        do { try window.check(signal.sequence) } catch { return false }
        window.record(signal.sequence)
        windows[signal.sender] = window
        return true
    }

    mutating func receiveLeave(_ signal: OpenedSignal, at now: UInt64) {
        let sender = signal.sender
        guard let roster, roster.contains(sender) else { return }
        // A packet may be late, and its sender in the call again.
        guard signal.sequence > (joinedWith[sender] ?? 0) else { return refuse(.stale, sender) }
        leavers.insert(sender)
        if isHost { return removeSoon(sender, at: now) }
        guard sender == roster.host else { return }
        hostHasLeft(at: now)
    }

    /// A join turned the key: no member sends below the floors any more.
    mutating func receiveChange(_ change: RosterChange, from sender: CallDevice, at now: UInt64) {
        guard let roster, sender == roster.host, change.roster.host == sender, !isHost else {
            return refuse(.notTheHost, sender)
        }
        guard follows(change.roster) else { return refuse(.brokenChain, sender) }
        guard change.roster.contains(device) else { return standOutside(change.roster, at: now) }
        guard let floor = change.floors.first, let newest = change.floors.last else { return refuse(.stale, sender) }
        adopt(change.roster, newest.generation, at: now)
        for floor in change.floors {
            ring.advance(floor.generation, to: floor.step, at: now)
            ring.setMembers(change.roster.byIndex, of: floor.generation)
            if !isHere(floor) { need(.signalMissed, at: now) }
        }
        // The host sends under the first: waiting for a time of day would leave the new member without our frames.
        switchSending(to: floor.generation, at: now)
        followSteps(at: now)
        releaseHeld(at: now)
        if isHere(floor) { acknowledgeBeside(floor, at: now) }
    }

    /// Whether a roster of the same host comes after ours: the next one names ours, and one after a gap is newer.
    private func follows(_ next: Roster) -> Bool {
        guard let roster, next.callID == callID, next.term == roster.term, next.number > roster.number else {
            return false
        }
        return next.number > roster.number + 1 || next.previous == roster.hash
    }

    /// Fresh randomness: keep it, say so, and wait for the commit.
    mutating func receiveRotation(_ rotation: KeyRotation, _ signal: OpenedSignal, at now: UInt64) {
        let sender = signal.sender
        guard let roster, rotation.roster.host == sender, rotation.epoch.term == rotation.roster.term,
            rotation.epoch.step == 0
        else { return refuse(.notTheHost, sender) }
        if isHere(rotation.epoch), sender == roster.host {
            guard !ring.contradicts(rotation.commitment, of: rotation.epoch.generation) else {
                return refuse(.wrongCommitment, sender)
            }
            send(.ack(rotation.epoch), to: sender, at: now)
            return acknowledgeBeside(rotation.epoch, at: now)
        }
        guard rotation.epoch.generation > (reached?.generation ?? 0) else { return refuse(.stale, sender) }
        if sender == roster.host {
            guard !isHost, follows(rotation.roster) || rotation.roster == roster else {
                return refuse(.brokenChain, sender)
            }
        } else {
            guard mayHost(rotation, sender, at: now) else {
                if !isHost, !isHostSilent(at: now) { waitingSuccession = signal }
                return
            }
        }
        accept(rotation, signal, at: now)
    }

    /// A successor's word that came while the host still seemed alive.
    mutating func retrySuccession(at now: UInt64) {
        guard let signal = waitingSuccession, case .rotation(let rotation) = signal.body, isHostSilent(at: now) else {
            return
        }
        waitingSuccession = nil
        receiveRotation(rotation, signal, at: now)
    }

    private mutating func accept(_ rotation: KeyRotation, _ signal: OpenedSignal, at now: UInt64) {
        guard rotation.roster.contains(device) else { return standOutside(rotation.roster, at: now) }
        guard let key = signal.keys.first(where: { $0.epoch == rotation.epoch }) else {
            adopt(rotation.roster, rotation.epoch.generation, at: now)
            hostHeardAt = now
            ring.remember(rotation.commitment, of: rotation.epoch)
            return need(.signalMissed, at: now)
        }
        let scope = CallScope(callID: callID, term: rotation.epoch.term, generation: rotation.epoch.generation)
        guard key.secret.commitment(in: scope) == rotation.commitment else {
            return refuse(.wrongCommitment, signal.sender)
        }
        adopt(rotation.roster, rotation.epoch.generation, at: now)
        hostHeardAt = now
        install(rotation.epoch, key.secret, rotation.roster, isProven: true, at: now)
        let earlier = pending.flatMap { $0.isHasty ? $0.deadline : nil } ?? .max
        let deadline = min(earlier, departure?.deadline ?? .max, now + times.barrier(rotation.reason))
        pending = PendingSwitch(
            epoch: rotation.epoch, notBefore: rotation.notBefore, deadline: deadline,
            isHasty: rotation.reason.isHasty || earlier < .max)
        forgetNeed(at: now)
        send(.ack(rotation.epoch), to: signal.sender, at: now)
        acknowledgeBeside(rotation.epoch, at: now)
        releaseHeld(at: now)
    }

    private mutating func receiveCommit(_ epoch: Epoch, from sender: CallDevice, at now: UInt64) {
        guard sender == roster?.host, epoch.term == roster?.term else { return refuse(.notTheHost, sender) }
        guard epoch.generation > (reached?.generation ?? 0) else { return }
        follow(epoch, at: now)
    }

    func isBehind(_ epoch: Epoch) -> Bool { epoch.generation > (reached?.generation ?? 0) }

    /// The host sends under this epoch: so do we, if we have it, and not only from a member who may be wrong.
    mutating func follow(_ epoch: Epoch, at now: UInt64) {
        guard ring.isProven(epoch.generation, in: roster?.term) else { return need(.signalMissed, at: now) }
        guard pending?.epoch.generation == epoch.generation else {
            return switchSending(to: epoch.generation, at: now)
        }
        pending?.isCommitted = true
        switchIfDue(at: now)
    }

    /// Switches when the commit is there and the time has come by this device's clock, or when waiting is over.
    mutating func switchIfDue(at now: UInt64) {
        guard let pending else { return }
        if now >= pending.deadline || (pending.isCommitted && now >= pending.notBefore) {
            switchSending(to: pending.epoch.generation, at: now)
        }
    }

    private mutating func receiveHeartbeat(_ beat: Heartbeat, from sender: CallDevice, at now: UInt64) {
        guard let roster else { return }
        if isHost, roster.contains(sender), beat.epoch.term == roster.term {
            duty?.followedAt[sender] = now
            note(beat.epoch, of: sender, at: now)
            return repair(sender, beat, at: now)
        }
        guard sender == roster.host, beat.epoch.term == roster.term else {
            return considerOtherHost(beat, sender, at: now)
        }
        if isBehind(beat.epoch) { follow(beat.epoch, at: now) }
        if beat.rosterHash == roster.hash { follow(stepOf: beat.epoch, at: now) }
        if beat.rosterNumber > roster.number {
            need(.signalMissed, at: now)
            // A device that the host has given up gets no answer: it joins again, and keeps its keys until then.
            if let since = recovery.neededSince, now >= since + times.requestCooldown {
                seek(sender, roster.term, at: now)
            }
        }
        if beat.rosterNumber == roster.number && beat.rosterHash != roster.hash { refuse(.brokenChain, sender) }
    }

    // MARK: Keys

    mutating func install(_ epoch: Epoch, _ secret: GroupSecret, _ roster: Roster, isProven: Bool, at now: UInt64) {
        let scope = CallScope(callID: callID, term: epoch.term, generation: epoch.generation)
        guard epoch.generation >= (reached?.generation ?? 0) else { return }
        ring.install(
            scope, step: epoch.step, secret: secret, members: roster.byIndex, isProven: isProven,
            hostTerm: self.roster?.term ?? roster.term, at: now)
    }

    /// Whether the secret of an epoch's generation is there, and not only from a member who may be wrong.
    func isHere(_ epoch: Epoch) -> Bool { ring.isProven(epoch.generation, in: epoch.term) }

    /// Sends under a later generation of our host's, if its secret is there and proven.
    mutating func switchSending(to generation: UInt32, at now: UInt64) {
        guard ring.isProven(generation, in: roster?.term), let epoch = ring.newestEpoch(of: generation), isBehind(epoch)
        else { return }
        reached = epoch
        steppedAt = now
        ring.retire(before: generation, at: now)
        if let waiting = pending?.epoch.generation, waiting <= generation { pending = nil }
        if let safe = departure?.generation, safe <= generation { departure = nil }
        output.append(.sendingUnder(epoch))
        beginSpreading(at: now)
    }

    /// The host sends under this step and names the roster that we have: so no member was let in that we do not know
    /// of.
    private mutating func follow(stepOf epoch: Epoch, at now: UInt64) {
        guard epoch.generation == reached?.generation else { return }
        ring.advance(epoch.generation, to: epoch.step, at: now)
        followSteps(at: now)
    }

    /// Sends under the newest step that the host has spoken of.
    mutating func followSteps(at now: UInt64) {
        guard let current = reached, let newest = ring.newestEpoch(of: current.generation), newest.step > current.step
        else {
            return
        }
        reached = newest
        steppedAt = now
        output.append(.sendingUnder(newest))
    }

    /// The host turns the key when its time has come, and says so at once: the others follow its word.
    mutating func turnKey(at now: UInt64) {
        guard isHost, let sending = reached, now >= steppedAt + times.stepInterval, sending.step < Epoch.lastStep else {
            return
        }
        ring.advance(sending.generation, to: sending.step + 1, at: now)
        followSteps(at: now)
        lastHeartbeat = 0
    }
}

extension SignalBody {
    /// Whether a device asks to come in.
    var isJoin: Bool {
        switch self {
        case .join, .reunite: true
        default: false
        }
    }
}

extension Roster {
    var byIndex: [UInt16: CallDevice] {
        Dictionary(members.map { ($0.index, $0.device) }) { first, _ in first }
    }
}
