// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// After a partition: one of two hosts gives up its tenure, and its members join the other's.
///
/// A tenure is as strong as it has followers, then as its term is high: a strict total order, for terms have one host each. Only a host
/// that fewer than half of the others follow yields, and it hosts on until it is let in: at no time is there no host.
struct Reunion {
    let host: CallDevice
    let term: UInt32
    let nonce: SignalNonce
    var sentAt: UInt64
    /// When the other host was heard last.
    var heardAt: UInt64
}

extension CallParticipant {
    /// The devices that may lead this device to another host's term: members that were lost, and neither left nor were
    /// removed.
    var trusted: Set<CallDevice> {
        everMembers.subtracting(leavers).subtracting(roster?.excluded ?? []).subtracting([device])
    }

    /// How many members said lately that they follow this host.
    func followerCount(at now: UInt64) -> Int {
        guard let duty, let roster else { return 0 }
        return roster.members.count { now < (duty.followedAt[$0.device] ?? 0) + times.hostPatience }
    }

    /// Whether a host is followed by so few that the others may rightly have another.
    func isAlone(at now: UInt64) -> Bool { followerCount(at: now) * 2 < trusted.count }

    /// A sign of life of a host that is not ours.
    mutating func considerOtherHost(_ beat: Heartbeat, _ sender: CallDevice, at now: UInt64) {
        guard let roster, beat.isHost, beat.epoch.term != roster.term, trusted.contains(sender) else { return }
        if reunion?.host == sender { reunion?.heardAt = now }
        if isHost {
            let isStronger = (Int(beat.heard), beat.epoch.term) > (followerCount(at: now), roster.term)
            guard isAlone(at: now), isStronger else { return }
        } else {
            guard isHostSilent(at: now) else { return }
        }
        seek(sender, beat.epoch.term, at: now)
    }

    /// Our host gives up its tenure.
    mutating func receiveYielding(_ yielding: Yielding, from sender: CallDevice, at now: UInt64) {
        guard let roster, sender == roster.host, !isHost else { return refuse(.notTheHost, sender) }
        guard trusted.contains(yielding.host) else { return refuse(.hostNotTrusted, sender) }
        seek(yielding.host, yielding.term, at: now)
    }

    /// A host goes on without this device: it was removed and stays away, or was lost and asks to be let in again.
    mutating func standOutside(_ roster: Roster, at now: UInt64) {
        if roster.excluded.contains(device) { return goOutside(.removed) }
        seek(roster.host, roster.term, at: now)
    }

    mutating func seek(_ host: CallDevice, _ term: UInt32, at now: UInt64) {
        guard reunion == nil else { return }
        let nonce = SignalNonce(using: &generator)
        let reunion = Reunion(host: host, term: term, nonce: nonce, sentAt: now, heardAt: now)
        self.reunion = reunion
        askIn(reunion, at: now)
    }

    /// Asks again each second, as long as the other host is heard and ours does not outrank it.
    mutating func pursueReunion(at now: UInt64) {
        guard let reunion else { return }
        guard now < reunion.heardAt + times.hostPatience else { return self.reunion = nil }
        guard now >= reunion.sentAt + times.joinInterval else { return }
        self.reunion?.sentAt = now
        askIn(reunion, at: now)
    }

    /// A device that comes back to a tenure has wiped the keys that it used in it, and needs others.
    private mutating func askIn(_ reunion: Reunion, at now: UInt64) {
        let body = ring.sealers.hasUsed(term: reunion.term) ? SignalBody.join(reunion.nonce) : .reunite(reunion.nonce)
        send(body, to: reunion.host, at: now)
    }

    /// Two hosts that seek each other: the one of the later term lets the other in.
    mutating func mayLetIn(_ sender: CallDevice) -> Bool {
        guard let reunion, reunion.host == sender else { return true }
        guard (roster?.term ?? 0) > reunion.term else { return false }
        self.reunion = nil
        return true
    }

    /// The other host lets this device in. Only now are the old keys given up.
    ///
    /// - Returns: whether the reply was the one that is waited for.
    mutating func isReunited(by reply: KeyReply, _ signal: OpenedSignal, at now: UInt64) -> Bool {
        guard let reunion, reply.id == reunion.nonce, signal.sender == reunion.host else { return false }
        let attempt = JoinAttempt(
            nonce: reunion.nonce, hosts: [reunion.host], barred: Set(roster?.excluded ?? []), sentAt: now)
        guard let refusal = refusal(of: reply, attempt, signal) else {
            if isHost { send(.yield(Yielding(to: reunion.host, term: reply.roster.term)), at: now) }
            goOutside(.rejoining)
            phase = .joining(attempt)
            receiveWelcome(reply, attempt, signal, at: now)
            return true
        }
        self.reunion = nil
        refuse(refusal, signal.sender)
        return true
    }
}
