// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetAPI
import SignetServer
import Synchronization
import Testing

/// Each limit alone, on a real socket under real TLS: the other limits are so wide that only the one under test can
/// answer, and the counters show that no other did. The tests wait for the server to act, and not for a time.
@Suite(.serialized) struct LimitTests {
    @Test func aConnectionOverTheLimitIsClosedBeforeTLS() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.connections = 2 }) { client in
            let first = try await Connection.open(port: client.port, root: client.root)
            let second = try await Connection.open(port: client.port, root: client.root)
            let third = try await Connection.open(port: client.port, root: nil)
            #expect(await third.readToEnd().isEmpty)
            await first.close()
            await second.close()
            let refusals = try await client.refusalsOnceServed()
            #expect(refusals == ["connections": 1])
        }
    }

    @Test func aConnectionOverTheLimitOfItsAddressIsClosedBeforeTLS() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.connectionsPerAddress = 1 }) { client in
            let first = try await Connection.open(port: client.port, root: client.root)
            let second = try await Connection.open(port: client.port, root: nil)
            #expect(await second.readToEnd().isEmpty)
            await first.close()
            let refusals = try await client.refusalsOnceServed()
            #expect(refusals == ["connections_per_address": 1])
        }
    }

    @Test(.timeLimit(.minutes(2))) func aClientThatSendsNoHandshakeIsDisconnected() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.handshake = .seconds(1) }) { client in
            let connection = try await Connection.open(port: client.port, root: nil)
            #expect(await connection.readToEnd().isEmpty)
            // The limit also holds for the connection that asks for the counters.
            let refusals = try await client.refusalsOnceServed()
            #expect(refusals == ["handshake_time": 1])
        }
    }

    @Test func headersThatDoNotEndEndTheConnection() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.firstHead = .seconds(1) }) { client in
            let connection = try await Connection.open(
                port: client.port, root: client.root, greeting: Array("GET /health HTTP/1.1\r\nHost: loc".utf8))
            #expect(await connection.readToEnd().isEmpty)
            let refusals = try await client.refusals()
            #expect(refusals == ["head_time": 1])
        }
    }

    @Test func aBodyThatDoesNotEndEndsTheConnection() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.body = .seconds(1) }) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            try await connection.send("POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
            #expect(await connection.readToEnd().isEmpty)
            let refusals = try await client.refusals()
            #expect(refusals == ["body_time": 1])
        }
    }

    @Test func aRequestWithoutAnAnswerInTimeEndsTheConnection() async throws {
        try await withServer(
            answering: MadeUpDirectory(isHolding: true),
            {
                $0.limits.answer = .seconds(1)
                $0.limits.drain = .seconds(1)
            }
        ) { client in
            let answer = try await client.call(.lookup, anyLookup)
            #expect(answer == nil)
            let refusals = try await client.refusals()
            #expect(refusals == ["answer_time": 1])
        }
    }

    @Test func anIdleConnectionIsClosed() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.idle = .seconds(1) }) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            try await connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(String(decoding: await connection.readToEnd(), as: UTF8.self).hasSuffix("ok\n"))
            let refusals = try await client.refusals()
            #expect(refusals == ["idle_time": 1])
        }
    }

    @Test(arguments: ["Content-Length: 65537", "Transfer-Encoding: chunked"])
    func aBodyOneByteOverTheLimitIsRefused(_ length: String) async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            let body = [UInt8](repeating: 0x61, count: 65_537)
            let isChunked = length.hasSuffix("chunked")
            let sent = isChunked ? Array("10001\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8) : body
            try await connection.send(
                Array("POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\n\(length)\r\n\r\n".utf8) + sent)
            let answer = await connection.readAnswer()
            #expect(answer?.status == 413)
            #expect(answer?.text == "{\"error\":\"too_large\"}")
            #expect(answer?.headers["connection"] == "close")
            #expect(await connection.readToEnd().isEmpty)
            let refusals = try await client.refusals()
            #expect(refusals == ["body_size": 1])
        }
    }

    @Test func aBodyOfExactlyTheLimitIsRead() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let answer = try await client.call(.lookup, [UInt8](repeating: 0x61, count: 65_536))
            #expect(answer?.status == 400)
            let refusals = try await client.refusals()
            #expect(refusals == [:])
        }
    }

    @Test func anEndlessBodyEndsTheConnection() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            try await connection.send(
                "POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 65_536) + Array("\r\n".utf8)
            var count = 0
            while count < 1000, (try? await connection.send(chunk)) != nil { count += 1 }
            #expect(count < 1000)
            let refusals = try await client.refusals()
            #expect(refusals == ["body_size": 1])
        }
    }

    @Test(arguments: [
        "GET /health HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 17_000))\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\n\(String(repeating: "A: b\r\n", count: 65))\r\n",
        "GET /\(String(repeating: "a", count: 17_000)) HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ])
    func headersOverTheLimitAreRefused(_ request: String) async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.idle = .seconds(1) }) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            try await connection.send(request)
            let answer = await connection.readAnswer()
            #expect(answer?.status == 400)
            _ = await connection.readToEnd()
        }
    }

    @Test func anAddressOverItsRateIsRefusedUntilItsNextToken() async throws {
        let uptime = Mutex<UInt64>(1_000_000_000_000)
        let clock = ServerClock(time: { TestPerson.now }, uptime: { uptime.withLock { $0 } })
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.limits.addressRate = RequestRate(perSecond: 2, burst: 3)
                $0.clock = clock
            }
        ) { client in
            for _ in 0..<3 { try await expectStatus(200, of: client.call(.lookup, anyLookup)) }
            let refused = try await client.call(.lookup, anyLookup)
            #expect(refused?.status == 429)
            #expect(refused?.headers["retry-after"] == "1")
            #expect(refused?.text == "{\"error\":\"too_many_requests\"}")
            uptime.withLock { $0 += 500_000_000 }
            try await expectStatus(200, of: client.call(.lookup, anyLookup))
            try await expectStatus(429, of: client.call(.lookup, anyLookup))
            uptime.withLock { $0 += 500_000_000 }
            let refusals = try await client.refusals()
            #expect(refusals == ["address_rate": 2])
        }
    }

    @Test func anAccountOverItsRateIsRefused_andOtherAccountsAreNot() async throws {
        let uptime = Mutex<UInt64>(1_000_000_000_000)
        let clock = ServerClock(time: { TestPerson.now }, uptime: { uptime.withLock { $0 } })
        try await withServer({
            $0.limits.accountRate = RequestRate(perSecond: 1, burst: 2)
            $0.clock = clock
        }) { client, _ in
            let (alice, bob) = (try TestPerson("alice@example.org"), try TestPerson("bob@example.org"))
            for person in [alice, bob] { try await expectStatus(200, of: person.register(client)) }
            for _ in 0..<2 { try await expectStatus(200, of: alice.call(.listFriends, [], client)) }
            try await expectStatus(429, of: alice.call(.listFriends, [], client))
            try await expectStatus(200, of: bob.call(.listFriends, [], client))
            uptime.withLock { $0 += 1_000_000_000 }
            try await expectStatus(200, of: alice.call(.listFriends, [], client))
            let refusals = try await client.refusals()
            #expect(refusals == ["account_rate": 1])
        }
    }
}

/// Records an issue unless the answer has this status.
func expectStatus(
    _ status: Int, of answer: HTTPAnswer?, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    #expect(answer?.status == status, sourceLocation: sourceLocation)
}

extension TestClient {
    /// The refusals, as soon as the server has room for the connection that asks for them.
    func refusalsOnceServed() async throws -> [String: Int] {
        while true {
            guard let answer = try? await get(Route.metrics.path), answer.status == 200 else { continue }
            // Attempts of this function may have been refused too.
            return Self.refusals(in: answer.text).mapValues { _ in 1 }
        }
    }
}
