// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import ProtocolTesting
import SignetClient
import Synchronization
import Telemetry
import Testing
import TransparencyLog

@testable import LogAuditor

/// What the operator of an auditor sees of it, over sockets.
@Suite struct AuditWatchTests {
    private static let label = "{log=\"directory.example/log\"}"

    let folder: TemporaryFolder
    let log: ForgedLog
    let files = ServedLog()
    /// Seconds since 1970, and nanoseconds that each look at the clock adds.
    let clock = Clock()

    final class Clock: Sendable {
        private let time = Mutex(ForgedLog.now)
        private let ticks = Mutex<UInt64>(0)
        var now: UInt64 { time.withLock { $0 } }
        func advance(_ seconds: UInt64) { time.withLock { $0 += seconds } }
        /// A quarter of a second passes between two questions.
        var uptime: UInt64 {
            ticks.withLock { ticks in
                ticks += 250_000_000
                return ticks
            }
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        log = try ForgedLog()
        try log.grow(epochs: 2, people: 3)
        try files.serve(log)
    }

    /// The pages of an auditor of the log.
    private func withPages(
        free: UInt64? = .max,
        _ body: (AuditWatch, @Sendable (String, String) async throws -> TransportResponse) async throws -> Void
    ) async throws {
        let kept = AuditFolder(path: folder.below("state"), freeByteCount: { _ in free })
        let clock = clock
        let auditor = try Auditor(of: log.policy(), at: files, keeping: kept, clock: { clock.now })
        let watch = AuditWatch(
            auditor, of: try log.policy(), keeping: kept, patience: 600, clock: { clock.now }, uptime: { clock.uptime })
        let pages = try await AuditPages(watch, host: "127.0.0.1", port: 0)
        let transport = try NIOTransport(
            overPlainHTTPTo: ServerAddress("https://127.0.0.1:\(pages.port)"),
            deadlines: .init(
                connect: .seconds(600), handshake: .seconds(600), idle: .seconds(600), response: .seconds(600)))
        try await auditor.resume()
        try await body(watch) { method, path in
            try await transport.send(
                TransportRequest(method: method, path: path, limit: .init(maximumByteCount: 1 << 16, mediaType: nil)))
        }
        await pages.stop()
    }

    /// The values of a page, by name and labels.
    private static func values(_ page: TransportResponse) -> [String: Double] {
        let lines = String(decoding: page.body, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return lines.reduce(into: [:]) { values, line in
            guard let space = line.lastIndex(of: " ") else { return }
            values[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
    }

    private static func text(_ page: TransportResponse) -> String { String(decoding: page.body, as: UTF8.self) }

    @Test func theMetricsFollowWhatIsAudited() async throws {
        try await withPages { watch, get in
            let before = try await get("GET", "/metrics")
            #expect(before.status == 200)
            #expect(Self.values(before)["signet_audited_log_entries" + Self.label] == 0)
            #expect(Self.values(before)["signet_audited_log_timestamp_seconds" + Self.label] == 0)
            try await watch.look()
            clock.advance(100)
            let after = Self.values(try await get("GET", "/metrics"))
            #expect(after["signet_audited_log_entries" + Self.label] == Double(log.size))
            #expect(after["signet_audited_log_timestamp_seconds" + Self.label] == Double(ForgedLog.now))
            // Its second epoch ended two seconds after the start of the log.
            #expect(after["signet_audited_log_age_seconds" + Self.label] == 98)
            #expect(after["signet_audited_log_faults" + Self.label] == 0)
            #expect(after["signet_audit_rounds_total{log=\"directory.example/log\",result=\"sound\"}"] == 1)
            #expect(after["signet_audit_seconds_total" + Self.label] == 0.25)
            #expect(after["signet_ready"] == 1)
            try log.grow(epochs: 1, people: 5, from: 1000)
            try files.serve(log)
            try await watch.look()
            let grown = Self.values(try await get("GET", "/metrics"))
            #expect(grown["signet_audited_log_entries" + Self.label] == Double(log.size))
            #expect(grown["signet_audit_rounds_total{log=\"directory.example/log\",result=\"sound\"}"] == 2)
        }
    }

    @Test func everyFamilyHasItsExplanation() async throws {
        try await withPages { watch, get in
            try await watch.look()
            let lines = Self.text(try await get("GET", "/metrics")).split(separator: "\n")
            let helps = lines.filter { $0.hasPrefix("# HELP ") }.map { $0.split(separator: " ")[2] }
            let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
            #expect(helps == types && Set(helps).count == helps.count)
            let expected: [MetricFamily] = [
                .ready, .notReady, .auditedEntries, .auditedAge, .auditedTime, .auditedFaults, .auditRounds, .auditTime,
                .diskFree, .diskReserve, .build,
            ]
            #expect(Set(expected.map(\.rawValue)).isSubset(of: Set(helps.map(String.init))))
            #expect(lines.contains("# TYPE signet_audit_rounds_total counter"))
        }
    }

    @Test func anAuditorIsNotReadyBeforeItFoundSomethingSound() async throws {
        try await withPages { watch, get in
            #expect(try await get("GET", "/health").status == 200)
            let early = try await get("GET", "/ready")
            #expect(early.status == 503)
            #expect(Self.text(early) == "nothing that the log publishes was found sound yet\n")
            try await watch.look()
            let ready = try await get("GET", "/ready")
            #expect(ready.status == 200 && Self.text(ready) == "ready\n")
        }
    }

    @Test func aLogThatCannotBeReadMakesTheAuditorNotReadyAfterAWhile() async throws {
        try await withPages { watch, get in
            try await watch.look()
            files.set("checkpoint", nil)
            clock.advance(600)
            await #expect(throws: AuditorError.self) { try await watch.look() }
            #expect(try await get("GET", "/ready").status == 200, "that may pass")
            clock.advance(1)
            let silent = try await get("GET", "/ready")
            #expect(silent.status == 503)
            #expect(Self.text(silent) == "nothing that the log publishes was found sound for 601 seconds\n")
            let values = Self.values(try await get("GET", "/metrics"))
            #expect(values["signet_not_ready{reason=\"not_audited\"}"] == 1)
            #expect(values["signet_not_ready{reason=\"log_guilty\"}"] == 0)
            #expect(values["signet_audit_rounds_total{log=\"directory.example/log\",result=\"failed\"}"] == 1)
        }
    }

    @Test(arguments: [ForgedFault.flashKey, .repeatedVersion])
    func aLogThatLiesIsSeenOnThePages(_ fault: ForgedFault) async throws {
        let honest = log.size
        try await withPages { watch, get in
            try await watch.look()
            try log.commit(fault)
            try files.serve(log)
            await #expect(throws: AuditorError.self) { try await watch.look() }
            let ready = try await get("GET", "/ready")
            #expect(ready.status == 503)
            #expect(Self.text(ready) == "the log broke its rules; the proof is in the auditor's folder\n")
            let values = Self.values(try await get("GET", "/metrics"))
            #expect(values["signet_ready"] == 0)
            #expect(values["signet_not_ready{reason=\"log_guilty\"}"] == 1)
            #expect(values["signet_audited_log_faults" + Self.label] == 1)
            #expect(values["signet_audited_log_entries" + Self.label] == Double(honest), "the last that was sound")
            #expect(values["signet_audit_rounds_total{log=\"directory.example/log\",result=\"guilty\"}"] == 1)
        }
    }

    @Test func aFullDiskMakesTheAuditorNotReady() async throws {
        try await withPages(free: AuditFolder.reservedByteCount) { watch, get in
            _ = try? await watch.look()
            let ready = try await get("GET", "/ready")
            #expect(ready.status == 503)
            #expect(Self.text(ready).hasSuffix("only the room for evidence is left on the disk\n"))
            let values = Self.values(try await get("GET", "/metrics"))
            #expect(values["signet_not_ready{reason=\"disk_reserve\"}"] == 1)
            #expect(values["signet_disk_free_bytes"] == Double(AuditFolder.reservedByteCount))
        }
    }

    @Test func thereIsNothingElseOnThePages() async throws {
        try await withPages { _, get in
            for (method, path, status) in [
                ("GET", "/add-checkpoint", 404), ("GET", "/metrics?x=1", 404), ("POST", "/metrics", 405),
            ] {
                let answer = try await get(method, path)
                #expect(answer.status == status, "\(method) \(path)")
            }
        }
    }
}
