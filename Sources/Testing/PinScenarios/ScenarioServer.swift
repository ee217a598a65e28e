// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import NIOWebSocket
import Synchronization

/// A TLS server on loopback that presents a scenario's chain, answers every request over HTTP/2 or HTTP/1.1, echoes
/// WebSockets, and remembers what it saw.
public final class ScenarioServer: Sendable {
    /// What a client let a server see.
    public struct Sighting: Hashable, Sendable {
        /// Method, a space and the path.
        public let request: String
        /// The `Authorization` field, if there was one.
        public let authorization: String?
        /// Whether it asked for a WebSocket.
        public let isWebSocket: Bool
    }

    /// How a server answers a WebSocket's offer of sub-protocols.
    public enum Subprotocol: Hashable, Sendable {
        /// With the first one.
        case firstOffered
        /// With this one, whether it was offered or not; nil for none.
        case always(String?)
    }

    /// Where it listens, on 127.0.0.1.
    public let port: Int
    private let channel: any Channel
    private let record: Record

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - scenario: whose chain it presents.
    ///   - port: 0 for any free one.
    ///   - subprotocol: what a WebSocket gets.
    ///   - onSighting: called for every request, on an event loop.
    /// - Throws: the network library's errors: the port is taken, or the key does not fit the chain.
    public init(
        _ scenario: PinScenario, port: Int = 0,
        subprotocol: Subprotocol = .firstOffered,
        onSighting: (@Sendable (Sighting) -> Void)? = nil
    ) async throws {
        let record = Record(onSighting)
        let context = try Self.context(scenario)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { child in
                record.opened(child)
                return child.eventLoop.makeCompletedFuture {
                    let negotiation = ApplicationProtocolNegotiationHandler { result, channel in
                        channel.eventLoop.makeCompletedFuture {
                            if case .negotiated("h2") = result { return try Self.configureHTTP2(channel, record) }
                            try Self.configureHTTP(channel, record, subprotocol)
                        }
                    }
                    try child.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), PlaintextCounter(record), negotiation)
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        self.port = channel.localAddress?.port ?? 0
        self.record = record
    }

    /// Every request so far.
    public var sightings: [Sighting] { record.state.withLock { $0.sightings } }
    /// How many connections were accepted so far.
    public var connectionCount: Int { record.state.withLock { $0.connectionCount } }
    /// One element for every connection that has ended since the server was started.
    public var endings: AsyncStream<Void> { record.endings }
    /// How many bytes came out of TLS so far: of requests, whole or not.
    public var plaintextByteCount: Int { record.state.withLock { $0.byteCount } }

    /// Tells the clients that are connected with HTTP/2 that no further request will be answered.
    public func goAway() async throws {
        let frame = HTTP2Frame(
            streamID: .rootStream, payload: .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil))
        for child in record.state.withLock({ $0.open }) { try await child.writeAndFlush(frame) }
    }

    /// Stops listening.
    public func stop() async { try? await channel.close() }

    private static func context(_ scenario: PinScenario) throws -> NIOSSLContext {
        let chain = try scenario.presented.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        let key = try NIOSSLPrivateKey(bytes: Array(scenario.keyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["h2", "http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func configureHTTP2(_ child: any Channel, _ record: Record) throws {
        _ = try child.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers(
                    HTTP2FramePayloadToHTTP1ServerCodec(), AnswerHandler(record))
            }
        }
    }

    private static func configureHTTP(
        _ child: any Channel, _ record: Record, _ subprotocol: Subprotocol
    ) throws {
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, head in
                record.note(head, isWebSocket: true)
                let offered = head.headers[canonicalForm: "sec-websocket-protocol"].map(String.init)
                let chosen =
                    switch subprotocol {
                    case .firstOffered: offered.first
                    case .always(let name): name
                    }
                let fields = chosen.map { HTTPHeaders([("sec-websocket-protocol", $0)]) } ?? HTTPHeaders()
                return channel.eventLoop.makeSucceededFuture(fields)
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(EchoHandler()) }
            })
        let handler = AnswerHandler(record)
        let bound = NIOLoopBound((child.pipeline.syncOperations, handler), eventLoop: child.eventLoop)
        try child.pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { _ in bound.value.0.removeHandler(bound.value.1, promise: nil) }
            ))
        try child.pipeline.syncOperations.addHandler(handler)
    }
}

/// What a server saw.
private final class Record: Sendable {
    struct State {
        var sightings: [ScenarioServer.Sighting] = []
        var byteCount = 0
        var connectionCount = 0
        var open: [any Channel] = []
    }

    let state = Mutex(State())
    let endings: AsyncStream<Void>
    private let ended: AsyncStream<Void>.Continuation
    private let onSighting: (@Sendable (ScenarioServer.Sighting) -> Void)?

    init(_ onSighting: (@Sendable (ScenarioServer.Sighting) -> Void)?) {
        self.onSighting = onSighting
        (endings, ended) = AsyncStream.makeStream()
    }

    func opened(_ child: any Channel) {
        state.withLock {
            $0.connectionCount += 1
            $0.open.append(child)
        }
        child.closeFuture.whenComplete { [self] _ in
            state.withLock { $0.open.removeAll { $0 === child } }
            ended.yield()
        }
    }

    func note(_ head: HTTPRequestHead, isWebSocket: Bool) {
        let sighting = ScenarioServer.Sighting(
            request: "\(head.method.rawValue) \(head.uri)", authorization: head.headers.first(name: "authorization"),
            isWebSocket: isWebSocket)
        state.withLock { $0.sightings.append(sighting) }
        onSighting?(sighting)
    }
}

/// Counts what comes out of TLS.
private final class PlaintextCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let record: Record

    init(_ record: Record) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        record.state.withLock { $0.byteCount += count }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Answers every request with `genuine`.
private final class AnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let record: Record

    init(_ record: Record) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): record.note(head, isWebSocket: false)
        case .body: return
        case .end:
            let body = ByteBuffer(string: "genuine\n")
            let headers = HTTPHeaders([
                ("content-type", "text/plain"), ("content-length", String(body.readableBytes)),
            ])
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers))),
                promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// Sends text back.
private final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            let answer = WebSocketFrame(fin: frame.fin, opcode: frame.opcode, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .connectionClose:
            let answer = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(answer)).assumeIsolated().whenComplete { _ in
                context.close(promise: nil)
            }
        default: return
        }
    }
}
