// SPDX-License-Identifier: Apache-2.0

import CallSignalling

extension CallParticipant {
    /// How many other members were heard lately.
    func heardCount(at now: UInt64) -> Int {
        let others = roster?.members.map(\.device).filter { $0 != device } ?? []
        return others.filter { now < (heardAt[$0] ?? 0) + times.hostPatience }.count
    }

    func isHostSilent(at now: UInt64) -> Bool { now >= hostHeardAt + times.hostSilence }

    /// Sends a sign of life: the host to all members, also to those that were lost; a member to the host and, while the
    /// host is silent, to all members, so that the next host knows that it is not itself cut off.
    mutating func beat(at now: UInt64) {
        guard let roster, let sending = reached, everMembers.count > 1 else { return }
        let isUncertain = isHost ? isAlone(at: now) : now >= hostSignalAt + times.heartbeat + times.heartbeat / 4
        guard now >= lastHeartbeat + (isUncertain ? times.heartbeat / 2 : times.heartbeat) else { return }
        lastHeartbeat = now
        let beat = Heartbeat(
            epoch: sending, rosterNumber: roster.number, rosterHash: roster.hash,
            heard: UInt16(clamping: isHost ? followerCount(at: now) : heardCount(at: now)), isHost: isHost)
        if isHost { return send(.heartbeat(beat), at: now) }
        send(.heartbeat(beat), to: roster.host, at: now)
        guard isUncertain else { return }
        for successor in roster.successors.prefix(Self.successorCount) where successor != device {
            send(.heartbeat(beat), to: successor, at: now)
        }
    }

    /// At most this many of the possible successors of a silent host are told who is there.
    private static let successorCount = 3

    /// Takes over when the host has been silent for this device's patience. A device that heard neither the host nor half of the
    /// others was cut off itself: once it hears them again, it waits ``CallTimes/returnPatience`` for the host.
    mutating func watchHost(at now: UInt64) {
        let isInTouch = isQuorumHeard(at: now)
        if !isInTouch, isHostSilent(at: now) { lonelyAt = now }
        let patience = isInTouch ? times.hostPatience : times.lonelyPatience
        let end = max(hostHeardAt + patience, isInTouch ? lonelyAt + times.returnPatience : 0)
        guard now >= end, reunion == nil else { return }
        guard let place = roster?.successors.firstIndex(of: device) else { return }
        let due = end + UInt64(place) * times.successorDelay
        // Frames that wait for their key: another has likely taken over, and its word is on the way.
        let isOvertaken = place > 0 && hold.oldest != nil && now < due + times.successionCredit
        if now >= due && !isOvertaken { takeOver(at: now) }
    }

    /// Whether this device hears at least half of the others, the host aside, and there are any.
    private func isQuorumHeard(at now: UInt64) -> Bool {
        guard let roster else { return false }
        let others = roster.members.map(\.device).filter { $0 != device && $0 != roster.host }
        let heard = others.count { now < (heardAt[$0] ?? 0) + times.touchPatience }
        return !others.isEmpty && heard * 2 >= others.count
    }

    /// The host has said that it leaves: the first successor takes over at once, and each later one only if those before it do not.
    /// Frames of the host that are still on the way do not count as signs of life.
    mutating func hostHasLeft(at now: UInt64) {
        (hostHeardAt, hostSignalAt, lonelyAt) = (now - min(now, times.hostPatience), 0, 0)
        if roster?.successors.first == device { takeOver(at: now) }
    }

    mutating func takeOver(at now: UInt64) {
        guard let before = roster, let term = before.termOfSuccession(of: device), reached != nil else { return }
        duty = HostDuty(term: term, since: now)
        duty?.admitted = Set(before.members.map(\.device))
        reunion = nil
        recovery = Recovery(requestedAt: recovery.requestedAt)
        lastHeartbeat = now
        lead(before.members.filter { $0.device != before.host }, .succession, at: now)
    }

    /// Whether another device may host: its term is its own by our roster, its roster follows ours and adds no member,
    /// and our host is silent.
    mutating func mayHost(_ rotation: KeyRotation, _ sender: CallDevice, at now: UInt64) -> Bool {
        guard let roster, let term = roster.termOfSuccession(of: sender), rotation.epoch.term >= term else {
            refuse(.stale, sender)
            return false
        }
        guard !isHost, isHostSilent(at: now) else {
            refuse(.hostAlive, sender)
            return false
        }
        let addsNobody = rotation.roster.members.allSatisfy { roster.contains($0.device) }
        let lacksNobody = Set(rotation.roster.excluded).isSuperset(of: roster.excluded)
        guard rotation.epoch.term == term, rotation.roster.previous == roster.hash, addsNobody, lacksNobody
        else {
            refuse(.brokenChain, sender)
            return false
        }
        return true
    }
}
