// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL
import NIOTLS

/// An accepted connection: counted, under TLS if there is an identity, with bounded headers and deadlines, then HTTP/2 if the client
/// offers it in the handshake, and HTTP/1.1 otherwise.
struct SecureChannel: ServerChildChannel {
    /// A connection's requests, once it is known in which version they come.
    struct Value: ServerChildChannelValue {
        fileprivate typealias Version = NIONegotiatedHTTPVersion<HTTP1Channel.Value, RequestStreams>

        let channel: any Channel
        fileprivate let version: EventLoopFuture<Version>
    }

    /// The streams that a client opens on a connection of HTTP/2, each for one request.
    fileprivate typealias RequestStreams = NIOHTTP2Handler.AsyncStreamMultiplexer<HTTP1Channel.Value>

    let tls: ServerTLS?
    let limits: ServerLimits
    let ledger: ConnectionLedger
    let metrics: ServerMetrics
    private let http: HTTP1Channel
    private let streams: HTTP1Channel
    let ready: ReadyAnswers?
    private let rate: RateLimiter<ClientAddress>
    private let clock: ServerClock

    /// - Parameters:
    ///   - responder: answers the requests of HTTP/1.1, and may take a connection over.
    ///   - streamResponder: answers those of HTTP/2; nil: the same.
    init(
        tls: ServerTLS?, limits: ServerLimits, ledger: ConnectionLedger, metrics: ServerMetrics,
        clock: ServerClock = .system, ready: ReadyAnswers? = nil, responder: @escaping HTTPChannelHandler.Responder,
        streamResponder: HTTPChannelHandler.Responder? = nil
    ) {
        self.tls = tls
        self.limits = limits
        self.ledger = ledger
        self.metrics = metrics
        self.clock = clock
        self.ready = ready
        rate = RateLimiter(limits.connectionRate, remembering: limits.rememberedClients)
        http = HTTP1Channel(
            responder: responder,
            configuration: .init(
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headerByteCount, maxHeaderListSize: limits.headerByteCount,
                    maxHeaderFieldCount: limits.headerCount)))
        streams = HTTP1Channel(responder: streamResponder ?? responder)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = ClientAddress(channel.remoteAddress)
        let isTooSoon = rate.take(of: address, at: clock.uptime()) != nil
        if let limit = isTooSoon ? .connectionRate : ledger.open(address) {
            metrics.refused(limit)
            return channel.close(mode: .all).flatMapThrowing { throw TooManyConnections() }
        }
        metrics.connectionOpened()
        channel.closeFuture.whenComplete { [ledger, metrics] _ in
            ledger.close(address)
            metrics.connectionClosed()
        }
        return channel.eventLoop.makeCompletedFuture {
            let socket = SocketHandler()
            try channel.pipeline.syncOperations.addHandler(socket)
            return Value(
                channel: channel,
                version: try negotiated(channel, NIOLoopBound(socket, eventLoop: channel.eventLoop), address, logger))
        }
    }

    func handle(value: Value, logger: Logger) async {
        switch try? await value.version.get() {
        case .http1_1(let connection): await http.handle(value: connection, logger: logger)
        case .http2(let connection):
            // What ends the connection ends its streams; each says what became of it.
            try? await withThrowingDiscardingTaskGroup { group in
                for try await stream in connection.inbound {
                    group.addTask { await streams.handle(value: stream, logger: logger) }
                }
            }
            try? await value.channel.close()
        case nil: break
        }
    }

    private func negotiated(
        _ channel: any Channel, _ socket: NIOLoopBound<SocketHandler>, _ address: ClientAddress, _ logger: Logger
    ) throws -> EventLoopFuture<Value.Version> {
        guard let tls else { return http1(channel, address, logger) }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(
            NIOSSLServerHandler(context: tls.context, customVerificationCallback: nil, configuration: .init()))
        try pipeline.addHandler(
            HandshakeDeadline(TimeAmount(limits.handshake), socket: socket.value) { [metrics] in
                metrics.refused(.handshakeTime)
            })
        let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Value.Version> { result, channel in
            guard case .negotiated("h2") = result else { return http1(channel, address, logger) }
            return channel.eventLoop.makeCompletedFuture {
                .http2(try http2(channel, socket, address, logger))
            }
        }
        try pipeline.addHandler(negotiation)
        return negotiation.protocolNegotiationResult
    }

    private func http1(
        _ channel: any Channel, _ address: ClientAddress, _ logger: Logger
    ) -> EventLoopFuture<Value.Version> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let deadlines = try channel.pipeline.syncOperations.addDeadlines(
                ConnectionProgress.Times(limits), from: tls == nil ? .accepted : .secured
            ) { [metrics] limit in
                metrics.refused(limit)
            }
            if let ready {
                try channel.pipeline.syncOperations.addHandler(
                    ReadyAnswerHandler(ready, for: address), position: .after(deadlines))
            }
            return .http1_1(value)
        }
    }
}
