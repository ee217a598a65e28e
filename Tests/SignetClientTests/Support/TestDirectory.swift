// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import Logging
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetServer
import SignetTesting
import Synchronization
import TransparencyLog
import VRF

/// A real server with a real directory on loopback, and, on demand, a second one that lies about it.
struct TestDirectory: Sendable {
    let profile: DirectoryProfile
    /// The profile of the server that lies.
    let lyingProfile: DirectoryProfile
    let keys: DirectoryKeys
    /// The directory that both servers stand for.
    let directory: Directory

    /// Erases an account, as an operator does.
    func erase(_ handle: Handle) async throws { try await directory.erase(handle) }

    /// Runs a test with servers that end after it.
    static func run(
        attack: Attack? = nil, clock: @escaping @Sendable () -> UInt64 = Surroundings.system.now,
        _ body: @Sendable @escaping (TestDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let root = folder + "/" + (try FileManager.default.contentsOfDirectory(atPath: folder)[0])
            let keys = try DirectoryKeys.read(from: root + "/keys", origin: KeyName("example.org/log".utf8))
            let directory = try await Directory.open(
                at: root + "/records", keys: keys, clock: clock, logger: quiet)
            let honest = DirectoryAdapter(directory)
            try await serve(honest, authority, clock) { port in
                let profile = authority.profile(port: port)
                guard let attack else {
                    return try await body(
                        TestDirectory(
                            profile: profile, lyingProfile: profile, keys: keys, directory: directory))
                }
                let lying = LyingDirectory(
                    directory, keys: keys, attack: attack, clock: Surroundings.system.now)
                try await serve(lying, authority, clock) { lyingPort in
                    let lyingProfile = authority.profile(port: lyingPort)
                    try await body(
                        TestDirectory(
                            profile: profile, lyingProfile: lyingProfile, keys: keys, directory: directory))
                }
            }
            await directory.close()
        }
    }

    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static func serve(
        _ answering: any DirectoryAnswering, _ authority: TestAuthority, _ clock: @escaping @Sendable () -> UInt64,
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let identity = TLSIdentity(
            certificateChain: Array(try Data(contentsOf: URL(fileURLWithPath: authority.certificate))),
            privateKey: Array(try Data(contentsOf: URL(fileURLWithPath: authority.key))))
        var configuration = HTTPSServer.Configuration()
        configuration.port = 0
        configuration.republishInterval = nil
        configuration.clock = ServerClock(time: clock, uptime: ServerClock.system.uptime)
        let server = try HTTPSServer(
            answering: answering, identity: identity, configuration: configuration, logger: quiet)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(stoppingOnSignals: false) { port.yield($0) } }
        defer { running.cancel() }
        for await number in ports {
            try await body(number)
            break
        }
    }

    /// A client on a device of its own.
    func client(
        _ secrets: DeviceSecrets?, over transport: (any HTTPTransport)? = nil,
        remembering store: InMemoryStore = InMemoryStore(), now: (@Sendable () -> UInt64)? = nil
    ) throws -> Client<InMemoryStore> {
        let surroundings = Surroundings(
            now: now ?? Surroundings.system.now, wait: { _ in }, randomBytes: Surroundings.system.randomBytes)
        return try Client(
            of: profile, over: try transport ?? NIOTransport(to: profile), remembering: store,
            owner: secrets.map { .init(handle: $0.handle, deviceKey: $0.keys.signing, identityKey: $0.identityKey) },
            in: surroundings)
    }

    /// Registers an account.
    func person(
        _ name: String, remembering store: InMemoryStore = InMemoryStore()
    ) async throws -> (client: Client<InMemoryStore>, secrets: DeviceSecrets) {
        let secrets = try DeviceSecrets.generate(for: Handle(typed: Array(name.utf8)), withIdentity: true)
        let client = try client(secrets, remembering: store)
        _ = try await client.createAccount(secrets)
        return (client, secrets)
    }
}

/// A transport in front of the real one that loses or changes what the script says, request by request.
final class ScriptedTransport: HTTPTransport {
    enum Act: Sendable {
        /// Passes it on.
        case pass
        /// Loses the request.
        case lose(TransportError)
        /// Passes the request on and loses the answer.
        case loseAnswer(TransportError)
        /// Answers itself.
        case answer(TransportResponse)
    }

    private let inner: any HTTPTransport
    private let script: @Sendable (TransportRequest, _ number: Int) -> Act
    private let sent = Mutex<[String]>([])

    init(_ inner: any HTTPTransport, script: @escaping @Sendable (TransportRequest, Int) -> Act) {
        self.inner = inner
        self.script = script
    }

    /// The paths asked for so far.
    var paths: [String] { sent.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let number = sent.withLock { paths in
            paths.append(request.path)
            return paths.count { $0 == request.path }
        }
        switch script(request, number) {
        case .pass: return try await inner.send(request)
        case .lose(let error): throw error
        case .answer(let response): return response
        case .loseAnswer(let error):
            _ = try await inner.send(request)
            throw error
        }
    }
}

/// A transport that runs a closure once between an answer, or that to a request for a path, and its delivery.
final class RacingTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private let path: String?
    private let rival: @Sendable () async -> Void
    private let hasRaced = Atomic(false)

    init(_ inner: any HTTPTransport, after path: String? = nil, rival: @escaping @Sendable () async -> Void) {
        self.inner = inner
        self.path = path
        self.rival = rival
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let response = try await inner.send(request)
        guard path == nil || request.path == path else { return response }
        if !hasRaced.exchange(true, ordering: .relaxed) { await rival() }
        return response
    }
}

/// A transport that changes the last byte of every file of the log whose path has a part.
struct FlippingTransport: HTTPTransport {
    let inner: any HTTPTransport
    let part: String

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let response = try await inner.send(request)
        guard request.path.contains(part), let last = response.body.last else { return response }
        return TransportResponse(
            status: response.status, mediaType: response.mediaType,
            body: response.body.dropLast() + [last ^ 1])
    }
}
