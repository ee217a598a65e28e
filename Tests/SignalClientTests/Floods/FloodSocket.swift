// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import KeyTransparency
import NIOCore
import NIOPosix
import NIOSSL
import PinnedHTTP
import STOMP
import SignetAPI
import SignetClient
import Synchronization
import TransparencyLog

/// A device's WebSocket to the broker, under TLS, that sends any bytes and reads only while it is told to.
final class FloodSocket: Sendable {
    private let channel: any Channel
    private let received: ReceivedBytes

    struct NotOpened: Error {}

    /// Opens a WebSocket as a device that signs the request for it.
    init(_ person: TestDevice, at profile: DirectoryProfile) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: profile.tlsRoot, format: .der)])
        let (context, received) = (try NIOSSLContext(configuration: configuration), ReceivedBytes())
        let address = try ServerAddress(profile.url)
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // A small buffer, so that a client that reads nothing takes few bytes.
            .channelOption(.socketOption(.so_rcvbuf), value: 16_384)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: address.host), FloodReader(received))
                }
            }
            .connect(host: "127.0.0.1", port: address.port).get()
        self.received = received
        try await write(Array(try Self.request(of: person, at: profile).utf8))
        guard await hear("\r\n\r\n") == "\r\n\r\n", received.text.hasPrefix("HTTP/1.1 101 ") else {
            throw NotOpened()
        }
    }

    private static func request(of person: TestDevice, at profile: DirectoryProfile) throws -> String {
        guard let origin = profile.trust.policy.logs.first?.name.bytes else { throw NotOpened() }
        let content = RequestSignature.Content(method: "GET", path: RelayAddress.path, origin: origin, body: [])
        var generator = SystemRandomNumberGenerator()
        let signature = try RequestSignature(
            content, deviceKey: person.secrets.keys.signing, time: UInt64(Date().timeIntervalSince1970),
            nonce: (0..<16).map { _ in .random(in: 0...255, using: &generator) }, sign: person.secrets.sign)
        return """
            GET \(RelayAddress.path) HTTP/1.1\r
            Host: localhost\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Protocol: \(RelayAddress.subprotocol)\r
            \(RequestSignature.headerName): \(String(decoding: signature.headerValue, as: UTF8.self))\r
            \r\n
            """
    }

    /// A connection that has said CONNECT and heard CONNECTED.
    static func connected(_ person: TestDevice, at profile: DirectoryProfile) async throws -> FloodSocket {
        let socket = try await FloodSocket(person, at: profile)
        try await socket.send(
            .connect, [StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader("host", Array("localhost".utf8))])
        guard await socket.hear("CONNECTED") != nil else { throw NotOpened() }
        return socket
    }

    /// Sends a STOMP frame in one message.
    func send(_ command: StompCommand, _ headers: [StompHeader], body: [UInt8] = []) async throws {
        try await write(Self.message(0x82, try StompFrame(command, headers, body: body).encoded))
    }

    func carryOut(_ act: CallAct) async throws {
        try await send(.send, [StompHeader(.destination, act.destination)], body: act.body)
    }

    func subscribe(to route: RelayRoute, as name: String) async throws {
        try await send(
            .subscribe, [StompHeader(.destination, route.destination), StompHeader(.id, Array(name.utf8))])
    }

    /// Sends `count` pings of the greatest length at once.
    func ping(_ count: Int) async throws {
        let ping = Self.message(0x89, [UInt8](repeating: 7, count: 125))
        try await write((0..<count).flatMap { _ in ping })
    }

    /// Waits until the server has said one of these words; returns the one, or nil if it ends the connection first.
    func hear(_ words: String...) async -> String? {
        if let word = words.first(where: received.text.contains) { return word }
        for await _ in received.changes {
            if let word = words.first(where: received.text.contains) { return word }
        }
        return words.first(where: received.text.contains)
    }

    /// Waits until everything sent before was dealt with; returns whether the connection was not ended for it.
    func settle() async -> Bool {
        let name = UUID().uuidString
        try? await send(.begin, [StompHeader(.transaction, Array(name.utf8)), StompHeader(.receipt, Array(name.utf8))])
        return await hear(name, "ERROR") == name
    }

    /// Reads nothing from now on.
    func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

    func close() { channel.close(mode: .all, promise: nil) }

    private func write(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// A WebSocket frame whose mask is zeros.
    private static func message(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        let length: [UInt8] =
            count < 126
            ? [0x80 | UInt8(count)]
            : [0x80 | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
        return [first] + length + [0, 0, 0, 0] + payload
    }
}

/// The bytes that a connection has received.
private final class ReceivedBytes: Sendable {
    private let bytes = Mutex<[UInt8]>([])
    /// Yields when more bytes arrive; for one reader.
    let changes: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init() { (changes, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

    func append(_ more: [UInt8]) {
        bytes.withLock { $0 += more }
        report.yield()
    }

    func end() { report.finish() }
}

private final class FloodReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let received: ReceivedBytes

    init(_ received: ReceivedBytes) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.append(Array(unwrapInboundIn(data).readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) { received.end() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
