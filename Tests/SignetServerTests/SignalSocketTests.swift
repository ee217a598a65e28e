// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import ConnectionLimits
import Crypto
import Foundation
import KeyTransparency
import NIOCore
import NIOEmbedded
import NIOWebSocket
import ProcessTesting
import SignalBroker
import SignetAPI
import Testing

@testable import SignetServer

/// The WebSocket of the signals, byte by byte.
///
/// Spec: RFC 6455; the key and its answer are those of section 1.3.
@Suite struct SignalSocketTests {
    private static let fields = [
        "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "v10.stomp, v12.stomp",
    ]

    /// Asks for a WebSocket as a registered device, with some fields changed or, if empty, left out.
    private func ask(
        _ client: TestClient, _ person: TestPerson, method: String = "GET", changing changes: [String: String] = [:]
    ) async throws -> Connection {
        let content = RequestSignature.Content(
            method: method, path: RelayAddress.path, origin: client.origin, body: [])
        let signature = try RequestSignature(
            content, deviceKey: person.keys.signing, time: TestPerson.now, nonce: TestPerson.random(16)
        ) { try Array(person.signing.signature(for: $0)) }
        var fields = Self.fields
        fields[RequestSignature.headerName] = String(decoding: signature.headerValue, as: UTF8.self)
        for (name, value) in changes { fields[name] = value.isEmpty ? nil : value }
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        let connection = try await Connection.open(port: client.port, root: client.root)
        try await connection.send("\(method) \(RelayAddress.path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n")
        return connection
    }

    private func withSocket(_ body: @escaping @Sendable (Connection) async throws -> Void) async throws {
        try await withServer { client, _ in
            let person = try TestPerson("alice@example.org")
            try await expectStatus(200, of: person.register(client))
            let connection = try await ask(client, person)
            let head = try #require(await connection.readHead())
            #expect(head.hasPrefix("HTTP/1.1 101 "))
            try await body(connection)
            await connection.close()
        }
    }

    private func masked(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let key: [UInt8] = [1, 2, 3, 4]
        let length: [UInt8] =
            payload.count < 126
            ? [0x80 | UInt8(payload.count)]
            : [0x80 | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        return [first] + length + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }

    @Test func aSignedRequestOpensTheSocket() async throws {
        try await withServer { client, _ in
            let person = try TestPerson("alice@example.org")
            try await expectStatus(200, of: person.register(client))
            let connection = try await ask(client, person)
            let head = try #require(await connection.readHead())
            #expect(head.hasPrefix("HTTP/1.1 101 "))
            #expect(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
            #expect(head.contains("Sec-WebSocket-Protocol: v12.stomp\r\n"))
            await connection.close()
        }
    }

    @Test func malformedUpgradeRequestsAreRefused() async throws {
        try await withServer { client, _ in
            let person = try TestPerson("alice@example.org")
            try await expectStatus(200, of: person.register(client))
            let refusals: [(Int, [String: String])] = [
                (426, ["Sec-WebSocket-Version": "12"]), (426, ["Upgrade": ""]), (426, ["Connection": "keep-alive"]),
                (400, ["Sec-WebSocket-Protocol": "v11.stomp"]), (400, ["Sec-WebSocket-Protocol": ""]),
                (400, ["Sec-WebSocket-Key": "AAAA"]), (401, [RequestSignature.headerName: ""]),
            ]
            for (status, changes) in refusals {
                let connection = try await ask(client, person, changing: changes)
                let answer = await connection.readAnswer()
                #expect(answer?.status == status, "\(changes)")
                await connection.close()
            }
            let connection = try await ask(client, person, method: "POST")
            let answer = await connection.readAnswer()
            #expect(answer?.status == 405)
            await connection.close()
        }
    }

    /// The idle limit would end the connection too, but would be counted.
    @Test(arguments: [["Sec-WebSocket-Version": "12"], [RequestSignature.headerName: ""]])
    func aRefusedUpgradeEndsTheConnection(_ changes: [String: String]) async throws {
        try await withServer({ $0.limits.idle = .seconds(30) }) { client, _ in
            let person = try TestPerson("alice@example.org")
            try await expectStatus(200, of: person.register(client))
            let connection = try await ask(client, person, changing: changes)
            #expect(String(decoding: await connection.readToEnd(), as: UTF8.self).contains("onnection: close\r\n"))
            #expect(try await client.refusals() == [:])
        }
    }

    @Test func aSignatureOpensOneSocketOnly() async throws {
        try await withServer { client, _ in
            let person = try TestPerson("alice@example.org")
            try await expectStatus(200, of: person.register(client))
            let content = RequestSignature.Content(
                method: "GET", path: RelayAddress.path, origin: client.origin, body: [])
            let signature = try RequestSignature(
                content, deviceKey: person.keys.signing, time: TestPerson.now, nonce: TestPerson.random(16)
            ) { try Array(person.signing.signature(for: $0)) }
            let changes = [RequestSignature.headerName: String(decoding: signature.headerValue, as: UTF8.self)]
            let first = try await ask(client, person, changing: changes)
            #expect(await first.readHead()?.hasPrefix("HTTP/1.1 101 ") == true)
            let second = try await ask(client, person, changing: changes)
            #expect(await second.readAnswer()?.status == 401)
            await first.close()
            await second.close()
        }
    }

    @Test func aPingAndACloseFrameAreAnswered() async throws {
        try await withSocket { connection in
            try await connection.send(masked(0x89, [7, 8]) + masked(0x88, [0x03, 0xE8]))
            #expect(await connection.readToEnd() == [0x8A, 2, 7, 8, 0x88, 2, 0x03, 0xE8])
        }
    }

    /// A ping is charged as a frame is: an account that reads nothing cannot make answers pile up.
    @Test func aFloodOfPingsEndsTheConnection() async throws {
        try await withSocket { connection in
            let count = 5000
            let flood = (0..<count).flatMap { _ in masked(0x89, [UInt8](repeating: 7, count: 100)) }
            try await connection.send(flood)
            let answers = await connection.readToEnd()
            #expect(String(decoding: answers, as: UTF8.self).contains("message:too-fast"))
            #expect(answers.count < count / 2 * 102)
        }
    }

    @Test func pongs_answersTheFirstAndThenTheNewestOfManyPings() {
        var pongs = Pongs()
        let pings = (0..<100).map { ByteBuffer(bytes: [$0]) }
        #expect(pings.map { pongs.due($0) } == [pings[0]] + [ByteBuffer?](repeating: nil, count: 99))
        #expect(pongs.written() == pings[99])
        #expect(pongs.due(pings[99]) == pings[99])
        #expect(pongs.written() == nil)
    }

    @Test func noSecondPongIsWrittenWhileOneIsWaiting() throws {
        let hub = try SignalHub(remembering: nil, clock: StoredSignals.clock)
        let device = try #require(CallDevice([UInt8](repeating: 1, count: 32)))
        let (network, socket) = (StalledNetwork(), SocketHandler())
        let channel = EmbeddedChannel(handlers: [socket, network, SignalSocketHandler(hub, device, of: 1, socket)])
        let pings = (0..<100).map { ByteBuffer(bytes: [$0]) }
        for ping in pings {
            try channel.writeInbound(WebSocketFrame(fin: true, opcode: .ping, maskKey: [0, 0, 0, 0], data: ping))
        }
        #expect(network.frames.map(\.data) == [pings[0]])
        network.take()
        #expect(network.frames.map(\.data) == [pings[99]])
        network.take()
        #expect(network.frames.isEmpty)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    /// Protocol errors: close frame with code 1002; a frame longer than the broker takes: 1009.
    @Test(arguments: [
        "unmasked", "reserved bit", "continuation without a message", "second message inside one", "too long",
    ])
    func aMalformedFrameEndsTheConnection(_ fault: String) async throws {
        try await withSocket { connection in
            let (frames, code): ([UInt8], UInt16) =
                switch fault {
                case "unmasked": ([0x82, 1, 10], 1002)
                case "reserved bit": (masked(0xC2, [10]), 1002)
                case "continuation without a message": (masked(0x80, [10]), 1002)
                case "second message inside one": (masked(0x02, [10]) + masked(0x82, [10]), 1002)
                default: (masked(0x82, [UInt8](repeating: 10, count: 100_000)), 1009)
                }
            try await connection.send(frames)
            #expect(await connection.readToEnd() == [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)])
        }
    }

    @Test func aStoppingServerClosesTheSocket() async throws {
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            let daemon = try Daemon(data)
            let client = TestClient(port: try #require(await daemon.port()), root: profile.tlsRoot)
            let person = try TestPerson("alice@example.org")
            try await expectStatus(200, of: person.register(client))
            let connection = try await ask(client, person)
            #expect(await connection.readHead()?.hasPrefix("HTTP/1.1 101 ") == true)
            daemon.signal(SIGTERM)
            let last = await connection.readToEnd()
            #expect(String(decoding: last, as: UTF8.self).contains("message:unavailable"))
            #expect(last.suffix(4) == [0x88, 2, 0x03, 0xE8])
            #expect(await daemon.ended().status == 0)
        }
    }
}

/// Takes frames, and writes them only when it is told to.
private final class StalledNetwork: ChannelOutboundHandler {
    typealias OutboundIn = WebSocketFrame
    private var waiting: [(frame: WebSocketFrame, promise: EventLoopPromise<Void>?)] = []

    var frames: [WebSocketFrame] { waiting.map(\.frame) }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        waiting.append((unwrapOutboundIn(data), promise))
    }

    func take() {
        let written = waiting
        waiting = []
        for (_, promise) in written { promise?.succeed() }
    }
}
