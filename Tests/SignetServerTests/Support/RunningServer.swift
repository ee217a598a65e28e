// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyPinning
import Logging
import SignetAPI
import TransparencyLog

@testable import SignetServer

/// A data directory of its own for one test, gone afterwards.
func withDataDirectory<Value>(
    proxies: PinPolicy.ProxyRule = .record, witnesses: [UInt8] = [], _ body: (DataDirectory) async throws -> Value
) async throws -> Value {
    let parent = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: parent) }
    let data = DataDirectory(path: parent.appending(component: "data").path)
    _ = try await setup(proxies: proxies, witnesses: witnesses).make(data, at: TestPerson.now)
    return try await body(data)
}

func setup(proxies: PinPolicy.ProxyRule = .record, witnesses: [UInt8] = []) throws -> DirectorySetup {
    DirectorySetup(
        origin: try KeyName(Array("example.org/signet".utf8)), url: "https://localhost:8443",
        tls: .own(hosts: [.name("localhost"), .address([127, 0, 0, 1])]), witnesses: witnesses,
        proxies: proxies, logger: silent)
}

let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Serves a real directory in this process while `body` runs.
func withServer(
    and parts: [any PartAnswering] = [], _ change: (inout HTTPSServer.Configuration) -> Void = { _ in },
    _ body: @escaping @Sendable (TestClient, StoredDirectory) async throws -> Void
) async throws {
    try await withDataDirectory { data in
        let stored = try await StoredDirectory.open(data, logger: silent)
        let server = try HTTPSServer(
            answering: DirectoryAdapter(stored.directory), and: parts, signals: StoredSignals.open(data),
            identity: stored.identity, configuration: configuration(change), logger: silent)
        try await run(server) { port in
            try await body(TestClient(port: port, root: stored.profile.tlsRoot), stored)
        }
        await stored.directory.close()
    }
}

/// Serves a made-up directory in this process while `body` runs.
func withServer(
    answering directory: some DirectoryAnswering, _ change: (inout HTTPSServer.Configuration) -> Void = { _ in },
    _ body: @escaping @Sendable (TestClient) async throws -> Void
) async throws {
    let authority = try DevelopmentAuthority(hosts: [.name("localhost")], at: TestPerson.now)
    let server = try server(answering: directory, as: authority, change)
    try await run(server) { port in try await body(TestClient(port: port, root: authority.root)) }
}

/// A server of a made-up directory, on any free port.
func server(
    answering directory: some DirectoryAnswering, as authority: DevelopmentAuthority,
    _ change: (inout HTTPSServer.Configuration) -> Void = { _ in }
) throws -> HTTPSServer {
    let identity = TLSIdentity(
        certificateChain: Array(authority.serverPEM.utf8), privateKey: Array(authority.serverKeyPEM.utf8))
    return try HTTPSServer(
        answering: directory, identity: identity, configuration: configuration(change), logger: silent)
}

func configuration(_ change: (inout HTTPSServer.Configuration) -> Void) -> HTTPSServer.Configuration {
    var configuration = HTTPSServer.Configuration()
    configuration.port = 0
    configuration.republishInterval = nil
    configuration.limits.addressRate = .unlimited
    configuration.limits.connectionRate = .unlimited
    configuration.limits.accountRate = .unlimited
    change(&configuration)
    return configuration
}

func run(_ server: HTTPSServer, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    let (ports, report) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            try await server.run(stoppingOnSignals: false) { report.yield($0) }
        }
        group.addTask {
            for await port in ports { return try await body(port) }
        }
        try await group.next()
        group.cancelAll()
        while let result = await group.nextResult() {
            if case .failure(let error) = result, !(error is CancellationError) { throw error }
        }
    }
}
