// SPDX-License-Identifier: Apache-2.0

import Foundation
import FrameRelay
import KeyDirectory
import KeyTransparency
import Logging
import SignalBroker
import SignalClient
import SignetAPI
import SignetClient
import SignetServer
import SignetTesting
import TransparencyLog

let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Runs `body` in a new folder, which is removed afterwards.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// A real directory server with a broker, under TLS on loopback.
struct TestRelay: Sendable {
    let profile: DirectoryProfile
    let hub: SignalHub
    let directory: Directory

    /// Makes the data directory of a server for localhost.
    static func setUp(in folder: String) async throws -> DataDirectory {
        let data = DataDirectory(path: folder + "/data")
        let setup = DirectorySetup(
            origin: try KeyName("example.org/signet".utf8), url: "https://localhost",
            tls: .own(hosts: [.name("localhost")]), logger: silent)
        _ = try await setup.make(data, at: UInt64(Date().timeIntervalSince1970))
        return data
    }

    /// Serves while `body` runs.
    static func run(
        limits: BrokerLimits = BrokerLimits(), _ body: @Sendable (TestRelay) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            try await run(try await setUp(in: folder), limits: limits, body)
        }
    }

    static func run(
        _ data: DataDirectory, limits: BrokerLimits = BrokerLimits(), _ body: @Sendable (TestRelay) async throws -> Void
    ) async throws {
        let stored = try await StoredDirectory.open(data, logger: silent)
        let hub = try StoredSignals.open(data, limits: limits)
        var configuration = HTTPSServer.Configuration()
        configuration.port = 0
        configuration.republishInterval = nil
        configuration.limits.addressRate = .unlimited
        configuration.limits.connectionRate = .unlimited
        configuration.limits.accountRate = .unlimited
        let calls = CallAnswering(
            hub, relay: try await RelayServer.start(host: configuration.host, port: 0))
        let server = try HTTPSServer(
            answering: DirectoryAdapter(stored.directory), and: [calls], signals: hub, identity: stored.identity,
            configuration: configuration, logger: silent)
        let (ports, report) = AsyncStream.makeStream(of: Int.self)
        let serving = Task { try await server.run(stoppingOnSignals: false) { report.yield($0) } }
        for await port in ports {
            let relay = TestRelay(
                profile: Self.profile(stored.profile, port: port), hub: hub, directory: stored.directory)
            do { try await body(relay) } catch {
                serving.cancel()
                throw error
            }
            break
        }
        serving.cancel()
        _ = await serving.result
        await calls.close()
        await stored.directory.close()
    }

    static func profile(_ profile: DirectoryProfile, port: Int) -> DirectoryProfile {
        DirectoryProfile(
            url: "https://localhost:\(port)", tlsRoot: profile.tlsRoot, pins: profile.pins, trust: profile.trust)
    }
}
