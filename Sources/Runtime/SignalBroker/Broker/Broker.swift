public import CallSignalling
import STOMP

/// A STOMP 1.2 broker for the signals of calls, without a socket, a disk or a clock: what happens goes in with the time, and
/// what is to be done comes out.
///
/// A call is a topic, `/topic/call.` and its id; each device has an inbox, `/queue/inbox.` and its key. All that may be
/// sent are signals that the sending device signed, in a call that it is in, and acts about calls (``CallSignalling/CallAct``).
///
/// Security: whose connection it is, whoever opens it must have proved. The broker opens nothing.
///
/// Spec: STOMP 1.2.
public struct Broker: Sendable {
    /// What devices may take.
    public let limits: BrokerLimits
    var sessions: [SessionID: BrokerSession] = [:]
    var calls: [CallID: CallRecord] = [:]
    var topics: [CallID: Set<SubscriptionKey>] = [:]
    var inboxes: [CallDevice: Inbox] = [:]
    var keptCounts: [CallDevice: Int] = [:]
    var keptByteCount = 0
    var lastNumber: UInt64 = 0
    var out: [BrokerAction] = []
    private var paces: [CallDevice: UInt64] = [:]
    private var lastSession: UInt64 = 0
    private var sweptAt: UInt64 = 0

    /// A broker, with what an earlier one has written.
    public init(
        _ limits: BrokerLimits = BrokerLimits(), kept: [KeptSignal] = [], calls: [CallRecord] = [], at now: BrokerTime
    ) {
        self.limits = limits
        for var call in calls {
            call.touchedAt = now.uptime
            self.calls[call.id] = call
        }
        for kept in kept.sorted(by: { $0.number < $1.number }) {
            guard let signal = RelayedSignal(kept, limits.frames) else { continue }
            inboxes[kept.recipient, default: Inbox()].append(signal)
            count(signal, 1)
            lastNumber = kept.number
        }
    }

    /// The connections there are.
    public var sessionCount: Int { sessions.count }
    /// The signals that wait in inboxes, delivered ones that are not acknowledged among them.
    public var keptCount: Int { keptCounts.values.reduce(0, +) }
    /// The calls there are.
    public var callCount: Int { calls.count }
    /// Whether a device is in a call.
    func isMember(_ device: CallDevice, of call: CallID) -> Bool { calls[call]?.members.contains(device) ?? false }

    /// A device connects.
    public mutating func open(_ device: CallDevice, at now: BrokerTime) -> (SessionID, [BrokerAction]) {
        let own = sessions.filter { $0.value.device == device }.keys.sorted()
        if own.count >= limits.sessionsPerDevice, let oldest = own.first { fail(oldest, .tooManyConnections) }
        lastSession += 1
        let id = SessionID(number: lastSession)
        sessions[id] = BrokerSession(device, limits.frames, at: now.uptime)
        return (id, takeOut())
    }

    /// Bytes have arrived on a connection, however cut into pieces.
    public mutating func receive(
        _ bytes: some Collection<UInt8>, on id: SessionID, at now: BrokerTime
    ) -> [BrokerAction] {
        sessions[id]?.noteReceived(at: now.uptime)
        sessions[id]?.decoder.append(bytes)
        while let element = nextElement(of: id) {
            if case .frame(let frame) = element { take(frame, on: id, at: now) }
        }
        noteSent(at: now)
        return takeOut()
    }

    /// A connection is gone.
    public mutating func close(_ id: SessionID, at now: BrokerTime) -> [BrokerAction] {
        end(id)
        noteSent(at: now)
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
                out.append(.send(id, [UInt8(ascii: "\n")]))
            }
        }
        if now.uptime >= sweptAt + 1000 { sweep(at: now) }
        noteSent(at: now)
        return takeOut()
    }

    private mutating func sweep(at now: BrokerTime) {
        sweptAt = now.uptime
        paces = paces.filter { $0.value > now.uptime * 1000 }
        for (device, inbox) in inboxes where inbox.waiting.contains(where: { $0.expiresAt <= now.date }) {
            for signal in inboxes[device]?.takeExpired(at: now.date) ?? [] { release(signal) }
            if inboxes[device]?.isUnused == true { inboxes[device] = nil }
        }
        for (id, call) in calls where topics[id] == nil && now.uptime >= call.touchedAt + limits.callTime { forget(id) }
    }

    private mutating func nextElement(of id: SessionID) -> StompDecoder.Element? {
        do { return try sessions[id]?.decoder.next() } catch {
            fail(id, .malformedFrame)
            return nil
        }
    }

    /// Takes a frame's price from the device's bucket.
    mutating func takePace(of device: CallDevice, at now: BrokerTime) throws(RelayFault) {
        guard limits.framesPerSecond > 0 else { return }
        let (time, price) = (now.uptime * 1000, 1_000_000 / limits.framesPerSecond)
        let full = max(paces[device] ?? 0, time) + price
        guard full - time <= price * limits.frameBurst else { throw .tooFast }
        paces[device] = full
    }

    private mutating func noteSent(at now: BrokerTime) {
        for case .send(let id, _) in out { sessions[id]?.noteSent(at: now.uptime) }
    }

    private mutating func takeOut() -> [BrokerAction] {
        defer { out = [] }
        return out
    }
}
