// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization
import Testing
import TransparencyLog

@testable import KeyDirectory

extension TestDirectory {
    /// Loses the states of an account from a version on, as the repair of a cluster does when an older copy of its database was restored: the log
    /// has all records.
    fileprivate func lose(_ handle: Handle, _ versions: ClosedRange<UInt64>) async throws {
        let label = LabelIndex(try directory.label(of: handle).0)
        let lost = LostLabel(label: label, first: versions.lowerBound, last: versions.upperBound, isClosed: false)
        try await directory.database.write { try LostStates.note(lost, in: $0) }
        directory.cache.forget(handle)
    }
}

/// A transport that keeps what is sent to the route of registrations, and answers what a test says in place of the server.
private final class Wire: HTTPTransport {
    private let inner: any HTTPTransport
    private let answer: @Sendable (TransportRequest) -> TransportResponse?
    private let sent = Mutex<[TransportRequest]>([])

    init(
        _ inner: any HTTPTransport,
        answering answer: @escaping @Sendable (TransportRequest) -> TransportResponse? = { _ in nil }
    ) {
        self.inner = inner
        self.answer = answer
    }

    /// The bodies that were to register or to change, in order.
    var states: [[UInt8]] {
        let paths = [Route.register.path, Route.updateState.path]
        return sent.withLock { $0.filter { paths.contains($0.path) }.map(\.body) }
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        sent.withLock { $0.append(request) }
        if let answer = answer(request) { return answer }
        return try await inner.send(request)
    }

    static let unavailable = TransportResponse(
        status: 503, mediaType: "application/json", body: Array("{\"error\":\"unavailable\"}".utf8))
}

/// What a directory has lost is brought again by those who brought it, without their keys.
@Suite struct BringingAgainTests {
    /// Alice has made three states, and Bob one; a day has passed. Carol knows nobody yet.
    private struct Town: Sendable {
        let directory: TestDirectory
        let alice: Client<InMemoryStore>
        let bob: Client<InMemoryStore>
        let carol: Client<InMemoryStore>
        /// What Alice and Bob have sent.
        let wires: (alice: Wire, bob: Wire)
        let handles: (alice: Handle, bob: Handle)
        let secrets: DeviceSecrets

        static func with(_ body: @Sendable @escaping (Town) async throws -> Void) async throws {
            let time = Shared<UInt64>(20_833 * 86_400)
            try await TestDirectory.run(clock: { time.now }) { directory in
                let now: @Sendable () -> UInt64 = { time.now }
                let (alice, bob) = (
                    Wire(try NIOTransport(to: directory.profile)), Wire(try NIOTransport(to: directory.profile))
                )
                let secrets = try DeviceSecrets.generate(
                    for: Handle(typed: Array("alice@example.org".utf8)), withIdentity: true)
                let one = try directory.client(secrets, over: alice, now: now)
                _ = try await one.createAccount(secrets)
                let second = try DeviceSecrets.generate(for: secrets.handle, withIdentity: false)
                _ = try await one.addDevice(directory.client(second, now: now).deviceCard(second), by: secrets)
                _ = try await one.revokeDevice(2, by: secrets)
                let others = try DeviceSecrets.generate(
                    for: Handle(typed: Array("bob@example.org".utf8)), withIdentity: true)
                let other = try directory.client(others, over: bob, now: now)
                _ = try await other.createAccount(others)
                time.change { $0 += 86_400 }
                let size = directory.directory.log.published.head.size
                try await directory.directory.republish()
                _ = try await directory.directory.log.awaitPublished(size: size + 1)
                try await body(
                    Town(
                        directory: directory, alice: one, bob: other, carol: try directory.client(nil, now: now),
                        wires: (alice, bob), handles: (secrets.handle, others.handle), secrets: secrets))
            }
        }

        /// Alice's client behind another wire.
        func alice(over wire: Wire) throws -> Client<InMemoryStore> {
            try Client(
                of: alice.profile, over: wire, remembering: alice.store, owner: alice.owner, in: alice.surroundings)
        }
    }

    @Test func theOwnersMonitorBringsBackWhatWasLost() async throws {
        try await Town.with { town in
            let (alice, bob) = (town.handles.alice, town.handles.bob)
            let before = try await town.carol.lookup(alice)
            let sent = (town.wires.alice.states, town.wires.bob.states)
            #expect(sent.0.count == 3 && sent.1.count == 1)
            try await town.directory.lose(alice, 2...3)
            try await town.directory.lose(bob, 1...1)
            for handle in [alice, bob] {
                await #expect(throws: ClientError.refused(.unavailable, retryAfter: 1)) {
                    try await town.carol.lookup(handle)
                }
            }
            let size = town.directory.directory.log.published.head.size

            let report = try await town.alice.checkOwnAccount()
            #expect(report.broughtAgain == [1, 2, 3] && report.alarms.isEmpty && report.version == 3)
            #expect(try await town.bob.checkOwnAccount().broughtAgain == [1])
            // The same bytes in the same order, and nothing else.
            #expect(town.wires.alice.states == sent.0 + sent.0)
            #expect(town.wires.bob.states == sent.1 + sent.1)
            #expect(town.directory.directory.log.published.head.size == size, "nothing was logged anew")

            #expect(try await town.carol.lookup(alice).verdict.stateHash == before.verdict.stateHash)
            _ = try await town.carol.lookup(bob)
            #expect(try await town.alice.checkOwnAccount().broughtAgain.isEmpty)
            #expect(town.wires.alice.states.count == 6, "who has it back is left alone")
        }
    }

    /// A stolen device is not to wait for the next day's check.
    @Test func aChangeBringsBackWhatWasLostFirst() async throws {
        try await Town.with { town in
            try await town.directory.lose(town.handles.alice, 1...3)
            let third = try DeviceSecrets.generate(for: town.handles.alice, withIdentity: false)
            let card = try await town.carol.deviceCard(third)
            #expect(try await town.alice.addDevice(card, by: town.secrets).lookup.state.version == 4)
            #expect(town.alice.takeBroughtAgain() == [1, 2, 3])
            #expect(try await town.alice.checkOwnAccount().broughtAgain.isEmpty, "it is told once")
        }
    }

    /// The answer to the last change was lost, and then the change.
    @Test func aChangeWhoseAnswerWasLostIsBroughtAgainToo() async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let (_, secrets) = try await directory.person("alice@example.org", remembering: store)
            let second = try DeviceSecrets.generate(for: secrets.handle, withIdentity: false)
            let card = try await directory.client(second).deviceCard(second)
            let deaf = ScriptedTransport(try NIOTransport(to: directory.profile)) { request, _ in
                request.path == Route.updateState.path ? .loseAnswer(.closedEarly) : .pass
            }
            let alice = try directory.client(secrets, over: deaf, remembering: store)
            await #expect(throws: ClientError.transport(.closedEarly)) { try await alice.addDevice(card, by: secrets) }
            try await directory.lose(secrets.handle, 2...2)
            let report = try await alice.checkOwnAccount()
            #expect(report.broughtAgain == [1, 2] && report.alarms.isEmpty)
            #expect(try await alice.lookup(secrets.handle).verdict.keys?.devices.count == 2)
            let origin = try KeyName("example.org/log".utf8)
            #expect(try await store.keptSubmissions(of: origin).map(\.version) == [1, 2], "it is confirmed by then")
        }
    }

    // MARK: A directory that lies

    /// It says that it has lost the account, and says so to everything.
    @Test func aDirectoryThatIsJustUnavailableHearsOfOneState() async throws {
        try await Town.with { town in
            let wire = Wire(try NIOTransport(to: town.alice.profile)) { _ in Wire.unavailable }
            let alice = try town.alice(over: wire)
            await #expect(throws: ClientError.refused(.unavailable, retryAfter: nil)) {
                try await alice.checkOwnAccount()
            }
            #expect(wire.states == Array(town.wires.alice.states.prefix(1)))
        }
    }

    /// It takes everything, and goes on saying that it has lost the account.
    @Test func aDirectoryThatAlwaysSaysThatItHasLostThemGetsEachOnce() async throws {
        try await Town.with { town in
            let wire = Wire(try NIOTransport(to: town.alice.profile)) { request in
                request.path == Route.history.path ? Wire.unavailable : nil
            }
            let alice = try town.alice(over: wire)
            await #expect(throws: ClientError.refused(.unavailable, retryAfter: nil)) {
                try await alice.checkOwnAccount()
            }
            #expect(wire.states == town.wires.alice.states)
            #expect(alice.takeBroughtAgain().isEmpty, "it is not said to be back")
        }
    }

    @Test func aReceiptForAnotherPlaceInTheLogIsReported() async throws {
        try await Town.with { town in
            let origin = try KeyName("example.org/log".utf8)
            let index = try #require(try await town.alice.store.keptSubmissions(of: origin).first).index
            for (place, size) in [(index + 1, index + 9), (index, index)] {
                let receipt = StateReceipt(index: place, size: size).encoded
                let wire = Wire(try NIOTransport(to: town.alice.profile)) { request in
                    switch request.path {
                    case Route.history.path: Wire.unavailable
                    case Route.register.path:
                        TransportResponse(status: 200, mediaType: Route.nativeMediaType, body: receipt)
                    default: nil
                    }
                }
                let alice = try town.alice(over: wire)
                await #expect(throws: ClientError.notWhatWasSent) { try await alice.checkOwnAccount() }
                #expect(wire.states.count == 1)
            }
        }
    }

    /// A refusal is no alarm: the directory has not taken what another device brought before it.
    @Test func whatItRefusesEndsTheAttempt() async throws {
        try await Town.with { town in
            try await town.directory.lose(town.handles.alice, 2...3)
            let wire = Wire(try NIOTransport(to: town.alice.profile)) { request in
                guard request.path == Route.register.path, request.body == town.wires.alice.states[1] else {
                    return nil
                }
                return Wire.unavailable
            }
            let alice = try town.alice(over: wire)
            await #expect(throws: ClientError.refused(.unavailable, retryAfter: 1)) {
                try await alice.checkOwnAccount()
            }
            #expect(wire.states == Array(town.wires.alice.states.prefix(2)))
            #expect(try await town.alice.checkOwnAccount().broughtAgain == [1, 2, 3])
        }
    }
}

/// A value that a test changes while a server reads it.
private final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    var now: Value { value.withLock { $0 } }
    func change(_ body: @Sendable (inout Value) -> Void) { value.withLock { body(&$0) } }
}
