import CallSignalling
import CanonicalCoding
import STOMP

extension Broker {
    /// Where a SEND goes, if its sender may send it there.
    func route(of frame: StompFrame, on id: SessionID, at now: BrokerTime) throws(RelayFault) -> RelayRoute {
        guard let device = sessions[id]?.device, let destination = frame.value(of: .destination),
            RelayRoute(destination: destination) != nil
        else { throw .unknownDestination }
        guard let signal = try? Signal(decoding: frame.body) else { throw .malformedSignal }
        let call = signal.content.callID
        guard calls[call]?.members.contains(device) == true else { throw .notInCall }
        let route: RelayRoute
        do { route = try RelayRoute(signal, from: device, in: call) } catch { throw Self.fault(error) }
        guard route.destination == destination else { throw .wrongDestination }
        _ = try lifetime(of: frame)
        return route
    }

    private static func fault(_ refusal: RelayRefusal) -> RelayFault {
        switch refusal {
        case .malformed: .malformedSignal
        case .anotherCall: .wrongDestination
        case .anotherSender: .anotherSender
        case .invalidSignature: .invalidSignature
        }
    }

    /// How long the sender and the limits let it wait, in milliseconds.
    private func lifetime(of frame: StompFrame) throws(RelayFault) -> UInt64 {
        guard let value = frame.value(of: RelayedSignal.expiration) else { return limits.inboxTime }
        do { return min(try Decimal.decode(value), limits.inboxTime) } catch { throw .invalidHeader }
    }

    mutating func relay(
        _ frame: StompFrame, along route: RelayRoute, on id: SessionID, at now: BrokerTime
    ) throws(RelayFault) {
        guard let sender = sessions[id]?.device else { return }
        let expiresAt = now.date + (try lifetime(of: frame))
        let signal = RelayedSignal(
            frame, to: route.destination, number: lastNumber + 1, sender: sender, expiresAt: expiresAt)
        switch route {
        case .topic(let call):
            calls[call]?.touchedAt = now.uptime
            publish(signal, to: call)
        case .inbox(let device): try put(signal, into: device)
        }
        lastNumber += 1
    }

    private mutating func publish(_ signal: RelayedSignal, to call: CallID) {
        for key in topics[call] ?? [] {
            sessions[key.session]?.subscriptions[key.name]?.waiting.append(signal)
            deliver(to: key)
            let waiting = sessions[key.session]?.subscriptions[key.name]?.waiting.count ?? 0
            if waiting > limits.queueLength { fail(key.session, .tooSlow) }
        }
    }

    private mutating func put(_ signal: RelayedSignal, into device: CallDevice) throws(RelayFault) {
        guard keptCounts[signal.sender, default: 0] < limits.keptPerSender else { throw .tooMuchKept }
        guard keptByteCount + signal.body.count <= limits.keptByteCount else { throw .unavailable }
        if inboxes[device, default: Inbox()].waiting.count >= limits.inboxLength,
            let oldest = inboxes[device]?.makeRoom()
        {
            release(oldest)
        }
        guard let kept = signal.kept(for: device) else { throw .malformedFrame }
        inboxes[device, default: Inbox()].append(signal)
        count(signal, 1)
        out.append(.keep(kept))
        if let reader = inboxes[device]?.reader { deliver(to: reader) }
    }

    /// A signal need wait no longer.
    mutating func release(_ signal: RelayedSignal) {
        count(signal, -1)
        out.append(.drop(signal.number))
    }

    mutating func count(_ signal: RelayedSignal, _ change: Int) {
        let count = keptCounts[signal.sender, default: 0] + change
        keptCounts[signal.sender] = count > 0 ? count : nil
        keptByteCount += change * signal.body.count
    }

    /// Sends a subscription what waits for it, up to the number that it may leave unacknowledged.
    mutating func deliver(to key: SubscriptionKey) {
        while let subscription = sessions[key.session]?.subscriptions[key.name],
            subscription.mode == .auto || subscription.outstanding.count < limits.unacknowledged,
            var signal = next(for: key, subscription.route)
        {
            let needsAnswer = subscription.mode != .auto
            let acknowledgment = needsAnswer ? sessions[key.session]?.nextAcknowledgment(of: key.name) : nil
            out.append(.send(key.session, signal.message(for: key.name, acknowledgment: acknowledgment)))
            signal.deliveries += 1
            if let acknowledgment {
                sessions[key.session]?.subscriptions[key.name]?.outstanding.append((acknowledgment, signal))
            } else if case .inbox = subscription.route {
                release(signal)
            }
        }
    }

    private mutating func next(for key: SubscriptionKey, _ route: RelayRoute) -> RelayedSignal? {
        switch route {
        case .inbox(let device): return inboxes[device]?.takeFirst()
        case .topic:
            guard sessions[key.session]?.subscriptions[key.name]?.waiting.isEmpty == false else { return nil }
            return sessions[key.session]?.subscriptions[key.name]?.waiting.removeFirst()
        }
    }
}
