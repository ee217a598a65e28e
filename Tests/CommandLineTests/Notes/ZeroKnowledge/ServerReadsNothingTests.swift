// SPDX-License-Identifier: Apache-2.0

import CanaryScan
import Foundation
import Testing

/// Z1, Z2 and Z15: no text of a person and no key is in the server's files, logs, memory or traffic.
@Suite(.serialized) struct ServerReadsNothingTests {
    private static let options = [
        "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0", "--log-level", "trace",
    ]

    /// The handles, which the server may know: a scan must find them.
    private func control() throws -> CanaryScanner {
        try #require(
            CanaryScanner([Canary(Town.alice, Array(Town.alice.utf8)), Canary(Town.bob, Array(Town.bob.utf8))]))
    }

    /// The capture works: the handle of a lookup is inside TLS, and not on the wire.
    @Test func theCaptureSeesRequestsInsideTLS_andNotOnTheWire() async throws {
        try await Town.withServer { town, server in
            let relay = try await CapturingRelay(to: server.port, data: town["server"])
            try town.point(to: relay.port)
            let exit = try await town.signet("alice", "lookup", Town.bob)
            #expect(exit.status == 0, "\(exit.errors)")
            await relay.stop()
            let scanner = try control()
            #expect(scanner.findings(in: relay.application, at: "requests").map(\.canary).contains(Town.bob))
            #expect(relay.wire.count > relay.application.count)
            #expect(scanner.findings(in: relay.wire, at: "wire").isEmpty)
        }
    }

    @Test func noSecretOrPlaintextReachesTheServer() async throws {
        try await Town.with { town in
            let journey = Journey(town: town)
            var server = try await start(town)
            let relay = try await CapturingRelay(to: server.port, data: town["server"])
            try town.point(to: relay.port)
            let note = try await journey.begin()
            let printed = try await journey.carryAndLock(note)
            let beforeKill = try Sight(of: town, server, relay)
            // Killed, so that the write-ahead log of the database is left.
            let killed = try await server.stop(SIGKILL)
            server = try await start(town)
            relay.point(to: server.port)
            try town.point(to: relay.port)
            try await journey.end(note)
            let sight = try Sight(of: town, server, relay)
            let stopped = try await server.stop()
            await relay.stop()
            let mixed = try LoginSecrets.mixed(journey.password, with: printed.login)
            let login = try LoginSecrets(of: Town.bob, password: #require(mixed.last), server: town["server"])
            let secrets =
                try ["alice", "bob", "phone"].flatMap { try ClientSecrets(of: town[$0]).canaries } + login.canaries
                + [printed.recovery, .init("recovery wrap key", try LoginSecrets.wrapKey(of: printed.recovery))]
                + [printed.login] + mixed
            try expectEveryKind(of: secrets)
            let scanner = try #require(CanaryScanner(journey.canaries + secrets))
            for sight in [beforeKill, sight] { try expectNothing(scanner, in: sight) }
            for said in [killed.errors, stopped.errors] {
                #expect(scanner.findings(in: Array(said.utf8), at: "what the server said").isEmpty)
            }
            #expect(try scanner.findings(below: town["server"]).isEmpty, "when it has stopped")
            // Nor are they on the clients' disks.
            for home in ["alice", "bob", "phone"] { #expect(try scanner.findings(below: town[home]).isEmpty) }
        }
    }

    private func start(_ town: Town) async throws -> RunningServer {
        try FileManager.default.createDirectory(at: town["tmp"], withIntermediateDirectories: true)
        return try await RunningServer.start(
            .signetd, ["run", "--data", "server"] + Self.options, in: town.folder,
            environment: ["TMPDIR": town["tmp"].path(), "SIGNET_PASSPHRASE": ""])
    }

    /// The list of secrets has each kind of each device.
    private func expectEveryKind(of secrets: [Canary]) throws {
        let names = Set(secrets.map(\.name))
        for home in ["alice", "bob", "phone"] {
            for kind in [
                "passphrase", "stretched passphrase", "device's signing key", "device's agreement key",
                "device's X-Wing key", "account master key", "key of own notes", "note key of epoch 1", "content key",
            ] { #expect(names.contains("\(home): \(kind)")) }
        }
        for name in ["alice: identity key", "alice: note key of epoch 2", "alice: file key", "export key", "login key"]
        {
            #expect(names.contains(name))
        }
        #expect(!names.contains("bob: note key of epoch 2"))
    }

    private func expectNothing(_ scanner: CanaryScanner, in sight: Sight) throws {
        let control = try control()
        for (place, bytes) in sight.places {
            #expect(scanner.findings(in: bytes, at: place).isEmpty)
            guard place != "the wire" else { continue }
            #expect(control.findings(in: bytes, at: place).map(\.canary).contains(Town.alice), "in \(place)")
        }
        #expect(sight.places["the wire"]?.count ?? 0 > 10_000)
        #expect(scanner.findings(in: sight.temporary, at: "temporary files").isEmpty)
    }

    /// All bytes that can be seen while the server runs.
    private struct Sight {
        var places: [String: [UInt8]] = [:]
        let temporary: [UInt8]

        init(of town: Town, _ server: RunningServer, _ relay: CapturingRelay) throws {
            places["the data directory"] = try town.contents("server").flatMap { Array($0.key.utf8) + $0.value }
            places["the requests and answers"] = relay.application
            places["the wire"] = relay.wire
            temporary = try town.contents("tmp").flatMap { Array($0.key.utf8) + $0.value }
        }
    }

    #if os(Linux)
        /// While a client edits, the same scan finds all secrets in the client's memory and none
        /// in the server's.
        @Test func theSecretsAreInTheClientsMemory_andNotInTheServers() async throws {
            try await Town.with { town in
                let journey = Journey(town: town)
                let server = try await start(town)
                try town.point(to: server.port)
                let note = try await journey.begin()
                try await journey.notes("alice", "sync")
                let secrets = try ClientSecrets(of: town["alice"]).canaries
                let scanner = try #require(CanaryScanner(journey.canaries + secrets))
                let client = try await EditingClient.start(note, in: town, home: "alice")
                let found = Set(try scanner.findings(inMemoryOf: client.processIdentifier).map(\.canary))
                #expect(
                    found.isSuperset(of: [
                        "title", "body", "tag", "comment", "alice: device's signing key", "alice: account master key",
                        "alice: note key of epoch 1",
                    ]), "only \(found)")
                let held = Set(try scanner.findings(inMemoryOf: server.processIdentifier).map(\.canary))
                #expect(held.isEmpty, "the server holds \(held)")
                #expect(try !control().findings(inMemoryOf: server.processIdentifier).isEmpty)
                await client.stop()
                try await server.stop()
            }
        }
    #endif
}
