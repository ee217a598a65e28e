// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import EngineLab
import SQLStores
import STOMP
import Synchronization
import Testing

@testable import SignalBroker

/// Front ends of one directory, each a value here: one database, one bus, and a clock that stands still until it is moved.
final class FrontEndTown: Sendable {
    /// What is on its way on the bus.
    struct Letter: Sendable {
        let recipient: [UInt8]
        var bytes: [UInt8]
    }

    private struct State {
        var uptime: UInt64 = 1_000_000
        var fronts: [[UInt8]: SharedSignals] = [:]
        var letters: [Letter] = []
        /// All that ever was on its way.
        var sent: [Letter] = []
        var departures: [[UInt8]: [CallDevice]] = [:]
    }

    private final class Wire: SignalBus {
        let town: FrontEndTown
        init(_ town: FrontEndTown) { self.town = town }

        func send(_ bytes: [UInt8], to name: [UInt8]) {
            town.state.withLock { state in
                let letter = Letter(recipient: name, bytes: bytes)
                state.letters.append(letter)
                state.sent.append(letter)
            }
        }

        func run(
            as name: [UInt8], receive: @escaping @Sendable ([UInt8]) -> Void,
            onChange: @escaping @Sendable (Bool) -> Void
        ) async {}
    }

    /// The database, whose clock is the town's.
    private struct Clocked: SQLDatabase {
        let engine: any SQLDatabase
        let town: FrontEndTown
        var nowExpression: String { "CAST(\(town.uptime) AS BIGINT)" }
        func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            try await engine.read(body)
        }
        func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            try await engine.write(body)
        }
        func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.readNow(body) }
        func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.writeNow(body) }
        func expunge() async throws { try await engine.expunge() }
        func close() { engine.close() }
    }

    static let key = SymmetricKey(size: .bits256)
    private let place: LabPlace
    private let state = Mutex(State())

    init() throws { place = try LabPlace(on: LabEngine.present[0]) }

    var uptime: UInt64 { state.withLock { $0.uptime } }
    var sent: [Letter] { state.withLock { $0.sent } }
    var letters: [Letter] { state.withLock { $0.letters } }

    func departures(at front: SharedSignals) -> [CallDevice] { state.withLock { $0.departures[front.name] ?? [] } }

    func store() throws -> SharedSignalStore {
        SharedSignalStore(Clocked(engine: try place.open(SharedSignalStore.schema), town: self))
    }

    /// A front end that is connected to the bus.
    func front(
        _ limits: BrokerLimits = BrokerLimits(), sealing: SymmetricKey = key, accepting: [SymmetricKey] = [key]
    ) throws -> SharedSignals {
        let front = SharedSignals(
            limits, knowing: try store(), over: Wire(self),
            under: FrontEndKeys(sealing: sealing, accepted: { accepting }),
            clock: { [self] in BrokerTime(uptime: uptime, date: 1_700_000_000_000 + uptime) })
        let name = front.name
        front.onDeparture { [self] device, _ in state.withLock { $0.departures[name, default: []].append(device) } }
        state.withLock { $0.fronts[front.name] = front }
        front.busChanged(true)
        return front
    }

    /// Front ends of which the first carries the signals, and the others are welcome there.
    func fronts(_ count: Int, _ limits: BrokerLimits = BrokerLimits()) async throws -> [SharedSignals] {
        let fronts = try (0..<count).map { _ in try front(limits) }
        for front in fronts { await front.step() }
        deliver()
        return fronts
    }

    /// Time passes for all, and each process does what it does from time to time.
    func pass(_ milliseconds: UInt64, _ fronts: [SharedSignals]) async {
        state.withLock { $0.uptime += milliseconds }
        for front in fronts { front.tick() }
        for front in fronts { await front.step() }
        deliver()
    }

    /// Somebody sets the clock of the database.
    func setBack(by milliseconds: UInt64) { state.withLock { $0.uptime -= milliseconds } }

    /// Ends all.
    func end(_ fronts: [SharedSignals]) async {
        for front in fronts { await front.leave() }
        state.withLock { $0.fronts = [:] }
    }

    /// A process is gone, and says nothing more.
    func kill(_ front: SharedSignals) { state.withLock { $0.fronts[front.name] = nil } }

    /// Hands over all that is on its way, and what comes of it.
    func deliver(_ change: (Int, [Letter]) -> [Letter] = { $1 }) {
        var index = 0
        while true {
            let next = state.withLock { state in state.letters.isEmpty ? nil : state.letters.removeFirst() }
            guard let next else { return }
            for letter in change(index, [next]) { hand(letter) }
            index += 1
        }
    }

    func hand(_ letter: Letter) { state.withLock { $0.fronts[letter.recipient] }?.receive(letter.bytes) }

    /// Loses what is on its way.
    func lose() { state.withLock { $0.letters = [] } }

    /// Takes the next letter off its way.
    func next() -> Letter? { state.withLock { $0.letters.isEmpty ? nil : $0.letters.removeFirst() } }

    /// Goes on until something holds.
    func settle(_ phones: [Phone], until holds: () -> Bool) async {
        for _ in 0..<1_000_000 {
            deliver()
            for phone in phones { phone.noteWritten() }
            if holds() { return }
            await Task.yield()
        }
        Issue.record("it never held")
    }
}

/// A device with a connection to a front end.
final class Phone: SignalSink {
    private struct State {
        var bytes: [UInt8] = []
        var unwritten: [Int] = []
        var hasEnded = false
    }

    let actor: Actor
    private let state = Mutex(State())
    private let line = Mutex<(any SignalLine)?>(nil)

    init(_ actor: Actor) { self.actor = actor }

    func send(_ delivery: BrokerDelivery) {
        state.withLock { state in
            state.bytes += delivery.bytes
            state.unwritten.append(delivery.byteCount)
        }
    }
    func close() { state.withLock { $0.hasEnded = true } }
    func cut() { state.withLock { $0.hasEnded = true } }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// All frames that it received.
    var frames: [StompFrame] {
        var decoder = StompDecoder()
        decoder.append(state.withLock { $0.bytes })
        var frames: [StompFrame] = []
        while let element = try? decoder.next() { if case .frame(let frame) = element { frames.append(frame) } }
        return frames
    }

    /// The bodies of the messages that it received.
    var messages: [[UInt8]] { frames.filter { $0.command == .message }.map(\.body) }

    /// The word of the ERROR frame that it received; nil if it received none.
    var fault: RelayFault? {
        frames.last { $0.command == .error }?.value(of: .message)
            .flatMap { RelayFault(rawValue: String(decoding: $0, as: UTF8.self)) }
    }

    func has(receipt name: String) -> Bool { frames.contains { $0.value(of: .receiptID) == Array(name.utf8) } }

    func noteWritten() {
        let counts = state.withLock { state in
            defer { state.unwritten = [] }
            return state.unwritten
        }
        for count in counts { line.withLock { $0 }?.noteWritten(count) }
    }

    func connect(to front: SharedSignals) throws {
        let line = front.connect(actor.device, of: actor.account, to: self)
        self.line.withLock { $0 = line }
        try say(.connect, [StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader(.host, Array("h".utf8))])
    }

    func say(_ command: StompCommand, _ headers: [StompHeader], _ body: [UInt8] = []) throws {
        say(bytes: try StompFrame(command, headers, body: body).encoded)
    }

    func say(bytes: [UInt8]) { line.withLock { $0 }?.receive(bytes) }

    func say(_ act: CallAct, receipt: String) throws {
        try say(
            .send, [StompHeader(.destination, act.destination), StompHeader(.receipt, Array(receipt.utf8))], act.body)
    }

    func subscribe(_ route: RelayRoute, receipt: String) throws {
        try say(
            .subscribe,
            [
                StompHeader(.destination, route.destination), StompHeader(.id, Array(receipt.utf8)),
                StompHeader(.receipt, Array(receipt.utf8)),
            ])
    }

    func say(signal: [UInt8], to route: RelayRoute, receipt: String) throws {
        try say(
            .send,
            [StompHeader(.destination, route.destination), StompHeader(.receipt, Array(receipt.utf8))], signal)
    }

    func ping() -> Bool { line.withLock { $0 }?.charge() ?? false }

    func hangUp() { line.withLock { $0 }?.drop() }
}
