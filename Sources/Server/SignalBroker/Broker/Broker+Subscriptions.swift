// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding
import STOMP

extension Broker {
    mutating func subscribe(_ frame: StompFrame, on id: SessionID, at now: BrokerTime) throws(RelayFault) {
        guard let session = sessions[id], let name = frame.value(of: .id) else { return }
        guard session.subscriptions[name] == nil else { throw .repeatedSubscription }
        guard session.subscriptions.count < limits.subscriptions else { throw .tooManySubscriptions }
        guard let mode = frame.value(of: .ack).map({ AcknowledgmentMode($0) }) ?? .auto else { throw .invalidHeader }
        guard let route = RelayRoute(destination: frame.value(of: .destination) ?? []) else {
            throw .unknownDestination
        }
        guard !session.subscriptions.values.contains(where: { $0.route == route }) else {
            throw .repeatedSubscription
        }
        let key = SubscriptionKey(session: id, name: name)
        switch route {
        case .topic(let call):
            guard calls[call]?.members.contains(session.device) == true else { throw .notInCall }
            calls[call]?.touchedAt = now.uptime
            topics[call, default: []].insert(key)
        case .inbox(let device):
            guard device == session.device else { throw .anotherInbox }
            if let reader = inboxes[device]?.reader {
                remove(reader)
                sessions[reader.session]?.takenOver = reader.name
            }
            for signal in inboxes[device]?.takeExpired(at: now.date) ?? [] { release(signal) }
            inboxes[device, default: Inbox()].reader = key
        }
        sessions[id]?.subscriptions[name] = BrokerSubscription(route: route, mode: mode)
        deliver(to: key)
    }

    mutating func unsubscribe(_ name: [UInt8], on id: SessionID) throws(RelayFault) {
        guard sessions[id]?.subscriptions[name] != nil else {
            // The client was not told that it was taken over.
            guard sessions[id]?.takenOver == name else { throw .unknownSubscription }
            sessions[id]?.takenOver = nil
            return
        }
        remove(SubscriptionKey(session: id, name: name))
    }

    /// Ends a subscription. Only an inbox keeps what was not acknowledged.
    mutating func remove(_ key: SubscriptionKey) {
        guard let subscription = sessions[key.session]?.subscriptions.removeValue(forKey: key.name) else { return }
        for (acknowledgment, _) in subscription.outstanding {
            sessions[key.session]?.acknowledgments[acknowledgment] = nil
        }
        switch subscription.route {
        case .topic(let call):
            letGo(subscription.waiting + subscription.outstanding.map(\.signal), of: key.session)
            topics[call]?.remove(key)
            if topics[call]?.isEmpty == true { topics[call] = nil }
        case .inbox(let device):
            inboxes[device]?.putBack(subscription.outstanding.map(\.signal))
            inboxes[device]?.reader = nil
            if inboxes[device]?.isUnused == true { inboxes[device] = nil }
        }
    }

    // MARK: Acknowledgments

    /// The message that an ACK or NACK names.
    func acknowledgment(in frame: StompFrame, on id: SessionID) throws(RelayFault) -> UInt64 {
        guard let number = frame.value(of: .id).flatMap({ try? Decimal.decode($0) }),
            sessions[id]?.acknowledgments[number] != nil
        else { throw .unknownMessage }
        return number
    }

    mutating func acknowledge(_ frame: StompFrame, on id: SessionID) throws(RelayFault) {
        let (key, signals) = try take(frame, id)
        if case .inbox? = sessions[id]?.subscriptions[key.name]?.route {
            for signal in signals { release(signal) }
        } else {
            letGo(signals, of: id)
        }
        deliver(to: key)
    }

    /// Signals of a call are no longer held for a connection.
    private mutating func letGo(_ signals: [RelayedSignal], of id: SessionID) {
        holdings.add(-signals.reduce(0) { $0 + $1.byteCount }, to: id)
    }

    /// The client could not deal with something: it gets it again, but a limited number of times.
    mutating func sendBack(_ frame: StompFrame, on id: SessionID) throws(RelayFault) {
        let (key, signals) = try take(frame, id)
        let again = signals.filter { $0.deliveries < limits.deliveries }
        switch sessions[id]?.subscriptions[key.name]?.route {
        case .inbox(let device):
            for signal in signals where signal.deliveries >= limits.deliveries { release(signal) }
            inboxes[device]?.putBack(again)
        case .topic:
            letGo(signals.filter { $0.deliveries >= limits.deliveries }, of: id)
            sessions[id]?.subscriptions[key.name]?.waiting.insert(contentsOf: again, at: 0)
        case nil: return
        }
        deliver(to: key)
    }

    private mutating func take(
        _ frame: StompFrame, _ id: SessionID
    ) throws(RelayFault) -> (SubscriptionKey, [RelayedSignal]) {
        let number = try acknowledgment(in: frame, on: id)
        let name = sessions[id]?.acknowledgments[number] ?? []
        let taken = sessions[id]?.subscriptions[name]?.take(number) ?? []
        for acknowledgment in taken.map(\.acknowledgment) + [number] {
            sessions[id]?.acknowledgments[acknowledgment] = nil
        }
        return (SubscriptionKey(session: id, name: name), taken.map(\.signal))
    }
}
