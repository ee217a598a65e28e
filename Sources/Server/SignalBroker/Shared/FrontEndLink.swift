// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import Synchronization

/// The connections of this front end's devices to the one that carries the signals of all.
///
/// What arrives on them counts until the other one has dealt with it, against the same limits as what is sent to them.
final class FrontEndLink: Sendable {
    /// How long the other one may be silent, in milliseconds.
    static let patience: UInt64 = 4000
    /// As how many bytes a ping counts.
    static let pingByteCount = 128
    /// How often something is said at least.
    static let beat: UInt64 = 1000

    private struct Connection {
        let account: Int64
        let sink: any SignalSink
    }

    private struct State {
        var channel: FrontEndChannel
        var connections: [UInt64: Connection] = [:]
        var holdings = Holdings()
        var lastNumber: UInt64 = 0
        var heardAt: UInt64
        var saidAt: UInt64
        var isWelcome = false
        var isOver = false
    }

    /// The channel.
    let id: [UInt8]
    /// The one that carries signals.
    let other: [UInt8]
    private let limits: BrokerLimits
    private let bus: any SignalBus
    private let onDeparture: @Sendable (CallDevice, CallID) -> Void
    private let state: Mutex<State>

    /// Says hello.
    ///
    /// - Parameter onDeparture: told of each device that is in a call no more.
    init(
        _ channel: FrontEndChannel, to other: [UInt8], over bus: any SignalBus, _ limits: BrokerLimits,
        at uptime: UInt64,
        onDeparture: @escaping @Sendable (CallDevice, CallID) -> Void
    ) {
        (id, self.other, self.bus, self.limits, self.onDeparture) = (channel.id, other, bus, limits, onDeparture)
        state = Mutex(State(channel: channel, heardAt: uptime, saidAt: uptime))
        state.withLock { say(.hello, &$0) }
    }

    /// Whether it is of no more use. Its connections have ended.
    var isOver: Bool { state.withLock { $0.isOver } }
    /// Whether the other one has answered.
    var isWelcome: Bool { state.withLock { $0.isWelcome } }
    /// Connections, and the bytes that the other one has not dealt with.
    var counts: (connections: Int, held: Int) { state.withLock { ($0.connections.count, $0.holdings.total) } }

    /// A device has connected.
    func open(_ device: CallDevice, of account: Int64, to sink: any SignalSink) -> any SignalLine {
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            guard !state.isOver else {
                Self.end(sink, .unavailable)
                return LinkedLine(link: self, number: number)
            }
            state.connections[number] = Connection(account: account, sink: sink)
            state.holdings.open(SessionID(number: number), of: account)
            say(.open(number, device, account), &state)
            return LinkedLine(link: self, number: number)
        }
    }

    /// A box of the channel has arrived.
    func receive(_ box: [UInt8], at uptime: UInt64) {
        state.withLock { state in
            guard !state.isOver else { return }
            guard let message = state.channel.open(box) else { return finish(&state) }
            state.heardAt = uptime
            take(message, &state)
        }
    }

    private func take(_ message: FrontEndMessage, _ state: inout State) {
        switch message {
        case .welcome: state.isWelcome = true
        case .send(let number, let bytes): state.connections[number]?.sink.send(BrokerDelivery(bytes))
        case .taken(let number, let count): state.holdings.add(-count, to: SessionID(number: number))
        case .closed(let number): state.connections[number]?.sink.close()
        case .cut(let number): cut(number, &state)
        case .departed(let device, let call): onDeparture(device, call)
        case .farewell: finish(&state)
        case .beat, .hello, .open, .bytes, .charge, .written, .close, .drop, .refuse: break
        }
    }

    /// Time has passed.
    func tick(at uptime: UInt64) {
        state.withLock { state in
            guard !state.isOver else { return }
            guard uptime < state.heardAt + Self.patience else { return finish(&state) }
            guard uptime >= state.saidAt + Self.beat else { return }
            state.saidAt = uptime
            say(.beat, &state)
        }
    }

    /// Ends all connections.
    func finish() { state.withLock { finish(&$0) } }

    private func finish(_ state: inout State) {
        guard !state.isOver else { return }
        say(.farewell, &state)
        state.isOver = true
        for connection in state.connections.values { Self.end(connection.sink, .unavailable) }
        state.connections = [:]
        state.holdings = Holdings()
    }

    private func say(_ message: FrontEndMessage, _ state: inout State) {
        if let bytes = state.channel.seal(message) { bus.send(bytes, to: other) }
    }

    private func forget(_ number: UInt64, _ state: inout State) -> Connection? {
        state.holdings.drop(SessionID(number: number))
        return state.connections.removeValue(forKey: number)
    }

    /// Tells a device why its connection ends.
    static func end(_ sink: any SignalSink, _ fault: RelayFault) {
        if let frame = try? StompFrame(.error, [StompHeader(.message, Array(fault.rawValue.utf8))]) {
            sink.send(BrokerDelivery(frame.encoded))
        }
        sink.close()
    }

    // MARK: Connections

    fileprivate func receive(_ bytes: [UInt8], on number: UInt64) {
        state.withLock { state in
            if hold(bytes.count, for: number, &state) { say(.bytes(number, bytes), &state) }
        }
    }

    /// A ping counts as long as the other one has not charged for it: it has no bytes, and many make many messages.
    fileprivate func charge(_ number: UInt64) -> Bool {
        state.withLock { state in
            guard hold(Self.pingByteCount, for: number, &state) else { return false }
            say(.charge(number), &state)
            return true
        }
    }

    /// What does not fit ends the connection; what all have together ends that of the account that has most.
    ///
    /// - Returns: whether it may be handed on.
    private func hold(_ count: Int, for number: UInt64, _ state: inout State) -> Bool {
        guard let connection = state.connections[number] else { return false }
        let id = SessionID(number: number)
        guard state.holdings.of(id) + count <= limits.heldPerSession,
            state.holdings.of(connection.account) + count <= limits.heldPerAccount
        else {
            fail(number, .tooFast, &state)
            return false
        }
        while state.holdings.total + count > limits.heldAltogether, let greediest = state.holdings.greediest {
            cut(greediest.number, &state)
        }
        guard state.connections[number] != nil else { return false }
        state.holdings.add(count, to: id)
        return true
    }

    private func fail(_ number: UInt64, _ fault: RelayFault, _ state: inout State) {
        guard let connection = forget(number, &state) else { return }
        Self.end(connection.sink, fault)
        say(.drop(number), &state)
    }

    /// Ends a connection at once, and lets the other one forget what it has of it.
    private func cut(_ number: UInt64, _ state: inout State) {
        forget(number, &state)?.sink.cut()
        say(.drop(number), &state)
    }

    fileprivate func tell(_ message: FrontEndMessage, of number: UInt64) {
        state.withLock { state in
            if state.connections[number] != nil { say(message, &state) }
        }
    }

    fileprivate func drop(_ number: UInt64) {
        state.withLock { state in
            if forget(number, &state) != nil { say(.drop(number), &state) }
        }
    }
}

/// A connection whose signals another front end carries.
private struct LinkedLine: SignalLine {
    let link: FrontEndLink
    let number: UInt64

    func receive(_ bytes: [UInt8]) { link.receive(bytes, on: number) }

    /// The other one ends the connection if the account has no more to spend.
    func charge() -> Bool { link.charge(number) }

    func noteWritten(_ byteCount: Int) { link.tell(.written(number, byteCount), of: number) }
    func close() { link.tell(.close(number), of: number) }
    func drop() { link.drop(number) }
    func refuse(_ fault: RelayFault) { link.tell(.refuse(number, fault), of: number) }
}
