// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import LogWitness
import Logging
import Testing
import TransparencyLog

@testable import SignetServer

/// What the operator of a witness can measure.
@Suite struct WitnessMonitoringTests {
    private static let name = "log.example/one"

    /// A log of five entries, and the request to cosign so many of them.
    private static func request(_ size: UInt64, from old: UInt64 = 0) throws -> (key: VerifierKey, body: [UInt8]) {
        let signer = try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: .ed25519, seed: [UInt8](repeating: 1, count: 32))
        var tree = MerkleTree()
        for number in 0..<5 { tree.append(.leaf([UInt8(number)])) }
        let text = try Checkpoint(origin: signer.verifierKey.name, head: tree.head(size: size)).text
        let request = try AddCheckpointRequest(
            oldSize: old, consistency: tree.consistencyProof(from: old, to: size),
            note: SignedNote(text: text, signatures: [signer.sign(text)]))
        return (signer.verifierKey, request.encoded)
    }

    private static func answer(
        at port: Int, _ method: String, _ path: String, _ body: [UInt8] = []
    ) async throws -> HTTPAnswer {
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n"
        let connection = try await Connection.open(port: port, root: nil, greeting: Array(head.utf8) + body)
        let answer = await connection.readAnswer()
        await connection.close()
        return try #require(answer)
    }

    /// Runs a witness that serves the log, with the port at which it cosigns and that of its operators.
    private static func withWitness(_ body: (_ port: Int, _ operators: Int) async throws -> Void) async throws {
        let parent = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: parent) }
        let data = WitnessDirectory(path: parent.appending(component: "witness").path)
        _ = try WitnessSetup(name: KeyName(Array("witness.example".utf8)), tls: nil).make(data, at: 1_800_000_000)
        try StoredWitness(data).add([.init(key: request(1).key)])
        let witness = try StoredWitness(data).open(logger: silent)
        let ((ports, report), (monitoring, reportMonitoring)) = (
            AsyncStream.makeStream(of: Int.self), AsyncStream.makeStream(of: Int.self)
        )
        var configuration = WitnessServer.Configuration()
        configuration.port = 0
        configuration.watched = data
        var address = MonitoringAddress(host: "127.0.0.1", port: 0)
        address.onListening = { reportMonitoring.yield($0) }
        configuration.monitoring = address
        let server = try WitnessServer(witness, identity: nil, configuration: configuration, logger: silent)
        let running = Task { try await server.run(stoppingOnSignals: false) { report.yield($0) } }
        let port = try #require(await ports.first { _ in true })
        let operators = try #require(await monitoring.first { _ in true })
        do { try await body(port, operators) } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        try? await running.value
        witness.close()
    }

    @Test func theMetricsFollowWhatIsCosigned() async throws {
        try await Self.withWitness { port, operators in
            let label = "{log=\"\(Self.name)\"}"
            let before = try PrometheusPage(await Self.answer(at: operators, "GET", "/metrics").body)
            #expect(before.helps == Set(before.types.keys))
            #expect(before.values["signet_ready"] == 1)
            #expect(before.values["signet_cosigned_log_entries" + label] == nil)
            #expect(before.values["signet_database_bytes{database=\"witness\"}"] ?? 0 > 0)
            let start = UInt64(Date().timeIntervalSince1970)
            #expect(try await Self.answer(at: port, "POST", "/add-checkpoint", Self.request(3).body).status == 200)
            let next = try Self.request(5, from: 3).body
            #expect(try await Self.answer(at: port, "POST", "/add-checkpoint", next).status == 200)
            #expect(try await Self.answer(at: port, "POST", "/add-checkpoint", next).status == 409)
            let after = try PrometheusPage(await Self.answer(at: operators, "GET", "/metrics").body).values
            #expect(after["signet_cosigned_log_entries" + label] == 5)
            #expect(after["signet_cosigned_log_timestamp_seconds" + label] ?? 0 >= Double(start))
            #expect(after["signet_requests_total{route=\"add_checkpoint\",status=\"200\"}"] == 2)
            #expect(after["signet_requests_total{route=\"add_checkpoint\",status=\"409\"}"] == 1)
        }
    }

    @Test func operatorsHaveTheThreePagesForThemselves_andNoneIsAboutADirectory() async throws {
        try await Self.withWitness { port, operators in
            for path in ["/ready", "/metrics"] {
                #expect(try await Self.answer(at: port, "GET", path).status == 404, "\(path)")
            }
            #expect(try await Self.answer(at: operators, "GET", "/ready").text == "ready\n")
            #expect(try await Self.answer(at: operators, "GET", "/health").text == "ok\n")
            for (method, path) in [("POST", "/add-checkpoint"), ("POST", "/metrics"), ("GET", "/log/checkpoint")] {
                #expect(try await Self.answer(at: operators, method, path).status == 404, "\(path)")
            }
            let page = try await Self.answer(at: operators, "GET", "/metrics").text
            for name in ["signet_log_", "signet_registrations_total", "log_stopped", "route=\"register\""] {
                #expect(!page.contains(name), "\(name)")
            }
        }
    }

    @Test func aWitnessIsNotReadyWhenItsDiskIsFullOrItsCertificateEnds() {
        var readiness = Readiness()
        #expect(readiness.answer(of: nil, at: 0).status == .ok)
        readiness.isDiskFull = { true }
        readiness.certificateEnd = { 86_400 }
        let answer = readiness.answer(of: nil, at: 0)
        #expect(answer.status == .serviceUnavailable)
        #expect(String(decoding: answer.body, as: UTF8.self).split(separator: "\n").count == 2)
    }
}
