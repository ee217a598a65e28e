// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOHTTP2
import Synchronization

/// A connection that carries requests: one at a time with HTTP/1.1, many with HTTP/2.
struct HTTPConnection: Sendable {
    let channel: any Channel
    private let shared: Shared?
    private let deadlines: ConnectionDeadlines

    /// What a connection of HTTP/2 has beside its channel.
    private struct Shared {
        let streams: NIOHTTP2Handler.StreamMultiplexer
        let lifetime: SharedLifetime
    }

    /// Sets up a pipeline behind TLS, on its event loop.
    init(_ channel: any Channel, _ negotiated: String?, _ deadlines: ConnectionDeadlines) throws {
        self.channel = channel
        self.deadlines = deadlines
        let pipeline = channel.pipeline.syncOperations
        guard negotiated == "h2" else {
            shared = nil
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(ExchangeHandler(deadlines))
            return
        }
        let lifetime = SharedLifetime(of: channel)
        let streams = try pipeline.configureHTTP2Pipeline(
            mode: .client, connectionConfiguration: .init(), streamConfiguration: .init(), streamDelegate: lifetime
        ) { pushed in pushed.close() }
        try pipeline.addHandler(SharedConnectionHandler(lifetime))
        shared = Shared(streams: streams, lifetime: lifetime)
    }

    /// Whether the connection carries many requests at a time.
    var isShared: Bool { shared != nil }
    /// Whether it takes further requests.
    var isActive: Bool { channel.isActive && shared?.lifetime.isEnding != true }
    func close() { channel.close(promise: nil) }

    /// Closes the connection once the requests that it carries are answered.
    func retire() { if let shared { shared.lifetime.end() } else { close() } }

    /// The channel for one exchange.
    func exchangeChannel() async throws -> any Channel {
        guard let shared else { return channel }
        let deadlines = deadlines
        return try await shared.streams.createStreamChannel { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers(
                    HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https), ExchangeHandler(deadlines))
            }
        }.get()
    }
}

/// When a connection of HTTP/2 is to end, and how many of its streams are open.
private final class SharedLifetime: NIOHTTP2StreamDelegate {
    private struct State {
        var openCount = 0
        var isEnding = false
    }

    private let channel: any Channel
    private let state = Mutex(State())

    init(of channel: any Channel) { self.channel = channel }

    /// Whether it takes no further requests.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Takes no further requests, and closes the connection when no stream is open.
    func end() { change { $0.isEnding = true } }

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { change { $0.openCount += 1 } }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { change { $0.openCount -= 1 } }

    private func change(_ body: (inout State) -> Void) {
        let isOver = state.withLock { state in
            body(&state)
            return state.isEnding && state.openCount == 0
        }
        // Later on the event loop, where what ended the last stream is still on its way to the one who asked.
        if isOver { channel.eventLoop.execute { [channel] in channel.close(promise: nil) } }
    }
}

/// Ends an HTTP/2 connection that the server gives up, and closes one that fails; its streams notice.
private final class SharedConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private let lifetime: SharedLifetime

    init(_ lifetime: SharedLifetime) { self.lifetime = lifetime }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .goAway = unwrapInboundIn(data).payload { lifetime.end() }
        context.fireChannelRead(data)
    }

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

    /// Keeps a connection: the first one that is shared, or a few that are not.
    func keep(_ connection: HTTPConnection) {
        let surplus = kept.withLock { kept -> HTTPConnection? in
            guard !kept.contains(where: { $0.channel === connection.channel }) else { return nil }
            if connection.isShared, kept.contains(where: { $0.isShared && $0.isActive }) { return connection }
            kept.append(connection)
            return kept.count > Self.maximumIdleCount ? kept.removeFirst() : nil
        }
        surplus?.retire()
    }
}
