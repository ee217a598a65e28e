// SPDX-License-Identifier: Apache-2.0

import Foundation
import FrameRelay
import KeyDirectory
import Logging
import SignalBroker
public import SignetAPI
import SignetServer
import Synchronization
import TransparencyLog

/// A whole server for the tests of an app: a directory, notes, pins, recovery and calls in a separate folder, over real TLS on
/// loopback. From the moment that the test chooses, it lies, like a server whose keys were stolen.
///
/// ```swift
/// try await TestServer.run(attack: .swappedKey) { server in
///     let alice = try await Account.create(handle, at: server.profile, in: home, passphrase: passphrase)
///     // … the app does what it does, and then:
///     server.startLying()
///     // … it has to refuse.
/// }
/// ```
public final class TestServer: Sendable {
    /// The directory profile that a client trusts.
    public let profile: DirectoryProfile
    private let lying: LieSwitch

    private init(_ profile: DirectoryProfile, _ lying: LieSwitch) {
        self.profile = profile
        self.lying = lying
    }

    /// From now on, every lookup is answered with the attack. Without an attack, nothing changes.
    public func startLying() { lying.isOn.store(true, ordering: .relaxed) }

    /// Runs a test against a server that lives as long as the test.
    ///
    /// - Parameters:
    ///   - attack: the server's attack from ``startLying()`` on.
    ///   - isRelayConniving: whether the relay of calls helps a member to speak in the name of another.
    /// - Throws: any error of the test, and any error that prevents the server from being set up.
    public static func run(
        attack: Attack? = nil, isRelayConniving: Bool = false,
        _ body: @Sendable @escaping (TestServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "signet-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = DataDirectory(path: folder.path)
        let logger = Logger(label: "signet-test") { _ in SwiftLogNoOpLogHandler() }
        let setup = DirectorySetup(
            origin: try KeyName("example.org/test".utf8), url: "https://localhost",
            tls: .own(hosts: [ServerHost("localhost")].compactMap { $0 }), logger: logger)
        _ = try await setup.make(data, at: UInt64(Date().timeIntervalSince1970))
        let stored = try await StoredDirectory.open(data, epochInterval: .seconds(1), logger: logger)
        let hub = try StoredSignals.open(data)
        let host = HTTPSServer.Configuration().host
        let relay =
            isRelayConniving
            ? try await RelayServer.startConniving(host: host, port: 0)
            : try await RelayServer.start(host: host, port: 0)
        let calls = CallAnswering(hub, relay: relay)
        let parts = try await StandardParts.open(data, beside: stored, logger: logger) + [calls]
        do {
            try await serve(data, stored, parts, hub, attack, logger, body)
        } catch {
            await close(parts, stored)
            throw error
        }
        await close(parts, stored)
    }

    private static func serve(
        _ data: DataDirectory, _ stored: StoredDirectory, _ parts: [any PartAnswering], _ hub: SignalHub,
        _ attack: Attack?, _ logger: Logger, _ body: @Sendable @escaping (TestServer) async throws -> Void
    ) async throws {
        let lying = LieSwitch()
        var answering: any DirectoryAnswering = DirectoryAdapter(stored.directory)
        if let attack {
            answering = try LyingDirectory(
                stored, keysIn: data.keys, attack: attack, while: { lying.isOn.load(ordering: .relaxed) })
        }
        var configuration = HTTPSServer.Configuration()
        configuration.port = 0
        configuration.limits.addressRate = .unlimited
        configuration.limits.connectionRate = .unlimited
        configuration.limits.accountRate = .unlimited
        let server = try HTTPSServer(
            answering: answering, and: parts, signals: hub, identity: stored.identity, configuration: configuration,
            logger: logger)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.run(stoppingOnSignals: false) { port.yield($0) }
                port.finish()
            }
            for await number in ports.prefix(1) {
                let profile = DirectoryProfile(
                    url: "https://localhost:\(number)", server: stored.profile.server, trust: stored.profile.trust)
                try await body(TestServer(profile, lying))
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private static func close(_ parts: [any PartAnswering], _ stored: StoredDirectory) async {
        for part in parts { await part.close() }
        await stored.directory.close()
    }
}

/// Whether the attack has begun.
private final class LieSwitch: Sendable {
    let isOn = Atomic(false)
}
