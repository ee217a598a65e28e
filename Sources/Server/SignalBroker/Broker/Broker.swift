// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import STOMP

/// A STOMP 1.2 broker for the signals of calls, without a socket, a disk or a clock: what happens goes in with the time, and
/// what is to be done comes out.
///
/// A call is a topic, `/topic/call.` and its id; each device has an inbox, `/queue/inbox.` and its key. All that may be
/// sent are signals that the sending device signed, in a call that it is in, and acts about calls (``CallSignalling/CallAct``).
///
/// Security: the code that opens a connection must have proved whose it is. The broker opens nothing.
///
/// Spec: STOMP 1.2.
public struct Broker: Sendable {
    /// What devices may take.
    public let limits: BrokerLimits
    /// Whether anything more may be written. While not, signals to inboxes are refused and no call begins or grows; what waits
    /// is delivered, and calls go on.
    public var mayKeep = true
    var sessions: [SessionID: BrokerSession] = [:]
    var calls: [CallID: CallRecord] = [:]
    var topics: [CallID: Set<SubscriptionKey>] = [:]
    var inboxes: [CallDevice: Inbox] = [:]
    var shelves = Shelves()
    var holdings = Holdings()
    var lastNumber: UInt64 = 0
    var out: [BrokerAction] = []
    var callCounts: [Int64: Int] = [:]
    private var pace: Pace
    var spread: Pace
    private var lastSession: UInt64 = 0
    private var sweptAt: UInt64 = 0

    /// A broker, with what an earlier one has written.
    public init(
        _ limits: BrokerLimits = BrokerLimits(), kept: [KeptSignal] = [], calls: [CallRecord] = [], at now: BrokerTime
    ) {
        self.limits = limits
        pace = Pace(perSecond: limits.framesPerSecond, burst: limits.frameBurst)
        spread = Pace(perSecond: limits.spreadPerSecond, burst: limits.spreadBurst)
        for var call in calls {
            call.touchedAt = now.uptime
            self.calls[call.id] = call
            callCounts[call.account, default: 0] += 1
        }
        for kept in kept.sorted(by: { $0.number < $1.number }) {
            guard let signal = RelayedSignal(kept, limits.frames) else { continue }
            inboxes[kept.recipient, default: Inbox()].append(signal)
            shelves.put(signal, for: kept.recipient)
            lastNumber = kept.number
        }
    }

    /// The connections there are.
    public var sessionCount: Int { sessions.count }
    /// A number of connections after a given one, in the order of opening, and their devices.
    func connections(after id: SessionID?, atMost count: Int) -> [(id: SessionID, device: CallDevice)] {
        sessions.filter { entry in id.map { $0 < entry.key } ?? true }.sorted { $0.key < $1.key }.prefix(count)
            .map { ($0.key, $0.value.device) }
    }
    /// The signals that wait in inboxes, delivered ones that are not acknowledged among them.
    public var keptCount: Int { shelves.count }
    /// Bytes that wait in inboxes, and bytes held for connections.
    public var byteCounts: (kept: Int, held: Int) { (shelves.byteCount, holdings.total) }
    /// The recipients whose inboxes wait without a reader: a recipient that has read its inbox has shown that it is a
    /// device.
    public var absentRecipients: Set<CallDevice> { Set(inboxes.filter { $0.value.reader == nil }.keys) }
    /// The calls there are.
    public var callCount: Int { calls.count }
    /// Whether a device is in a call.
    func isMember(_ device: CallDevice, of call: CallID) -> Bool { calls[call]?.members.contains(device) ?? false }

    /// A device of an account connects.
    public mutating func open(
        _ device: CallDevice, of account: Int64, at now: BrokerTime
    ) -> (SessionID, [BrokerAction]) {
        let own = sessions.filter { $0.value.account == account }
        let ofDevice = own.filter { $0.value.device == device }
        if ofDevice.count >= limits.sessionsPerDevice, let oldest = ofDevice.keys.min() {
            fail(oldest, .tooManyConnections)
        } else if own.count >= limits.sessionsPerAccount, let oldest = own.keys.min() {
            fail(oldest, .tooManyConnections)
        }
        lastSession += 1
        let id = SessionID(number: lastSession)
        sessions[id] = BrokerSession(device, of: account, at: now.uptime)
        holdings.open(id, of: account)
        return (id, takeOut())
    }

    /// Bytes have arrived on a connection.
    public mutating func noteReceived(on id: SessionID, at now: BrokerTime) {
        sessions[id]?.noteReceived(at: now.uptime)
    }

    /// Takes the price of something from the account of a connection, before anything is done about it.
    ///
    /// - Returns: nil if it may be done; otherwise what to do instead, and nothing more of this connection counts.
    public mutating func charge(_ id: SessionID, at now: BrokerTime) -> [BrokerAction]? {
        guard let account = sessions[id]?.account else { return [] }
        guard !pace.take(1, of: account, at: now.uptime) else { return nil }
        fail(id, .tooFast)
        return takeOut()
    }

    /// A frame has arrived on a connection, and was charged for.
    public mutating func receive(_ frame: JudgedFrame, on id: SessionID, at now: BrokerTime) -> [BrokerAction] {
        take(frame, on: id, at: now)
        noteSent(at: now)
        return takeOut()
    }

    /// A connection has written so many bytes.
    public mutating func noteWritten(_ byteCount: Int, on id: SessionID, at now: BrokerTime) -> [BrokerAction] {
        holdings.add(-byteCount, to: id)
        for (name, subscription) in sessions[id]?.subscriptions ?? [:] {
            if case .inbox = subscription.route { deliver(to: SubscriptionKey(session: id, name: name)) }
        }
        noteSent(at: now)
        return takeOut()
    }

    /// A connection says and hears nothing more; what was sent may still be on its way.
    public mutating func close(_ id: SessionID, at now: BrokerTime) -> [BrokerAction] {
        end(id)
        noteSent(at: now)
        return takeOut()
    }

    /// A connection is gone, and what was on its way.
    public mutating func drop(_ id: SessionID, at now: BrokerTime) -> [BrokerAction] {
        end(id)
        holdings.drop(id)
        noteSent(at: now)
        return takeOut()
    }

    /// Empties the inbox of a key that belongs to no device, unless it has a reader by now.
    public mutating func forget(recipient: CallDevice) -> [BrokerAction] {
        guard let inbox = inboxes[recipient], inbox.reader == nil else { return [] }
        for signal in inbox.waiting { release(signal) }
        inboxes[recipient] = nil
        return takeOut()
    }

    /// Ends a connection for a reason of its carrier's.
    public mutating func refuse(_ id: SessionID, _ fault: RelayFault, at now: BrokerTime) -> [BrokerAction] {
        fail(id, fault)
        noteSent(at: now)
        return takeOut()
    }

    /// Time has passed. To be called a few times in the shortest interval of heart-beats.
    public mutating func tick(at now: BrokerTime) -> [BrokerAction] {
        for (id, session) in sessions {
            let age = now.uptime - min(now.uptime, session.openedAt)
            if !session.isConnected {
                if age >= limits.connectTime { fail(id, .notConnected) }
            } else if age >= limits.sessionTime {
                fail(id, .tooOld)
            } else if session.isSilent(at: now.uptime) {
                fail(id, .silent)
            } else if session.owesHeartBeat(at: now.uptime) {
                post(BrokerDelivery([UInt8(ascii: "\n")]), to: id)
            }
        }
        if now.uptime >= sweptAt + 1000 { sweep(at: now) }
        noteSent(at: now)
        return takeOut()
    }

    private mutating func sweep(at now: BrokerTime) {
        sweptAt = now.uptime
        pace.sweep(at: now.uptime)
        spread.sweep(at: now.uptime)
        for (device, inbox) in inboxes where inbox.waiting.contains(where: { $0.expiresAt <= now.date }) {
            for signal in inboxes[device]?.takeExpired(at: now.date) ?? [] { release(signal) }
            if inboxes[device]?.isUnused == true { inboxes[device] = nil }
        }
        for (id, call) in calls where topics[id] == nil && now.uptime >= call.touchedAt + limits.callTime { forget(id) }
    }

    private mutating func noteSent(at now: BrokerTime) {
        for case .send(let id, _) in out { sessions[id]?.noteSent(at: now.uptime) }
    }

    private mutating func takeOut() -> [BrokerAction] {
        defer { out = [] }
        return out
    }
}
