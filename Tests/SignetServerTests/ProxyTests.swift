// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Foundation
import ProcessTesting
import SignetAPI
import Testing

@testable import SignetServer

/// A server behind proxies. 127.0.0.9 is the proxy; the attacker is any client: it wants to escape its own limit, to use up another's,
/// or to see what is for this machine only.
@Suite(.serialized) struct ProxyTests {
    private static let proxy = "127.0.0.9"

    private static func proxies() throws -> TrustedProxies { TrustedProxies([try #require(IPNetwork(text: proxy))]) }

    private static func header(_ source: String) -> [UInt8] {
        Array("PROXY TCP4 \(source) 192.0.2.1 49152 8443\r\n".utf8)
    }

    private static let health = Array("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    /// A connection under TLS on which a request was sent.
    private static func connect(
        _ client: TestClient, _ preface: [UInt8], from source: String = proxy
    ) async throws -> Connection {
        try await Connection.open(
            port: client.port, root: client.root, greeting: health, preface: preface, from: source)
    }

    // MARK: The PROXY protocol

    @Test func theLimitsCountTheClientThatTheProxyNames() async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.proxies = proxies
                $0.limits.connectionsPerAddress = 1
            }
        ) { client in
            let first = try await Self.connect(client, Self.header("198.51.100.1"))
            #expect(await first.readAnswer()?.status == 200)
            let other = try await Self.connect(
                client, ProxyHeaderTests.binary(0x21, 0x11, [198, 51, 100, 2, 1, 1, 1, 1, 0, 1, 0, 1]))
            #expect(await other.readAnswer()?.status == 200)
            await #expect(throws: (any Error).self) {
                try await Self.connect(client, Self.header("198.51.100.1"))
            }
            await first.close()
            await other.close()
            let refusals = try await client.refusalsOnceServed()
            #expect(refusals == ["connections_per_address": 1])
        }
    }

    @Test func aClientCannotNameAnotherAddress_andUsesUpNoOthersLimit() async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.proxies = proxies
                $0.limits.connectionsPerAddress = 1
            }
        ) { client in
            for _ in 0..<3 {
                await #expect(throws: (any Error).self) {
                    try await Self.connect(client, Self.header("198.51.100.1"), from: "127.0.0.2")
                }
            }
            let victim = try await Self.connect(client, Self.header("198.51.100.1"))
            #expect(await victim.readAnswer()?.status == 200)
            await victim.close()
        }
    }

    /// The header of the client's own comes behind the proxy's, where TLS should begin.
    @Test func aSecondHeaderIsNone() async throws {
        let proxies = try Self.proxies()
        try await withServer(answering: MadeUpDirectory(), { $0.proxies = proxies }) { client in
            await #expect(throws: (any Error).self) {
                try await Self.connect(client, Self.header("198.51.100.1") + Self.header("198.51.100.2"))
            }
        }
    }

    @Test func aProxysConnectionWithoutAHeaderIsClosed() async throws {
        let proxies = try Self.proxies()
        try await withServer(answering: MadeUpDirectory(), { $0.proxies = proxies }) { client in
            await #expect(throws: (any Error).self) { try await Self.connect(client, []) }
            let refusals = try await client.refusalsOnceServed()
            #expect(refusals == ["proxy_header": 1])
        }
    }

    @Test func aHeaderThatDoesNotEndEndsTheConnection() async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.proxies = proxies
                $0.limits.handshake = .seconds(1)
            }
        ) { client in
            let connection = try await Connection.open(
                port: client.port, root: nil, preface: Array("PROXY TCP4 ".utf8), from: Self.proxy)
            #expect(await connection.readToEnd().isEmpty)
            let refusals = try await client.refusalsOnceServed()
            #expect(refusals == ["handshake_time": 1])
        }
    }

    @Test func connectionsOfAProxyThatNameNoClientYetCountAmongAll() async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.proxies = proxies
                $0.limits.connections = 2
                // The silent ones are to stay on a busy machine, too.
                $0.limits.handshake = .seconds(600)
            }
        ) { client in
            var silent: [Connection] = []
            for _ in 0..<3 {
                silent.append(
                    try await Connection.open(port: client.port, root: nil, preface: [0x50], from: Self.proxy))
            }
            // Each begins on an event loop of its own, so that any of them may be the third.
            await withTaskGroup(of: Void.self) { group in
                for connection in silent { group.addTask { #expect(await connection.readToEnd().isEmpty) } }
                await group.next()
                for connection in silent { await connection.close() }
            }
            let refusals = try await client.refusalsOnceServed()
            #expect(refusals == ["connections": 1])
        }
    }

    /// Without the header this client of a proxy on the same machine would look like a process of the machine.
    @Test func aClientOfAProxyOnThisMachineIsNotOfThisMachine() async throws {
        let proxies = try Self.proxies()
        try await withServer(answering: MadeUpDirectory(), { $0.proxies = proxies }) { client in
            let request = Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            let stranger = try await Connection.open(
                port: client.port, root: client.root, greeting: request, preface: Self.header("198.51.100.1"),
                from: Self.proxy)
            #expect(await stranger.readAnswer()?.status == 404)
            await stranger.close()
        }
    }

    // MARK: Without TLS

    private static func request(_ method: String, _ path: String, _ fields: [String], _ body: [UInt8] = []) -> [UInt8] {
        let lines = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Content-Length: \(body.count)"] + fields
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    private static func answer(
        _ client: TestClient, _ request: [UInt8], from source: String = proxy
    ) async throws -> HTTPAnswer? {
        let connection = try await Connection.open(port: client.port, root: nil, greeting: request, from: source)
        let answer = await connection.readAnswer()
        await connection.close()
        return answer
    }

    /// Lookups that are answered from memory, and lookups for which a task is needed.
    @Test(arguments: [true, false])
    func aForgedForwardingNeitherEscapesALimitNorUsesUpAnothers(isReady: Bool) async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(isReady: isReady),
            {
                $0.proxies = proxies
                $0.isPlain = true
                $0.limits.addressRate = RequestRate(perSecond: 1, burst: 1)
                $0.clock = ServerClock(time: { 1000 }, uptime: { 5_000_000_000 })
            }
        ) { client in
            // The attacker writes the field, and the proxy adds the address from which it was called.
            func ask(_ fields: String...) async throws -> HTTPAnswer? {
                try await Self.answer(client, Self.request("POST", Route.lookup.path, fields, anyLookup))
            }
            try await expectStatus(200, of: ask("X-Forwarded-For: 203.0.113.1, 198.51.100.7"))
            try await expectStatus(429, of: ask("X-Forwarded-For: 203.0.113.2, 198.51.100.7"))
            try await expectStatus(429, of: ask("X-Forwarded-For: 203.0.113.3", "X-Forwarded-For: 198.51.100.7"))
            try await expectStatus(429, of: ask("Forwarded: for=203.0.113.4", "X-Forwarded-For: 198.51.100.7"))
            try await expectStatus(429, of: ask("X-Forwarded-For: 203.0.113.5, 198.51.100.7, 127.0.0.9"))
            // Each of these addresses still has its own.
            try await expectStatus(200, of: ask("X-Forwarded-For: 203.0.113.1"))
            try await expectStatus(200, of: ask("X-Forwarded-For: 203.0.113.2"))
        }
    }

    @Test(arguments: [true, false])
    func onlyAListedAddressMayNameAnother(isReady: Bool) async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(isReady: isReady),
            {
                $0.proxies = proxies
                $0.isPlain = true
                $0.limits.addressRate = RequestRate(perSecond: 1, burst: 1)
                $0.clock = ServerClock(time: { 1000 }, uptime: { 5_000_000_000 })
            }
        ) { client in
            func ask(_ address: String) async throws -> HTTPAnswer? {
                let request = Self.request("POST", Route.lookup.path, ["X-Forwarded-For: \(address)"], anyLookup)
                return try await Self.answer(client, request, from: "127.0.0.2")
            }
            try await expectStatus(200, of: ask("203.0.113.1"))
            try await expectStatus(429, of: ask("203.0.113.2"))
        }
    }

    @Test(arguments: [true, false])
    func aRequestWhoseClientTheProxyDoesNotNameIsRefused(isReady: Bool) async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(isReady: isReady),
            {
                $0.proxies = proxies
                $0.isPlain = true
            }
        ) { client in
            for fields in [[], ["X-Forwarded-For: unknown"], ["X-Forwarded-For: 198.51.100.7,"]] {
                let request = Self.request("POST", Route.lookup.path, fields, anyLookup)
                try await expectStatus(400, of: Self.answer(client, request))
            }
            let request = Self.request("GET", "/metrics", ["X-Forwarded-For: 127.0.0.1, 198.51.100.7"])
            try await expectStatus(404, of: Self.answer(client, request))
        }
    }

    /// Many clients come over the proxy's connections, so one address may have many of them.
    @Test func aProxysConnectionsAreNotOneClients() async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.proxies = proxies
                $0.isPlain = true
                $0.limits.connectionsPerAddress = 1
                $0.limits.connectionRate = RequestRate(perSecond: 1, burst: 1)
                $0.clock = ServerClock(time: { 1000 }, uptime: { 5_000_000_000 })
            }
        ) { client in
            var open: [Connection] = []
            for _ in 0..<4 {
                let connection = try await Connection.open(
                    port: client.port, root: nil,
                    greeting: Self.request("GET", "/health", ["X-Forwarded-For: 198.51.100.7"]), from: Self.proxy)
                #expect(await connection.readAnswer()?.status == 200)
                open.append(connection)
            }
            for connection in open { await connection.close() }
        }
    }

    /// A request whose body does not come holds a connection of the proxy, so each counts for its client.
    @Test(arguments: [true, false])
    func aClientHoldsNoMoreOfAProxysConnectionsThanOnesOfItsOwn(isReady: Bool) async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(isReady: isReady),
            {
                $0.proxies = proxies
                $0.isPlain = true
                $0.limits.connectionsPerAddress = 2
                $0.limits.body = .seconds(60)
                $0.limits.idle = .seconds(600)
            }
        ) { client in
            func lookup(of address: String) -> [UInt8] {
                Self.request("POST", Route.lookup.path, ["X-Forwarded-For: \(address)"], anyLookup)
            }
            var held: [Connection] = []
            for _ in 0..<3 {
                held.append(
                    try await Connection.open(
                        port: client.port, root: nil, greeting: lookup(of: "198.51.100.7").dropLast(), from: Self.proxy)
                )
            }
            // Whichever comes last is refused, and closed without its body.
            let refused = await withTaskGroup(of: (Int, Int?).self) { group in
                for (number, connection) in held.enumerated() {
                    group.addTask { (number, await connection.readAnswer()?.status) }
                }
                let first = await group.next()
                group.cancelAll()
                return first
            }
            #expect(refused?.1 == 429)
            try await expectStatus(200, of: Self.answer(client, lookup(of: "203.0.113.1")))
            try await expectStatus(429, of: Self.answer(client, lookup(of: "198.51.100.7").dropLast()))
            for connection in held { await connection.close() }
        }
    }

    /// A refusal that comes before the body does not end what the request holds.
    @Test func aRefusedRequestCountsUntilItsBodyIsThere() async throws {
        let proxies = try Self.proxies()
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.proxies = proxies
                $0.isPlain = true
                $0.limits.connectionsPerAddress = 1
                $0.limits.body = .seconds(60)
                $0.limits.idle = .seconds(600)
            }
        ) { client in
            let unsigned = Self.request("POST", Route.updateState.path, ["X-Forwarded-For: 198.51.100.7"], [1, 2])
            let first = try await Connection.open(
                port: client.port, root: nil, greeting: unsigned.dropLast(), from: Self.proxy)
            #expect(await first.readAnswer()?.status == 401)
            try await expectStatus(429, of: Self.answer(client, unsigned))
            // With the rest of its body it is over, and the next one is not refused.
            try await first.send([2] + unsigned)
            #expect(await first.readAnswer()?.status == 401)
            await first.close()
        }
    }

    /// The program, with a proxy on this machine that ends TLS.
    @Test func theDaemonServesPlainHTTPToAProxyOfThisMachine() async throws {
        try await withDataDirectory { data in
            let daemon = try Daemon(data, limits: ["--rate", "0", "--plain-http", "--behind", Self.proxy])
            let client = TestClient(port: try #require(await daemon.port()), root: [])
            for (path, forwarded, status) in [
                ("/health", "198.51.100.7", 200), ("/metrics", "198.51.100.7", 404),
                ("/metrics", "127.0.0.1, 198.51.100.7", 404), ("/metrics", "", 400),
                ("/health", "", 200),
            ] {
                let request = Self.request("GET", path, ["X-Forwarded-For: \(forwarded)"])
                try await expectStatus(status, of: Self.answer(client, request))
            }
            daemon.signal(SIGTERM)
            let end = await daemon.ended()
            #expect(end.status == 0)
        }
    }

    // MARK: The operators' address

    @Test func metricsMoveToTheAddressOfTheOperators() async throws {
        let (ports, report) = AsyncStream.makeStream(of: Int.self)
        try await withServer(
            answering: MadeUpDirectory(),
            {
                var monitoring = MonitoringAddress(host: "127.0.0.1", port: 0)
                monitoring.onListening = { report.yield($0) }
                $0.monitoring = monitoring
            }
        ) { client in
            try await expectStatus(404, of: client.get("/metrics"))
            try await expectStatus(404, of: client.get("/ready"))
            try await expectStatus(200, of: client.get("/health"))
            let port = try #require(await ports.first { _ in true })
            func answer(_ request: [UInt8]) async throws -> HTTPAnswer? {
                let connection = try await Connection.open(port: port, root: nil, greeting: request)
                let answer = await connection.readAnswer()
                await connection.close()
                return answer
            }
            let metrics = try #require(try await answer(Self.request("GET", "/metrics", [])))
            #expect(metrics.status == 200)
            let values = try PrometheusPage(metrics.body).values
            #expect(values["signet_log_alive"] == 1)
            #expect(metrics.text.contains(#"signet_requests_total{route="metrics",status="404"} 1"#))
            let (ready, health) = try await (
                answer(Self.request("GET", "/ready", [])), answer(Self.request("GET", "/health", []))
            )
            #expect(ready?.text == "ready\n")
            #expect(health?.text == "ok\n")
            // Nothing else is here.
            for path in [Route.lookup.path, Route.register.path] {
                try await expectStatus(404, of: answer(Self.request("POST", path, [], anyLookup)))
            }
            try await expectStatus(404, of: answer(Self.request("GET", "/log/checkpoint", [])))
        }
    }
}
