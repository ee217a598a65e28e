// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// An accepted connection: counted, under TLS if there is an identity, with bounded headers and deadlines, then
/// HTTP/1.1.
///
/// One that a trusted proxy makes is counted for the client that the proxy names: under TLS by the header before the
/// handshake, without TLS in each request.
struct SecureChannel: ServerChildChannel {
    /// A connection and whose it is.
    struct Value: ServerChildChannelValue {
        let http: HTTP1Channel.Value
        let client: ConnectionClient

        var channel: any Channel { http.channel }
    }

    /// Answers a request of a connection.
    typealias Responder =
        @Sendable (Request, consuming ResponseWriter, any Channel, ConnectionClient) async throws -> Void

    let tls: ServerTLS?
    let limits: ServerLimits
    let ledger: ConnectionLedger
    let metrics: ServerMetrics
    private let respond: Responder
    private let http: HTTP1Channel.Configuration
    private let proxies: TrustedProxies
    private let ready: ReadyAnswers?
    private let rate: RateLimiter<ClientAddress>
    private let clock: ServerClock

    init(
        tls: ServerTLS?, limits: ServerLimits, ledger: ConnectionLedger, metrics: ServerMetrics,
        clock: ServerClock = .system, ready: ReadyAnswers? = nil, behind proxies: TrustedProxies = .none,
        responding respond: @escaping Responder
    ) {
        self.tls = tls
        self.limits = limits
        self.ledger = ledger
        self.metrics = metrics
        self.clock = clock
        self.ready = ready
        self.proxies = proxies
        self.respond = respond
        rate = RateLimiter(limits.connectionRate, remembering: limits.rememberedClients)
        http = HTTP1Channel.Configuration(
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerByteCount, maxHeaderListSize: limits.headerByteCount,
                maxHeaderFieldCount: limits.headerCount))
    }

    /// A channel of a server that is behind no proxy.
    init(
        tls: ServerTLS?, limits: ServerLimits, ledger: ConnectionLedger, metrics: ServerMetrics,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.init(tls: tls, limits: limits, ledger: ledger, metrics: metrics) { request, writer, channel, _ in
            try await responder(request, writer, channel)
        }
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
        return secure(channel, client).flatMap { http(client).setup(channel: channel, logger: logger) }
            .flatMapThrowing { value in
                let deadlines = try channel.pipeline.syncOperations.addDeadlines(ConnectionProgress.Times(limits)) {
                    [metrics] limit in
                    metrics.refused(limit)
                }
                if let ready {
                    try channel.pipeline.syncOperations.addHandler(
                        ReadyAnswerHandler(ready, for: client), position: .after(deadlines))
                }
                return Value(http: value, client: client)
            }
    }

    func handle(value: Value, logger: Logger) async {
        await http(value.client).handle(value: value.http, logger: logger)
    }

    private func http(_ client: ConnectionClient) -> HTTP1Channel {
        HTTP1Channel(
            responder: { [respond] request, writer, channel in try await respond(request, writer, channel, client) },
            configuration: http)
    }

    private func client(of channel: any Channel) -> ConnectionClient {
        let address = ClientAddress(channel.remoteAddress)
        guard proxies.contains(IPAddress(channel.remoteAddress)) else { return ConnectionClient(address) }
        return ConnectionClient(proxyAt: address, naming: tls == nil ? proxies : nil)
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

    private func secure(_ channel: any Channel, _ client: ConnectionClient) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let socket = SocketHandler()
            try channel.pipeline.syncOperations.addHandler(socket)
            guard let tls else { return }
            if client.counted == nil {
                let header = ProxyHeaderHandler(socket, admit: { admit($0, client) }, report: metrics.refused)
                try channel.pipeline.syncOperations.addHandler(header)
            }
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLServerHandler(context: tls.context, customVerificationCallback: nil, configuration: .init()))
        }
    }
}
