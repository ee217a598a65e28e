// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Foundation
import Logging
import ProcessTesting
import SignetAPI
import Synchronization
import Testing

@testable import SignetServer

/// Events are in the log, once a minute for each kind, and name no account.
@Suite struct EventLineTests {
    /// Lines as they come, and a clock that the test moves.
    private final class Desk: Sendable {
        let lines = Mutex<[String]>([])
        let seconds = Mutex<UInt64>(0)

        func events(_ level: Logger.Level = .info) -> EventLines {
            let logger = Logger(label: "test") { [self] _ in
                LogfmtOutput(level: level, now: { 784_111_777 }) { line in
                    self.lines.withLock { $0.append(String(decoding: line.dropFirst(26).dropLast(), as: UTF8.self)) }
                }
            }
            return EventLines(logger) { [self] in seconds.withLock { $0 } * 1_000_000_000 }
        }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    @Test func eventsOfOneKindHaveOneLineAMinuteWithTheirNumber() {
        let desk = Desk()
        let events = desk.events()
        for _ in 0..<1000 { events.note(.limit(.addressRate)) }
        let first = #"level=notice msg="clients ran into a limit" count=1 limit=address_rate"#
        #expect(desk.take() == [first])
        desk.seconds.withLock { $0 = 59 }
        events.note(.limit(.addressRate))
        #expect(desk.take() == [])
        desk.seconds.withLock { $0 = 60 }
        events.note(.limit(.addressRate))
        #expect(desk.take() == [first.replacingOccurrences(of: "count=1 ", with: "count=1001 ")])
    }

    /// No client can do anything about it.
    @Test func aProxyThatNamesNoClientIsTheOperatorsMatter() {
        let desk = Desk()
        desk.events(.warning).note(.limit(.proxyHeader))
        let start = #"level=warning msg="a proxy of --behind sent no PROXY header: "#
        #expect(desk.take().map { $0.hasPrefix(start) } == [true])
    }

    @Test func eachKindOfEventHasALineOfItsOwn() {
        let desk = Desk()
        let events = desk.events()
        for _ in 0..<9 {
            events.note(.registered)
            events.note(.limit(.connections))
            events.note(.refused(.lookup, status: 400))
            events.note(.refused(.lookup, status: 503))
            events.note(.refused(.register, status: 400))
        }
        #expect(
            desk.take() == [
                #"level=info msg="accounts were registered" count=1"#,
                #"level=notice msg="clients ran into a limit" count=1 limit=connections"#,
                #"level=info msg="requests were refused" count=1 route=lookup status=400"#,
                #"level=warning msg="requests were refused" count=1 route=lookup status=503"#,
                #"level=info msg="requests were refused" count=1 route=register status=400"#,
            ])
    }

    @Test func eventsBelowTheLevelAndIdleConnectionsAreNotWritten() {
        let desk = Desk()
        let events = desk.events(.warning)
        events.note(.registered)
        events.note(.refused(.lookup, status: 404))
        #expect(desk.take() == [])
        events.note(.refused(.lookup, status: 500))
        #expect(desk.take().count == 1)
        desk.events(.trace).note(.limit(.idleTime))
        #expect(desk.take() == [])
    }

    @Test func countedRequestsRefusalsAndRegistrationsAreLogged() {
        let desk = Desk()
        let metrics = ServerMetrics(events: desk.events())
        metrics.answered(.lookup, 200, nanoseconds: 1)
        #expect(desk.take() == [])
        metrics.answered(.lookup, 400, nanoseconds: 1)
        metrics.refused(.bodySize)
        metrics.registered()
        #expect(
            desk.take().map { $0.split(separator: "\"")[1] } == [
                "requests were refused", "clients ran into a limit", "accounts were registered",
            ])
    }

    /// By the real `signetd`.
    @Test func linesOfRegistrationsAndRefusalsNameNoAccount() async throws {
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            let daemon = try Daemon(data)
            let client = TestClient(port: try #require(await daemon.port()), root: profile.tlsRoot)
            let alice = try TestPerson("alice@example.org")
            #expect(try await alice.register(client)?.status == 200)
            #expect(try await TestPerson("alice@example.org").register(client)?.status == 409)
            let page = try PrometheusPage(try #require(try await client.get(Route.metrics.path)).body)
            #expect(page.values["signet_registrations_total"] == 1)
            #expect(
                page.values["signet_database_bytes{database=\"directory\"}"] ?? 0 > 0, "its own folder is looked at")
            daemon.signal(SIGTERM)
            let end = await daemon.ended()
            #expect(end.complaints.contains(#"level=info msg="accounts were registered" count=1"#))
            #expect(
                end.complaints.contains(#"level=info msg="requests were refused" count=1 route=register status=409"#))
            for secret in ["alice", "example.org", "127.0.0.1", "localhost"] {
                #expect(!end.complaints.contains(secret))
            }
        }
    }
}
