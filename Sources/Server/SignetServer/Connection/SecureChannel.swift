// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// An accepted connection: counted, under TLS if there is an identity, with bounded headers and deadlines, then
/// HTTP/1.1.
struct SecureChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let tls: ServerTLS?
    let limits: ServerLimits
    let ledger: ConnectionLedger
    let metrics: ServerMetrics
    let http: HTTP1Channel
    private let ready: ReadyAnswers?
    private let rate: RateLimiter<ClientAddress>
    private let clock: ServerClock

    init(
        tls: ServerTLS?, limits: ServerLimits, ledger: ConnectionLedger, metrics: ServerMetrics,
        clock: ServerClock = .system, ready: ReadyAnswers? = nil, responder: @escaping HTTPChannelHandler.Responder
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
        return secure(channel).flatMap { http.setup(channel: channel, logger: logger) }
            .flatMapThrowing { value in
                let deadlines = try channel.pipeline.syncOperations.addDeadlines(ConnectionProgress.Times(limits)) {
                    [metrics] limit in
                    metrics.refused(limit)
                }
                if let ready {
                    try channel.pipeline.syncOperations.addHandler(
                        ReadyAnswerHandler(ready, for: address), position: .after(deadlines))
                }
                return value
            }
    }

    func handle(value: Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }

    private func secure(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(SocketHandler())
            guard let tls else { return }
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLServerHandler(context: tls.context, customVerificationCallback: nil, configuration: .init()))
        }
    }
}
