// SPDX-License-Identifier: Apache-2.0

import CallSignalling

extension Broker {
    mutating func carryOut(_ act: CallAct, on id: SessionID, at now: BrokerTime) throws(RelayFault) {
        guard let session = sessions[id] else { return }
        let (device, account) = (session.device, session.account)
        let call = act.callID
        guard mayKeep || !act.addsSomething else { throw .unavailable }
        switch act {
        case .start(_, let invited):
            if let known = calls[call] {
                // The same again is not a fault: after a lost connection, the sender does not know whether it was heard.
                guard known.starter == device, known.members.contains(device) else { throw .callTaken }
            } else {
                try open(CallRecord(call, by: device, of: account, inviting: invited, at: now.uptime))
            }
        case .invite(_, let devices): try invite(devices, to: call, by: device)
        case .remove(_, let devices): try remove(devices, from: call, by: device)
        case .join: try join(call, device)
        case .leave:
            guard calls[call]?.members.contains(device) == true else { return }
            depart(device, from: call)
            if calls[call]?.members.isEmpty == true { return forget(call) }
        case .end:
            guard let known = calls[call], known.members.contains(device) else { throw .notInCall }
            guard mayDecide(device, known) else { throw .notYourCall }
            return forget(call)
        }
        calls[call]?.touchedAt = now.uptime
        if let record = calls[call] { out.append(.record(record)) }
    }

    private mutating func open(_ call: CallRecord) throws(RelayFault) {
        guard callCounts[call.account, default: 0] < limits.callsPerAccount else { throw .tooManyCalls }
        if calls.count >= limits.calls { try takeCallFromTheGreediest(than: call.account) }
        calls[call.id] = call
        callCounts[call.account, default: 0] += 1
    }

    /// All calls are taken: the account with the most loses the one that was quiet for longest.
    private mutating func takeCallFromTheGreediest(than account: Int64) throws(RelayFault) {
        let greediest = callCounts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        guard let greediest, greediest.value > callCounts[account, default: 0] + 1 else { throw .tooManyCalls }
        let own = calls.values.filter { $0.account == greediest.key }
        if let quietest = own.min(by: { $0.touchedAt < $1.touchedAt }) { forget(quietest.id) }
    }

    private mutating func invite(
        _ devices: [CallDevice], to call: CallID, by device: CallDevice
    ) throws(RelayFault) {
        guard var known = calls[call], known.members.contains(device) else { throw .notInCall }
        known.invited.formUnion(devices)
        if mayDecide(device, known) { known.removed.subtract(devices) }
        guard known.invited.count <= CallAct.maximumDeviceCount else { throw .callFull }
        calls[call] = known
    }

    /// Ends what devices have of the call: membership, subscriptions and, at the relay of frames, their places.
    private mutating func remove(
        _ devices: [CallDevice], from call: CallID, by device: CallDevice
    ) throws(RelayFault) {
        guard let known = calls[call], known.members.contains(device) else { throw .notInCall }
        guard mayDecide(device, known) else { throw .notYourCall }
        guard known.removed.union(devices).count <= CallAct.maximumDeviceCount else { throw .callFull }
        calls[call]?.invited.subtract(devices)
        calls[call]?.removed.formUnion(devices)
        for device in devices where known.members.contains(device) { depart(device, from: call) }
        if calls[call]?.members.isEmpty == true { forget(call) }
    }

    /// The device that started a call, or any member once that device has left.
    private func mayDecide(_ device: CallDevice, _ call: CallRecord) -> Bool {
        call.starter == device || !call.members.contains(call.starter)
    }

    private mutating func join(_ call: CallID, _ device: CallDevice) throws(RelayFault) {
        guard var known = calls[call], known.admits(device) else { throw .notInvited }
        known.members.insert(device)
        guard known.members.count <= Roster.maximumPresentCount else { throw .callFull }
        calls[call] = known
    }

    /// A device is in the call no more: its subscriptions end, and the relay of frames is told.
    mutating func depart(_ device: CallDevice, from call: CallID) {
        calls[call]?.members.remove(device)
        removeSubscriptions(to: call) { $0 == device }
        out.append(.departed(device, from: call))
    }

    /// The call is over: no device receives it any more.
    mutating func forget(_ call: CallID) {
        removeSubscriptions(to: call) { _ in true }
        if let known = calls.removeValue(forKey: call) {
            for member in known.members { out.append(.departed(member, from: call)) }
            let count = callCounts[known.account, default: 0] - 1
            callCounts[known.account] = count > 0 ? count : nil
        }
        out.append(.forget(call))
    }

    private mutating func removeSubscriptions(to call: CallID, of isMeant: (CallDevice) -> Bool) {
        for key in topics[call] ?? [] where sessions[key.session].map({ isMeant($0.device) }) ?? false { remove(key) }
    }
}

extension CallAct {
    /// Whether the record of the call gets longer by it.
    fileprivate var addsSomething: Bool {
        switch self {
        case .start, .invite, .join: true
        case .leave, .remove, .end: false
        }
    }
}
