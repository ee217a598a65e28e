// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Synchronization

/// Another front end, as the one sees it that carries the signals of all: its connections are connections to this one's hub.
final class FrontEndGuest: Sendable {
    private struct State {
        var channel: FrontEndChannel
        var lines: [UInt64: any SignalLine] = [:]
        var heardAt: UInt64
        var saidAt: UInt64
        var isOver = false
    }

    private let name: [UInt8]
    private let hub: SignalHub
    private let bus: any SignalBus
    private let state: Mutex<State>

    /// A front end whose hello was opened.
    init(_ channel: FrontEndChannel, of name: [UInt8], over bus: any SignalBus, _ hub: SignalHub, at uptime: UInt64) {
        (self.name, self.bus, self.hub) = (name, bus, hub)
        state = Mutex(State(channel: channel, heardAt: uptime, saidAt: uptime))
        say(.welcome)
    }

    /// Whether it is of no more use. Its connections have ended.
    var isOver: Bool { state.withLock { $0.isOver } }
    /// The connections there are.
    var connectionCount: Int { state.withLock { $0.lines.count } }

    /// A box of the channel has arrived. One at a time.
    func receive(_ box: [UInt8], at uptime: UInt64) {
        let message = state.withLock { state -> FrontEndMessage? in
            guard !state.isOver else { return nil }
            state.heardAt = uptime
            return state.channel.open(box)
        }
        guard let message else { return finish() }
        take(message)
    }

    // The hub is asked without the lock: it calls back under its own.
    private func take(_ message: FrontEndMessage) {
        switch message {
        case .open(let number, let device, let account): open(number, device, account)
        case .bytes(let number, let bytes):
            line(number)?.receive(bytes)
            say(.taken(number, bytes.count))
        case .charge(let number):
            _ = line(number)?.charge()
            say(.taken(number, FrontEndLink.pingByteCount))
        case .written(let number, let count): line(number)?.noteWritten(count)
        case .close(let number): line(number)?.close()
        case .drop(let number): state.withLock { $0.lines.removeValue(forKey: number) }?.drop()
        case .refuse(let number, let fault): line(number)?.refuse(fault)
        case .farewell: finish()
        case .beat, .hello, .welcome, .send, .taken, .closed, .cut, .departed: break
        }
    }

    private func open(_ number: UInt64, _ device: CallDevice, _ account: Int64) {
        guard line(number) == nil else { return finish() }
        let line: any SignalLine = hub.connect(device, of: account, to: GuestSink(guest: self, number: number))
        let isOver = state.withLock { state in
            if !state.isOver { state.lines[number] = line }
            return state.isOver
        }
        if isOver { line.drop() }
    }

    private func line(_ number: UInt64) -> (any SignalLine)? { state.withLock { $0.lines[number] } }

    /// Time has passed.
    func tick(at uptime: UInt64) {
        let (isSilent, owes) = state.withLock { state in
            let owes = uptime >= state.saidAt + FrontEndLink.beat
            if owes { state.saidAt = uptime }
            return (uptime >= state.heardAt + FrontEndLink.patience, owes)
        }
        if isSilent { finish() } else if owes { say(.beat) }
    }

    /// Ends all its connections.
    func finish() {
        say(.farewell)
        let lines = state.withLock { state in
            defer { (state.isOver, state.lines) = (true, [:]) }
            return state.lines
        }
        for line in lines.values { line.drop() }
    }

    /// Says something. Never calls the hub.
    func say(_ message: FrontEndMessage) {
        state.withLock { state in
            guard !state.isOver, let bytes = state.channel.seal(message) else { return }
            bus.send(bytes, to: name)
        }
    }
}

/// Where the hub's bytes for a connection of another front end go.
private struct GuestSink: SignalSink {
    let guest: FrontEndGuest
    let number: UInt64

    func send(_ delivery: BrokerDelivery) { guest.say(.send(number, delivery.bytes)) }
    func close() { guest.say(.closed(number)) }
    func cut() { guest.say(.cut(number)) }
}
