// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// A connection: counted, in all and of its address; TLS, then HTTP/1.1 with small headers, where each wait has an end
/// that no byte puts off.
struct SiteChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let tls: NIOSSLContext
    private let http: HTTP1Channel
    private let times: ConnectionProgress.Times
    private let ledger: ConnectionLedger
    private let rate: RateLimiter<ClientAddress>
    private let uptime: @Sendable () -> UInt64

    init(tls: NIOSSLContext, limits: SiteLimits, responder: @escaping HTTPChannelHandler.Responder) {
        self.tls = tls
        (times, uptime) = (limits.times, limits.uptime)
        ledger = ConnectionLedger(total: limits.connections, perAddress: limits.connectionsPerAddress)
        rate = RateLimiter(
            perSecond: limits.connectionsPerSecond, burst: limits.connectionBurst,
            remembering: SiteLimits.rememberedClients)
        http = HTTP1Channel(
            responder: responder,
            configuration: .init(
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8192, maxHeaderListSize: 8192, maxHeaderFieldCount: 32)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = ClientAddress(channel.remoteAddress)
        let isTooSoon = rate.take(of: address, at: uptime()) != nil
        guard !isTooSoon, ledger.open(address) == nil else {
            return channel.close(mode: .all).flatMapThrowing { throw TooManyConnections() }
        }
        channel.closeFuture.whenComplete { [ledger] _ in ledger.close(address) }
        return secure(channel).flatMap { http.setup(channel: channel, logger: logger) }
            .flatMapThrowing { value in
                try channel.pipeline.syncOperations.addDeadlines(times)
                return value
            }
    }

    func handle(value: Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }

    private func secure(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(SocketHandler())
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLServerHandler(context: tls, customVerificationCallback: nil, configuration: .init()))
        }
    }
}
