// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import STOMP
import SignalBroker
import Testing

/// A device with its key, made from a number.
struct Actor {
    let key: Curve25519.Signing.PrivateKey
    let device: CallDevice
    let account: Int64

    init(_ number: UInt8, of account: Int64? = nil) throws {
        self.account = account ?? Int64(number)
        key = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: number, count: 32))
        device = try #require(CallDevice(Array(key.publicKey.rawRepresentation)))
    }

    /// A signal; the number tells it from others.
    func signal(
        _ number: UInt64 = 1, in call: CallID, to recipient: CallDevice? = nil, naming sender: CallDevice? = nil,
        saying body: SignalBody = .leave
    ) throws -> [UInt8] {
        let content = Signal.Content(
            callID: call, sender: sender ?? device, recipient: recipient, term: 1, sequence: number, sentAt: 1,
            body: body)
        return try Signal(signing: content) { Array(try key.signature(for: $0)) }.encoded
    }
}

/// A broker at a time of the test's own, with what it has sent to each connection.
struct Scene {
    var broker: Broker
    var uptime: UInt64 = 1_000_000
    var date: UInt64 = 1_700_000_000_000
    private(set) var writes: [BrokerAction] = []
    private(set) var closed: Set<SessionID> = []
    private(set) var bytes: [SessionID: [UInt8]] = [:]
    /// Connections whose network takes nothing.
    var stuck: Set<SessionID> = []
    private(set) var departures: [(device: CallDevice, call: CallID)] = []
    private(set) var deliveries: [SessionID: [BrokerDelivery]] = [:]
    private var decoders: [SessionID: StompDecoder] = [:]
    private var readers: [SessionID: FrameReader] = [:]

    let alice: Actor
    let bob: Actor
    let eve: Actor
    let call: CallID

    init(_ change: (inout BrokerLimits) -> Void = { _ in }, kept: [KeptSignal] = [], calls: [CallRecord] = []) throws {
        var limits = BrokerLimits()
        change(&limits)
        let start = BrokerTime(uptime: uptime, date: date)
        broker = Broker(limits, kept: kept, calls: calls, at: start)
        (alice, bob, eve) = (try Actor(1), try Actor(2), try Actor(3))
        call = try #require(CallID([UInt8](repeating: 9, count: 16)))
    }

    var now: BrokerTime { BrokerTime(uptime: uptime, date: date) }
    var topic: [UInt8] { RelayRoute.topic(call).destination }

    mutating func open(_ actor: Actor) -> SessionID {
        let (id, actions) = broker.open(actor.device, of: actor.account, at: now)
        take(actions)
        return id
    }

    /// Opens a connection and says CONNECT.
    mutating func connect(_ actor: Actor, heartBeat: HeartBeat = .none) throws -> SessionID {
        let id = open(actor)
        try send(
            .connect,
            ["accept-version": "1.2", "host": "h", "heart-beat": String(decoding: heartBeat.encoded, as: UTF8.self)],
            on: id)
        #expect(frames(id).map(\.command) == [.connected])
        return id
    }

    mutating func send(
        _ command: StompCommand, _ headers: KeyValuePairs<String, String>, body: [UInt8] = [], on id: SessionID
    ) throws {
        let all = headers.map { StompHeader(StompHeaderName(Array($0.utf8)), Array($1.utf8)) }
        receive(try StompFrame(command, all, body: body).encoded, on: id)
    }

    /// Receives bytes and takes their frames one by one, as the hub does.
    mutating func receive(_ bytes: [UInt8], on id: SessionID) {
        broker.noteReceived(on: id, at: now)
        readers[id, default: FrameReader(broker.limits)].append(bytes)
        while true {
            let frame: StompFrame?
            do throws(RelayFault) { frame = try readers[id]?.next() } catch {
                return take(broker.refuse(id, error, at: now))
            }
            guard let frame else { return }
            if let refusal = broker.charge(id, at: now) { return take(refusal) }
            take(broker.receive(JudgedFrame(frame), on: id, at: now))
        }
    }

    mutating func send(_ act: CallAct, on id: SessionID) throws {
        receive(try StompFrame(.send, [StompHeader(.destination, act.destination)], body: act.body).encoded, on: id)
    }

    mutating func send(signal: [UInt8], to destination: [UInt8], on id: SessionID) throws {
        receive(try StompFrame(.send, [StompHeader(.destination, destination)], body: signal).encoded, on: id)
    }

    mutating func subscribe(
        _ route: RelayRoute, as name: String = "s", _ mode: AcknowledgmentMode = .auto, on id: SessionID
    ) throws {
        let headers = [
            StompHeader(.destination, route.destination), StompHeader(.id, Array(name.utf8)),
            StompHeader(.ack, mode.bytes),
        ]
        receive(try StompFrame(.subscribe, headers).encoded, on: id)
    }

    /// The network of a connection has taken so many bytes.
    mutating func written(_ count: Int, on id: SessionID) { take(broker.noteWritten(count, on: id, at: now)) }

    mutating func disconnect(_ id: SessionID) { take(broker.close(id, at: now)) }

    mutating func wait(_ milliseconds: UInt64) {
        uptime += milliseconds
        date += milliseconds
        take(broker.tick(at: now))
    }

    /// The frames that a connection received since the last call of this function.
    mutating func frames(_ id: SessionID) -> [StompFrame] {
        var decoder = decoders[id] ?? StompDecoder()
        decoder.append(bytes[id] ?? [])
        bytes[id] = []
        var frames: [StompFrame] = []
        while let element = try? decoder.next() { if case .frame(let frame) = element { frames.append(frame) } }
        decoders[id] = decoder
        return frames
    }

    /// The word of the ERROR frame that ended a connection; nil if none did.
    mutating func fault(_ id: SessionID) -> RelayFault? {
        guard let error = frames(id).last, error.command == .error, closed.contains(id) else { return nil }
        return error.value(of: .message).flatMap { RelayFault(rawValue: String(decoding: $0, as: UTF8.self)) }
    }

    private mutating func take(_ actions: [BrokerAction]) {
        for action in actions {
            switch action {
            case .send(let id, let more), .confirm(let id, let more):
                bytes[id, default: []] += more.bytes
                deliveries[id, default: []].append(more)
                if !stuck.contains(id) { take(broker.noteWritten(more.byteCount, on: id, at: now)) }
            case .close(let id), .cut(let id): closed.insert(id)
            case .departed(let device, let call): departures.append((device, call))
            case .keep, .drop, .record, .forget: writes.append(action)
            }
        }
    }
}
