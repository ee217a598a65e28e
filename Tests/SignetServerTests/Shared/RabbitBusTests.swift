// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import EngineLab
import Foundation
import STOMP
import SignalBroker
import Synchronization
import Testing

@testable import SignetServer

/// A RabbitMQ that is there.
private enum Rabbit {
    /// The file that names it; nil: there is none.
    static let file = ProcessInfo.processInfo.environment["SIGNET_RABBITMQ_FILE"]

    static func until(_ holds: () -> Bool) async throws {
        while !holds() { try await Task.sleep(for: .milliseconds(10)) }
    }
}

/// Two front ends that carry signals over a real RabbitMQ, which `Scripts/stomp-conformance` starts.
@Suite(.enabled(if: Rabbit.file != nil, "There is no RabbitMQ: see Scripts/stomp-conformance."))
struct RabbitBusTests {
    /// A device was told that its connection has ended: on a busy machine a front end or RabbitMQ may stand still for longer than the
    /// others wait.
    private struct Ended: Error {}

    /// Does something with two devices that have to stay connected, and begins anew, as clients do, when one was told that it is not.
    private func withPhones(_ fronts: [Front], _ body: (Phone, Phone, CallID) async throws -> Void) async throws {
        while true {
            let (alice, bob) = (try Phone(), try Phone())
            do {
                let call = try await meet(alice, at: fronts[0], bob, at: fronts[1])
                return try await body(alice, bob, call)
            } catch is Ended {}
        }
    }

    /// A device with a connection.
    private final class Phone: SignalSink {
        private let state = Mutex<[UInt8]>([])
        let device: CallDevice
        private let key: Curve25519.Signing.PrivateKey
        private let line = Mutex<(any SignalLine)?>(nil)

        init() throws {
            key = Curve25519.Signing.PrivateKey()
            device = try #require(CallDevice(Array(key.publicKey.rawRepresentation)))
        }

        func send(_ delivery: BrokerDelivery) { state.withLock { $0 += delivery.bytes } }
        func close() {}
        func cut() {}

        var frames: [StompFrame] {
            var decoder = StompDecoder()
            decoder.append(state.withLock { $0 })
            var frames: [StompFrame] = []
            while let element = try? decoder.next() { if case .frame(let frame) = element { frames.append(frame) } }
            return frames
        }

        /// Waits for something; told that the connection has ended, it throws ``Ended``.
        func until(_ holds: ([StompFrame]) -> Bool) async throws {
            while true {
                let frames = frames
                if holds(frames) { return }
                if frames.last?.command == .error { throw Ended() }
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        /// Connects, again if nothing carries signals yet.
        func connect(to exchange: SharedSignals) async throws {
            while true {
                state.withLock { $0 = [] }
                let line = exchange.connect(device, of: 1, to: self)
                self.line.withLock { $0 = line }
                try say(
                    .connect, [StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader(.host, Array("h".utf8))])
                try await Rabbit.until { !frames.isEmpty }
                guard frames.first?.command != .connected else { return }
                // Who tries again at once takes the processor from those who are to carry signals.
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        func say(_ command: StompCommand, _ headers: [StompHeader], _ body: [UInt8] = []) throws {
            let frame = try StompFrame(command, headers, body: body)
            line.withLock { $0 }?.receive(frame.encoded)
        }

        /// Says something, and waits until it is confirmed.
        func tell(_ command: StompCommand, _ destination: [UInt8], _ name: String, _ body: [UInt8] = []) async throws {
            var headers = [StompHeader(.destination, destination), StompHeader(.receipt, Array(name.utf8))]
            if command == .subscribe { headers.append(StompHeader(.id, Array(name.utf8))) }
            try say(command, headers, body)
            try await until { $0.contains { $0.value(of: .receiptID) == Array(name.utf8) } }
        }

        func signal(in call: CallID, filled byteCount: Int) throws -> [UInt8] {
            let content = Signal.Content(
                callID: call, sender: device, recipient: nil, term: 1, sequence: UInt64(byteCount), sentAt: 1,
                body: .leave)
            return try Signal(signing: content) { Array(try key.signature(for: $0)) }.encoded
        }
    }

    /// A front end, its bus, and what it does.
    private struct Front: Sendable {
        let exchange: SharedSignals
        let bus: RabbitBus
        let run: Task<Void, Never>

        init(_ place: LabPlace, _ file: String, _ key: SymmetricKey) throws {
            let bus = try RabbitBus(BrokerFile(at: file))
            let exchange = SharedSignals(
                knowing: SharedSignalStore(try place.open(SharedSignalStore.schema)), over: bus,
                under: FrontEndKeys(sealing: key, accepted: { [key] }), clock: StoredSignals.clock)
            (self.bus, self.exchange, run) = (bus, exchange, Task { await exchange.run { _ in true } })
        }

        func end() async {
            run.cancel()
            await run.value
        }
    }

    private func withFronts(_ body: ([Front]) async throws -> Void) async throws {
        let file = try #require(Rabbit.file)
        let (place, key) = (try LabPlace(on: .sqlite), SymmetricKey(size: .bits256))
        let fronts = [try Front(place, file, key), try Front(place, file, key)]
        do { try await body(fronts) } catch {
            for front in fronts { await front.end() }
            throw error
        }
        for front in fronts { await front.end() }
    }

    /// Both are in a call and hear it.
    private func meet(_ alice: Phone, at first: Front, _ bob: Phone, at second: Front) async throws -> CallID {
        try await alice.connect(to: first.exchange)
        try await bob.connect(to: second.exchange)
        let call = try #require(CallID((0..<16).map { _ in .random(in: 0...255) }))
        let (start, join) = (CallAct.start(call, inviting: [bob.device]), CallAct.join(call))
        try await alice.tell(.send, start.destination, "start", start.body)
        try await bob.tell(.send, join.destination, "join", join.body)
        for phone in [alice, bob] { try await phone.tell(.subscribe, RelayRoute.topic(call).destination, "topic") }
        return call
    }

    @Test(.timeLimit(.minutes(2))) func devicesAtTwoFrontEndsAreInOneCall() async throws {
        try await withFronts { fronts in
            try await withPhones(fronts) { alice, bob, call in
                let topic = RelayRoute.topic(call).destination
                for number in 0..<20 {
                    try await alice.tell(.send, topic, "a\(number)", try alice.signal(in: call, filled: number))
                    try await bob.tell(.send, topic, "b\(number)", try bob.signal(in: call, filled: number))
                }
                for phone in [alice, bob] {
                    try await phone.until { $0.filter { $0.command == .message }.count == 40 }
                }
            }
        }
    }

    /// A front end that sends numbers to itself.
    private final class Counter: Sendable {
        static let count = 5_000
        let bus: RabbitBus
        private let name = (0..<16).map { _ in UInt8.random(in: 0...255) }
        private let sent = Mutex(0)
        private let received = Mutex<[Int]>([])
        private let connection = Mutex(false)

        init(_ bus: RabbitBus) { self.bus = bus }

        var numbers: [Int] { received.withLock { $0 } }
        var isConnected: Bool { connection.withLock { $0 } }
        var isDone: Bool { sent.withLock { $0 } == Self.count }

        func sendNext() {
            sent.withLock { number in
                guard number < Self.count else { return }
                bus.send(Array("\(number)".utf8), to: name)
                number += 1
            }
        }

        func run() async {
            await bus.run(
                as: name,
                receive: { [self] bytes in
                    received.withLock { $0.append(Int(String(decoding: bytes, as: UTF8.self)) ?? -1) }
                    sendNext()
                }, onChange: { [self] now in connection.withLock { $0 = now } })
        }
    }

    /// A channel between front ends ends at the first message that is not the next one: a loop that sends at once what it says itself would
    /// overtake what other threads have sent before.
    @Test(.timeLimit(.minutes(1))) func messagesOfAllThreadsArriveInTheOrderInWhichTheyWereSent() async throws {
        let counter = Counter(try RabbitBus(BrokerFile(at: try #require(Rabbit.file))))
        let run = Task { await counter.run() }
        defer { run.cancel() }
        try await Rabbit.until { counter.isConnected }
        while !counter.isDone {
            counter.sendNext()
            await Task.yield()
        }
        try await Rabbit.until { counter.numbers.count == Counter.count }
        #expect(counter.numbers == Array(0..<Counter.count))
    }

    /// Who needs the bus is told, and connects again when it is back; the call is still there.
    @Test(.timeLimit(.minutes(2))) func aCutConnectionToTheBrokerIsMadeAgain() async throws {
        try await withFronts { fronts in
            try await withPhones(fronts) { alice, bob, call in
                for front in fronts { front.bus.cut() }
                try await Rabbit.until { [alice, bob].contains { $0.frames.last?.command == .error } }
                for (phone, front) in zip([alice, bob], fronts) where phone.frames.last?.command == .error {
                    try await phone.connect(to: front.exchange)
                    try await phone.tell(.subscribe, RelayRoute.topic(call).destination, "again")
                }
                try await alice.tell(
                    .send, RelayRoute.topic(call).destination, "said", try alice.signal(in: call, filled: 1))
                for phone in [alice, bob] { try await phone.until { $0.contains { $0.command == .message } } }
            }
        }
    }

    /// The attack: somebody else has the address, or the way to it.
    @Test func aBrokerWithAnotherCertificateGetsNoPassword() async throws {
        let file = try String(contentsOfFile: try #require(Rabbit.file), encoding: .utf8)
        try await withDataDirectory { data in
            let other = file.split(separator: "\n").map {
                $0.hasPrefix("authority ") ? "authority \(data.path)/tls/ca.pem" : String($0)
            }.joined(separator: "\n")
            let isConnected = try await RabbitBus(BrokerFile(decoding: other)).connect(
                as: [UInt8](repeating: 1, count: 16), { _ in }, { _ in })
            #expect(!isConnected)
        }
    }

    @Test func aWrongPasswordIsNoConnection() async throws {
        let file = try String(contentsOfFile: try #require(Rabbit.file), encoding: .utf8)
        let other = file.split(separator: "\n").map { $0.hasPrefix("passcode ") ? "passcode wrong" : String($0) }
        let isConnected = try await RabbitBus(BrokerFile(decoding: other.joined(separator: "\n"))).connect(
            as: [UInt8](repeating: 1, count: 16), { _ in }, { _ in })
        #expect(!isConnected)
    }
}

/// The file that names the broker of the front ends.
@Suite struct BrokerFileTests {
    private static let text = "address rabbit.example:61614\nlogin signet\npasscode one two\n# a comment\n"

    @Test func aFileOfThreeLinesIsRead() throws {
        let file = try BrokerFile(decoding: Self.text)
        #expect(file.host == "rabbit.example" && file.port == 61614 && file.login == "signet")
        #expect(file.passcode == "one two" && file.virtualHost == "/" && file.authority == nil)
        #expect(try BrokerFile(decoding: Self.text.replacing("rabbit.example", with: "[::1]")).host == "::1")
        let more = try BrokerFile(decoding: Self.text + "vhost signals\nauthority /tmp/ca.pem\n")
        #expect(more.virtualHost == "signals" && more.authority == "/tmp/ca.pem")
        #expect("\(file)" == "BrokerFile")
    }

    @Test(arguments: [
        ("login signet\n", "", "login"), ("passcode one two\n", "", "passcode"), (":61614", "", "address"),
        (":61614", ":70000", "address"), ("rabbit.example", "", "address"), ("login", "user", "user"),
        ("login signet\n", "login signet\nlogin signet\n", "login"), ("passcode one two", "passcode", "passcode"),
    ])
    func aLineThatIsMissingTwiceOrNoneIsNamed(_ old: String, _ new: String, _ name: String) {
        #expect(throws: BrokerFileError.line(name)) { try BrokerFile(decoding: Self.text.replacing(old, with: new)) }
    }

    @Test func aFileThatOthersCanReadIsRefused() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "broker-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for (mode, fault) in [(0o600, nil), (0o640, BrokerFileError.openToOthers)] as [(Int, BrokerFileError?)] {
            FileManager.default.createFile(
                atPath: path, contents: Data(Self.text.utf8), attributes: [.posixPermissions: mode])
            let found: BrokerFileError?
            do throws(BrokerFileError) {
                _ = try BrokerFile(at: path)
                found = nil
            } catch { found = error }
            #expect(found == fault)
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(throws: BrokerFileError.unreadable) { try BrokerFile(at: path) }
    }

    @Test func certificatesThatCannotBeReadAreRefused() throws {
        let file = try BrokerFile(decoding: Self.text + "authority /nowhere\n")
        #expect(throws: BrokerFileError.authority) { try RabbitBus(file) }
    }
}
