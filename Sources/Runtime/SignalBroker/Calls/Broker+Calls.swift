import CallSignalling

extension Broker {
    mutating func carryOut(_ act: CallAct, on id: SessionID, at now: BrokerTime) throws(RelayFault) {
        guard let device = sessions[id]?.device else { return }
        let call = act.callID
        switch act {
        case .start(_, let invited):
            if let known = calls[call] {
                // The same again is no fault: after a lost connection nobody knows whether it was heard.
                guard known.starter == device, known.members.contains(device) else { throw .callTaken }
            } else {
                try open(CallRecord(call, by: device, inviting: invited, at: now.uptime))
            }
        case .invite(_, let devices): try invite(devices, to: call, by: device)
        case .join: try join(call, device)
        case .leave:
            guard calls[call]?.members.contains(device) == true else { return }
            calls[call]?.members.remove(device)
            removeSubscriptions(to: call) { $0 == device }
            if calls[call]?.members.isEmpty == true { return forget(call) }
        case .end:
            guard let known = calls[call], known.members.contains(device) else { throw .notInCall }
            guard known.starter == device || !known.members.contains(known.starter) else { throw .notYourCall }
            return forget(call)
        }
        calls[call]?.touchedAt = now.uptime
        if let record = calls[call] { out.append(.record(record)) }
    }

    private mutating func open(_ call: CallRecord) throws(RelayFault) {
        let own = calls.values.count { $0.starter == call.starter }
        guard own < limits.callsPerDevice, calls.count < limits.calls else { throw .tooManyCalls }
        calls[call.id] = call
    }

    private mutating func invite(
        _ devices: [CallDevice], to call: CallID, by device: CallDevice
    ) throws(RelayFault) {
        guard var known = calls[call], known.members.contains(device) else { throw .notInCall }
        known.invited.formUnion(devices)
        guard known.invited.count <= CallAct.maximumDeviceCount else { throw .callFull }
        calls[call] = known
    }

    private mutating func join(_ call: CallID, _ device: CallDevice) throws(RelayFault) {
        guard var known = calls[call], known.admits(device) else { throw .notInvited }
        known.members.insert(device)
        guard known.members.count <= Roster.maximumMemberCount else { throw .callFull }
        calls[call] = known
    }

    /// The call is over: nobody hears it any more.
    mutating func forget(_ call: CallID) {
        removeSubscriptions(to: call) { _ in true }
        calls[call] = nil
        out.append(.forget(call))
    }

    private mutating func removeSubscriptions(to call: CallID, of isMeant: (CallDevice) -> Bool) {
        for key in topics[call] ?? [] where sessions[key.session].map({ isMeant($0.device) }) ?? false { remove(key) }
    }
}
