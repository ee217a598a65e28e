// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOHTTP2
import Synchronization

/// A connection that carries requests: one at a time with HTTP/1.1, many with HTTP/2.
struct HTTPConnection: Sendable {
    let channel: any Channel
    private let streams: NIOHTTP2Handler.StreamMultiplexer?
    private let deadlines: ConnectionDeadlines

    /// Sets up a pipeline behind TLS, on its event loop.
    init(_ channel: any Channel, _ negotiated: String?, _ deadlines: ConnectionDeadlines) throws {
        self.channel = channel
        self.deadlines = deadlines
        let pipeline = channel.pipeline.syncOperations
        guard negotiated == "h2" else {
            streams = nil
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(ExchangeHandler(deadlines))
            return
        }
        streams = try pipeline.configureHTTP2Pipeline(
            mode: .client, connectionConfiguration: .init(), streamConfiguration: .init()
        ) { pushed in pushed.close() }
        try pipeline.addHandler(ConnectionErrorHandler())
    }

    /// Whether the connection carries many requests at a time.
    var isShared: Bool { streams != nil }
    var isActive: Bool { channel.isActive }
    func close() { channel.close(promise: nil) }

    /// The channel for one exchange.
    func exchangeChannel() async throws -> any Channel {
        guard let streams else { return channel }
        let deadlines = deadlines
        return try await streams.createStreamChannel { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers(
                    HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https), ExchangeHandler(deadlines))
            }
        }.get()
    }
}

/// Closes an HTTP/2 connection that fails; its streams notice.
private final class ConnectionErrorHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Idle connections between requests.
final class ConnectionPool: Sendable {
    private static let maximumIdleCount = 4
    private let kept = Mutex<[HTTPConnection]>([])

    deinit { kept.withLock { $0.forEach { $0.close() } } }

    /// An open connection; a shared connection also remains in the pool.
    func take() -> HTTPConnection? {
        kept.withLock { kept in
            kept.removeAll { !$0.isActive }
            guard let connection = kept.last(where: \.isShared) ?? kept.last else { return nil }
            if !connection.isShared { kept.removeAll { $0.channel === connection.channel } }
            return connection
        }
    }

    func keep(_ connection: HTTPConnection) {
        let surplus = kept.withLock { kept -> HTTPConnection? in
            guard !kept.contains(where: { $0.channel === connection.channel }) else { return nil }
            kept.append(connection)
            return kept.count > Self.maximumIdleCount ? kept.removeFirst() : nil
        }
        // A shared connection that is crowded out may be carrying answers; it closes when they end.
        if let surplus, !surplus.isShared { surplus.close() }
    }
}
