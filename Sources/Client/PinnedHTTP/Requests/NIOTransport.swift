// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix

/// HTTPS to one server through a ``PinnedConnector``: HTTP/2 if the server supports it, otherwise HTTP/1.1. Every wait has a
/// limit.
///
/// Connections are kept between requests that may safely be sent twice: one with HTTP/2, which carries many requests at a time,
/// or a few with HTTP/1.1.
public final class NIOTransport: HTTPTransport {
    private let address: ServerAddress
    private let deadlines: ConnectionDeadlines
    private let way: Way
    private let pool = ConnectionPool()

    /// A transport to a server.
    public init(
        to address: ServerAddress, through connector: PinnedConnector, deadlines: ConnectionDeadlines = .standard
    ) {
        self.address = address
        way = .pinned(connector)
        self.deadlines = deadlines
    }

    /// How connections are opened.
    private enum Way {
        case pinned(PinnedConnector)
        case plain
    }

    /// A transport over plain HTTP.
    ///
    /// Security: use it only for files that authenticate themselves, such as those of a log: an attacker on the path can
    /// withhold them, and read them.
    public init(overPlainHTTPTo address: ServerAddress, deadlines: ConnectionDeadlines = .standard) {
        self.address = address
        way = .plain
        self.deadlines = deadlines
    }

    /// Sends a request and waits for the whole answer, over a kept connection if that is safe.
    ///
    /// - Throws: ``TransportError``.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let kept = request.mayRepeat ? pool.take() : nil
        let eventLoop = kept?.channel.eventLoop ?? MultiThreadedEventLoopGroup.singleton.next()
        return try await withTaskExecutorPreference(EventLoopExecutor(eventLoop)) { () async throws(TransportError) in
            try await exchange(request, kept, eventLoop)
        }
    }

    private func exchange(
        _ request: TransportRequest, _ kept: HTTPConnection?, _ eventLoop: any EventLoop
    ) async throws(TransportError) -> TransportResponse {
        if let kept {
            do { return try await answer(to: request, over: kept) } catch  where error == .closedEarly {
                // The server had closed the kept connection; the result on a new connection decides.
            }
        }
        return try await answer(to: request, over: try await connect(on: eventLoop))
    }

    private func connect(on eventLoop: any EventLoop) async throws(TransportError) -> HTTPConnection {
        let deadlines = deadlines
        switch way {
        case .pinned(let connector):
            return try await connector.connect(
                to: address, offering: ApplicationProtocols.requests, on: eventLoop, deadlines: deadlines
            ) { channel, negotiated in try HTTPConnection(channel, negotiated, deadlines) }
        case .plain:
            do {
                let channel = try await ClientBootstrap(group: eventLoop)
                    .connectTimeout(TimeAmount(deadlines.connect))
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: address.host, port: address.port).get()
                return try await channel.eventLoop.submit { try HTTPConnection(channel, nil, deadlines) }.get()
            } catch { throw TransportError(error) }
        }
    }

    private func answer(
        to request: TransportRequest, over connection: HTTPConnection
    ) async throws(TransportError) -> TransportResponse {
        do {
            let channel = try await connection.exchangeChannel()
            let exchange = Exchange(
                request, authority: address.authority, promise: channel.eventLoop.makePromise())
            // A channel that has closed meanwhile has no handler left to answer.
            channel.writeAndFlush(exchange).whenFailure { _ in exchange.promise.fail(TransportError.closedEarly) }
            let answer = try await withTaskCancellationHandler {
                try await exchange.promise.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
            if connection.isShared || answer.isReusable { pool.keep(connection) } else { connection.close() }
            return answer.response
        } catch {
            let error = TransportError(error)
            // An error in one answer ends only its own stream, not the others.
            if !(connection.isShared && error.concernsOneAnswer) { connection.close() }
            throw error
        }
    }
}
