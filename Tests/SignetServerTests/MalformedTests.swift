// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import SignetAPI
import Testing

@testable import SignetServer

/// Bytes that are not TLS, or not HTTP, end their own connection and no other.
@Suite(.serialized) struct MalformedTests {
    @Test(arguments: ["GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}\u{FF}\u{FF}", "\u{0}"])
    func bytesThatAreNotTLSEndTheConnection(_ bytes: String) async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.handshake = .seconds(1) }) { client in
            let connection = try await Connection.open(port: client.port, root: nil)
            try? await connection.send(bytes)
            let answer = await connection.readToEnd()
            #expect(!String(decoding: answer, as: UTF8.self).contains("HTTP"))
            // The server serves others; the limit also holds for the connection that asks for the counters.
            _ = try await client.refusalsOnceServed()
        }
    }

    @Test(arguments: [TLSVersion.tlsv1, .tlsv11]) func tls1_0AndTLS1_1AreRefused(_ version: TLSVersion) async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            await #expect(throws: (any Error).self) {
                _ = try await Connection.open(port: client.port, root: client.root, maximumTLS: version)
            }
        }
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13]) func tls1_2AndTLS1_3AreAccepted(_ version: TLSVersion) async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await Connection.open(port: client.port, root: client.root, maximumTLS: version)
            try await connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await connection.readAnswer()?.status == 200)
            await connection.close()
        }
    }

    @Test func aClientWithAnotherRootRefusesTheServer() async throws {
        let other = try DevelopmentAuthority(hosts: [.name("localhost")], at: TestPerson.now).root
        try await withServer(answering: MadeUpDirectory()) { client in
            await #expect(throws: (any Error).self) {
                _ = try await Connection.open(port: client.port, root: other)
            }
        }
    }

    @Test(arguments: [
        "\r\n\r\n\r\n\u{0}", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        "POST /v1/lookup HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/lookup HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST /v1/lookup HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /v1/lookup HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "POST /v1/lookup HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func aMalformedRequestIsRefusedAndItsConnectionClosed(_ request: String) async throws {
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.limits.idle = .seconds(1)
                $0.limits.body = .seconds(1)
                $0.limits.firstHead = .seconds(1)
            }
        ) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            try await connection.send(request)
            let answer = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "))
            try await expectStatus(200, of: client.get("/health"))
        }
    }

    @Test func tenThousandMutatedRequestsDoNotStopTheServer() async throws {
        let seeds = [
            Array("GET /log/tile/0/x001/234.p/7 HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
            Array("POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(anyLookup.count)\r\n\r\n".utf8)
                + anyLookup,
            Array("POST /api/get-public-keys HTTP/1.1\r\nContent-Length: 20\r\n\r\n{\"targets\":[\"a@b.c\"]}".utf8),
            Array("GET /v1/friends HTTP/1.1\r\nSignet-Signature: v1 AA 1 AA AA\r\n\r\n".utf8),
        ]
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.limits.idle = .milliseconds(20)
                $0.limits.body = .milliseconds(20)
                $0.limits.firstHead = .milliseconds(20)
            }
        ) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<20 {
                    group.addTask {
                        var random = SeededRandom(UInt64(lane))
                        for _ in 0..<25 {
                            guard let connection = try? await Connection.open(port: client.port, root: client.root)
                            else { continue }
                            // Twenty requests on a connection, or fewer if the server closes it.
                            for _ in 0..<20 {
                                let request = random.mutated(seeds[Int(random.next() % 4)])
                                guard (try? await connection.send(request)) != nil else { break }
                            }
                            _ = await connection.readToEnd()
                        }
                    }
                }
                try await group.waitForAll()
            }
            // On a busy machine the short limits may meet this request too: it is made until it is answered.
            let latest = ContinuousClock.now + .seconds(60)
            var answer = try? await client.get("/health")
            while answer == nil, ContinuousClock.now < latest { answer = try? await client.get("/health") }
            #expect(answer?.status == 200)
        }
    }
}

/// SplitMix64: the same bytes for the same seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A copy with one to four bytes changed, inserted or removed, or cut short.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...(next() % 4) {
            let place = Int(next() % UInt64(bytes.count))
            switch next() % 4 {
            case 0: bytes[place] ^= 1 << UInt8(next() % 8)
            case 1: bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
            case 2 where bytes.count > 1: bytes.remove(at: place)
            default: bytes = bytes.count > 8 && next() % 8 == 0 ? Array(bytes.prefix(max(1, place))) : bytes
            }
        }
        return bytes
    }
}
