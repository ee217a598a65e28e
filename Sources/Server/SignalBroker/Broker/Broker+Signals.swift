// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding
import STOMP

extension Broker {
    /// Where a SEND goes, if its sender may send it there.
    func route(of judged: JudgedFrame, on id: SessionID) throws(RelayFault) -> RelayRoute {
        let frame = judged.frame
        guard let device = sessions[id]?.device, let destination = frame.value(of: .destination),
            RelayRoute(destination: destination) != nil
        else { throw .unknownDestination }
        guard RelayedSignal.leavesRoom(frame, in: limits.frames) else { throw .invalidHeader }
        guard let signal = judged.signal else { throw .malformedSignal }
        let call = signal.signal.content.callID
        guard maySay(signal.signal.content.body, device, in: call) else { throw .notInCall }
        let route: RelayRoute
        do { route = try RelayRoute(signal, from: device, in: call) } catch { throw Self.fault(error) }
        guard route.destination == destination else { throw .wrongDestination }
        _ = try lifetime(of: frame)
        return route
    }

    /// Members may send anything. A device that may join can only answer a ring.
    private func maySay(_ body: SignalBody, _ device: CallDevice, in call: CallID) -> Bool {
        guard let known = calls[call] else { return false }
        if case .ringAnswer = body, known.admits(device) { return true }
        return known.members.contains(device)
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
        guard let sender = sessions[id] else { return }
        let expiresAt = now.date + (try lifetime(of: frame))
        let signal = RelayedSignal(
            frame, to: route.destination, number: lastNumber + 1, sender: sender.device, of: sender.account,
            expiresAt: expiresAt)
        switch route {
        case .topic(let call):
            calls[call]?.touchedAt = now.uptime
            let cost = UInt64(signal.byteCount * (topics[call]?.count ?? 0))
            guard spread.take(cost, of: sender.account, at: now.uptime) else { throw .tooFast }
            publish(signal, to: call)
        case .inbox(let device): try put(signal, into: device)
        }
        lastNumber += 1
    }

    private mutating func publish(_ signal: RelayedSignal, to call: CallID) {
        for key in topics[call] ?? [] {
            guard mayHold(signal.byteCount, for: key.session) else {
                fail(key.session, .tooSlow)
                continue
            }
            makeRoom(for: signal.byteCount)
            guard sessions[key.session] != nil else { continue }
            holdings.add(signal.byteCount, to: key.session)
            sessions[key.session]?.subscriptions[key.name]?.waiting.append(signal)
            deliver(to: key)
            let waiting = sessions[key.session]?.subscriptions[key.name]?.waiting.count ?? 0
            if waiting > limits.queueLength { fail(key.session, .tooSlow) }
        }
    }

    /// Makes room on the shelves: the account with the most there loses its oldest. Other accounts are refused nothing.
    private mutating func makeRoomOnShelves(for signal: RelayedSignal) throws(RelayFault) {
        let (size, account) = (signal.byteCount, signal.account)
        while shelves.byteCount(of: account) + size > limits.keptBytesPerAccount
            || shelves.count(of: account) >= limits.keptPerAccount
        {
            guard dropOldest(of: account) else { throw .tooMuchKept }
        }
        while shelves.byteCount + size > limits.keptByteCount {
            guard let greediest = shelves.greediest, dropOldest(of: greediest) || dropOnItsWay(of: greediest) else {
                throw .unavailable
            }
        }
    }

    /// Takes an account's oldest signal out of its inbox; returns false if all of them are on their way.
    private mutating func dropOldest(of account: Int64) -> Bool {
        for (number, recipient) in shelves.oldest(of: account) {
            guard let signal = inboxes[recipient]?.take(number) else { continue }
            release(signal)
            if inboxes[recipient]?.isUnused == true { inboxes[recipient] = nil }
            return true
        }
        return false
    }

    /// Takes back an account's oldest signal from a reader that does not acknowledge it: otherwise a device that sends
    /// to such readers could fill the shelves for good. It was delivered once.
    private mutating func dropOnItsWay(of account: Int64) -> Bool {
        guard let (number, recipient) = shelves.oldest(of: account).first, let key = inboxes[recipient]?.reader,
            let signal = sessions[key.session]?.subscriptions[key.name]?.forget(number)
        else { return false }
        release(signal)
        return true
    }

    private mutating func put(_ signal: RelayedSignal, into device: CallDevice) throws(RelayFault) {
        guard mayKeep else { throw .unavailable }
        try makeRoomOnShelves(for: signal)
        if inboxes[device, default: Inbox()].waiting.count >= limits.inboxLength,
            let oldest = inboxes[device]?.makeRoom()
        {
            release(oldest)
        }
        guard let kept = signal.kept(for: device) else { throw .malformedFrame }
        inboxes[device, default: Inbox()].append(signal)
        shelves.put(signal, for: device)
        out.append(.keep(kept))
        if let reader = inboxes[device]?.reader { deliver(to: reader) }
    }

    /// A signal need wait no longer.
    mutating func release(_ signal: RelayedSignal) {
        shelves.take(signal)
        out.append(.drop(signal.number))
    }

    /// Sends a subscription what waits for it, up to the number that it may leave unacknowledged.
    mutating func deliver(to key: SubscriptionKey) {
        while let subscription = sessions[key.session]?.subscriptions[key.name],
            subscription.mode == .auto || subscription.outstanding.count < limits.unacknowledged,
            var signal = next(for: key, subscription.route)
        {
            let needsAnswer = subscription.mode != .auto
            let acknowledgment = needsAnswer ? sessions[key.session]?.nextAcknowledgment(of: key.name) : nil
            post(signal.message(for: key.name, acknowledgment: acknowledgment), to: key.session)
            signal.deliveries += 1
            if let acknowledgment {
                sessions[key.session]?.subscriptions[key.name]?.outstanding.append((acknowledgment, signal))
            } else if case .inbox = subscription.route {
                release(signal)
            } else {
                holdings.add(-signal.byteCount, to: key.session)
            }
        }
    }

    private mutating func next(for key: SubscriptionKey, _ route: RelayRoute) -> RelayedSignal? {
        switch route {
        case .inbox(let device):
            // What does not fit waits in the inbox until the connection has written more.
            guard let first = inboxes[device]?.waiting.first, mayHold(first.byteCount, for: key.session) else {
                return nil
            }
            makeRoom(for: first.byteCount)
            return sessions[key.session] == nil ? nil : inboxes[device]?.takeFirst()
        case .topic:
            guard sessions[key.session]?.subscriptions[key.name]?.waiting.isEmpty == false else { return nil }
            return sessions[key.session]?.subscriptions[key.name]?.waiting.removeFirst()
        }
    }
}
