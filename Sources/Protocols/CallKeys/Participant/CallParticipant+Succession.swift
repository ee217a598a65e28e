import CallSignalling

extension CallParticipant {
    private var otherCount: Int { max(0, (roster?.members.count ?? 1) - 1) }

    /// How many other members were heard lately.
    func heardCount(at now: UInt64) -> Int {
        let others = roster?.members.map(\.device).filter { $0 != device } ?? []
        return others.filter { now < (heardAt[$0] ?? 0) + times.hostPatience }.count
    }

    private func isHostSilent(at now: UInt64) -> Bool { now >= hostHeardAt + times.hostSilence }

    /// A sign of life: from the host to everybody, from a member to the host.
    mutating func beat(at now: UInt64) {
        guard let roster, let sending = reached, now >= lastHeartbeat + times.heartbeat, roster.members.count > 1 else {
            return
        }
        lastHeartbeat = now
        let beat = Heartbeat(
            epoch: sending, rosterNumber: roster.number, rosterHash: roster.hash,
            heard: UInt16(clamping: heardCount(at: now)))
        send(.heartbeat(beat), to: isHost ? nil : roster.host, at: now)
    }

    /// Takes over when the host has been silent for this device's patience.
    mutating func watchHost(at now: UInt64) {
        guard now >= hostHeardAt + times.hostPatience else { return }
        guard let place = roster?.successors.firstIndex(of: device) else { return }
        if now >= hostHeardAt + times.hostPatience + UInt64(place) * times.successorDelay { takeOver(at: now) }
    }

    mutating func takeOver(at now: UInt64) {
        guard let before = roster, let term = before.termOfSuccession(of: device), reached != nil else { return }
        duty = HostDuty(term: term, since: now)
        duty?.admitted = Set(before.members.map(\.device))
        recovery = Recovery()
        lastHeartbeat = now
        reign(before.members.filter { $0.device != before.host }, .succession, at: now)
    }

    /// Whether another may reign: its term is its own by our roster, its roster follows ours and adds nobody, and our host
    /// is silent.
    mutating func mayReign(_ rotation: KeyRotation, _ sender: CallDevice, at now: UInt64) -> Bool {
        guard let roster, let term = roster.termOfSuccession(of: sender), rotation.epoch.term >= term else {
            refuse(.stale, sender)
            return false
        }
        guard isHost ? isAlone(at: now) : isHostSilent(at: now) else {
            refuse(.hostAlive, sender)
            return false
        }
        let addsNobody = rotation.roster.members.allSatisfy { roster.contains($0.device) }
        guard rotation.epoch.term == term, rotation.roster.previous == roster.hash, addsNobody, !isHost else {
            refuse(.brokenChain, sender)
            rejoin(at: now)
            return false
        }
        return true
    }

    /// Whether a host hears so few that the others rightly have another.
    private func isAlone(at now: UInt64) -> Bool { heardCount(at: now) * 2 < otherCount }

    /// A sign of life of a host that is not ours: after a partition, one side joins the other. A host yields only if it
    /// hears fewer than half itself, so that nobody can talk it out of its reign.
    mutating func considerOtherHost(_ beat: Heartbeat, _ sender: CallDevice, at now: UInt64) {
        guard let roster, beat.epoch.term != roster.term, everMembers.contains(sender) else { return }
        let isStronger = (Int(beat.heard), beat.epoch.term) > (heardCount(at: now), roster.term)
        if isHost ? isAlone(at: now) && isStronger : isHostSilent(at: now) { rejoin(at: now) }
    }
}
