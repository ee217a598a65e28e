// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS

/// An accepted connection: counted, under TLS if there is an identity, with bounded headers and deadlines, then HTTP/2 if the client
/// offers it in the handshake, and HTTP/1.1 otherwise.
///
/// One that a trusted proxy makes is counted for the client that the proxy names: under TLS by the header before the
/// handshake, without TLS in each request.
struct SecureChannel: ServerChildChannel {
    /// A connection, whose it is, and its requests once it is known in which version they come.
    struct Value: ServerChildChannelValue {
        fileprivate typealias Version = NIONegotiatedHTTPVersion<SerialRequests, RequestStreams>

        let channel: any Channel
        fileprivate let client: ConnectionClient
        fileprivate let version: EventLoopFuture<Version>
    }

    /// The requests of a connection of HTTP/1.1, and when the first of them needs a task.
    fileprivate struct SerialRequests {
        let channel: HTTP1Channel.Value
        let isWanted: EventLoopFuture<Void>
    }

    /// The streams that a client opens on a connection of HTTP/2, each for one request.
    fileprivate typealias RequestStreams = NIOHTTP2Handler.AsyncStreamMultiplexer<RequestStream>

    /// Answers a request.
    typealias Responder = @Sendable (Request, consuming ResponseWriter, RequestChannel) async throws -> Void

    let tls: ServerTLS?
    let limits: ServerLimits
    let ledger: ConnectionLedger
    let metrics: ServerMetrics
    let ready: ReadyAnswers?
    private let respond: Responder
    private let proxies: TrustedProxies
    private let rate: RateLimiter<ClientAddress>
    private let clock: ServerClock

    init(
        tls: ServerTLS?, limits: ServerLimits, ledger: ConnectionLedger, rate: RateLimiter<ClientAddress>? = nil,
        metrics: ServerMetrics,
        clock: ServerClock = .system, ready: ReadyAnswers? = nil, behind proxies: TrustedProxies = .none,
        responder respond: @escaping Responder
    ) {
        self.tls = tls
        self.limits = limits
        self.ledger = ledger
        self.metrics = metrics
        self.clock = clock
        self.ready = ready
        self.proxies = proxies
        self.respond = respond
        self.rate = rate ?? RateLimiter(limits.connectionRate, remembering: limits.rememberedClients)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let client = client(of: channel)
        let limit = if let counted = client.counted { admit(counted) } else { ledger.open(nil) }
        if let limit {
            metrics.refused(limit)
            return channel.close(mode: .all).flatMapThrowing { throw TooManyConnections() }
        }
        metrics.connectionOpened()
        channel.closeFuture.whenComplete { [ledger, metrics] _ in
            ledger.close(client.counted)
            metrics.connectionClosed()
        }
        return channel.eventLoop.makeCompletedFuture {
            let socket = SocketHandler()
            try channel.pipeline.syncOperations.addHandler(socket)
            let bound = NIOLoopBound(socket, eventLoop: channel.eventLoop)
            return Value(channel: channel, client: client, version: try negotiated(channel, bound, client, logger))
        }
    }

    func handle(value: Value, logger: Logger) async {
        switch try? await value.version.get() {
        case .http1_1(let connection):
            // In any case: NIO ends the process for an asynchronous channel that is let go of.
            _ = try? await connection.isWanted.get()
            await http(value.client, isStream: false).handle(value: connection.channel, logger: logger)
        case .http2(let connection):
            try? await answer(connection, http(value.client, isStream: true), logger)
            try? await value.channel.close()
        case nil: break
        }
    }

    /// Answers what comes on streams, no more at once than may be open: a request that its client has taken back is worked on still.
    ///
    /// What ends the connection ends its streams; each says what became of it.
    private func answer(_ connection: RequestStreams, _ http: HTTP1Channel, _ logger: Logger) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var runningCount = 0
            for try await stream in connection.inbound {
                if runningCount == Self.maximumStreamCount { try await group.next() } else { runningCount += 1 }
                group.addTask {
                    if let channel = stream.take() { await http.handle(value: channel, logger: logger) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func http(_ client: ConnectionClient, isStream: Bool) -> HTTP1Channel {
        HTTP1Channel(
            responder: { [respond] request, writer, channel in
                try await respond(
                    request, writer, RequestChannel(channel: channel, client: client, isStream: isStream))
            },
            configuration: .init(
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headerByteCount, maxHeaderListSize: limits.headerByteCount,
                    maxHeaderFieldCount: limits.headerCount)))
    }

    // MARK: Whose it is

    private func client(of channel: any Channel) -> ConnectionClient {
        let address = ClientAddress(channel.remoteAddress)
        guard proxies.contains(IPAddress(channel.remoteAddress)) || Self.isLocal(channel) else {
            return ConnectionClient(address)
        }
        return ConnectionClient(proxyAt: address, naming: tls == nil ? proxies : nil)
    }

    /// Whether it came over a Unix socket, which only a proxy on this machine can open.
    private static func isLocal(_ channel: any Channel) -> Bool {
        if case .unixDomainSocket = channel.localAddress { true } else { false }
    }

    /// Counts a connection of a client whose address is known.
    private func admit(_ address: ClientAddress) -> Limit? {
        rate.take(of: address, at: clock.uptime()) != nil ? .connectionRate : ledger.open(address)
    }

    /// Counts a connection that is open already for the client that its proxy names.
    private func admit(_ header: ProxyHeader, _ client: ConnectionClient) -> Limit? {
        guard case .client(let source) = header else { return nil }
        let address = ClientAddress(source)
        guard rate.take(of: address, at: clock.uptime()) == nil else { return .connectionRate }
        if let limit = ledger.name(address) { return limit }
        client.name(address)
        return nil
    }

    // MARK: Its version of HTTP

    private func negotiated(
        _ channel: any Channel, _ socket: NIOLoopBound<SocketHandler>, _ client: ConnectionClient, _ logger: Logger
    ) throws -> EventLoopFuture<Value.Version> {
        guard let tls else { return http1(channel, client, logger) }
        let pipeline = channel.pipeline.syncOperations
        if client.counted == nil {
            try pipeline.addHandler(
                ProxyHeaderHandler(socket.value, admit: { admit($0, client) }, report: metrics.refused))
        }
        try pipeline.addHandler(
            NIOSSLServerHandler(context: tls.context, customVerificationCallback: nil, configuration: .init()))
        try pipeline.addHandler(
            HandshakeDeadline(TimeAmount(limits.handshake), socket: socket.value) { [metrics] in
                metrics.refused(.handshakeTime)
            })
        let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Value.Version> { result, channel in
            guard case .negotiated("h2") = result else { return http1(channel, client, logger) }
            return channel.eventLoop.makeCompletedFuture { .http2(try http2(channel, socket, client)) }
        }
        try pipeline.addHandler(negotiation)
        return negotiation.protocolNegotiationResult
    }

    private func http1(
        _ channel: any Channel, _ client: ConnectionClient, _ logger: Logger
    ) -> EventLoopFuture<Value.Version> {
        http(client, isStream: false).setup(channel: channel, logger: logger).flatMapThrowing { value in
            let deadlines = try channel.pipeline.syncOperations.addDeadlines(
                ConnectionProgress.Times(limits), from: .secured
            ) { [metrics] limit in
                metrics.refused(limit)
            }
            let want = channel.eventLoop.makePromise(of: Void.self)
            let first = FirstWantHandler(want)
            try channel.pipeline.syncOperations.addHandler(first, position: .after(deadlines))
            if let ready {
                try channel.pipeline.syncOperations.addHandler(
                    ReadyAnswerHandler(ready, for: client, under: deadlines), position: .before(first))
            }
            return .http1_1(SerialRequests(channel: value, isWanted: want.futureResult))
        }
    }
}
