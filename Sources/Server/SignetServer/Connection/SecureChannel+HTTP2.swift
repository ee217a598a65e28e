// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypesHTTP1

/// HTTP/2 on a connection that is set up: each stream is a request with the deadlines that one of HTTP/1.1 has.
///
/// Security: of the limits of RFC 9113, section 10.5, NIOHTTP2 sets those for floods of RST_STREAM, PING, SETTINGS, PRIORITY,
/// CONTINUATION and empty DATA, and for what is written and not taken. A stream that breaks a deadline ends its whole connection.
extension SecureChannel {
    /// The requests of a connection that wait for an answer, or are worked on after the client took them back, at once.
    static let maximumStreamCount = 32

    /// - Parameter socket: of the connection.
    func http2(
        _ channel: any Channel, _ socket: NIOLoopBound<SocketHandler>, _ client: ConnectionClient
    ) throws -> NIOHTTP2Handler.AsyncStreamMultiplexer<RequestStream> {
        let lifetime = HTTP2Lifetime(limits, socket: socket.value) { [metrics] limit in metrics.refused(limit) }
        let bound = NIOLoopBound(lifetime, eventLoop: channel.eventLoop)
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.maximumStreamCount),
            HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headerByteCount),
            // Nothing that a client sends is remembered between its requests.
            HTTP2Setting(parameter: .headerTableSize, value: 0),
        ]
        // Some clients reset each stream whose answer they have, curl 7.88 for one: as many as they may ask for at once and a second.
        var streams = NIOHTTP2Handler.StreamConfiguration()
        streams.streamResetFrameRateLimit.maximumCount = 500
        streams.streamResetFrameRateLimit.windowLength = .seconds(1)
        let multiplexer = try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: StreamCount(lifetime: bound), frameDelegate: lifetime,
            configuration: .init(connection: connection, stream: streams)
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try bound.value.admit(stream)
                return try request(stream, socket.value, client)
            }
        }
        try channel.pipeline.syncOperations.addHandler(lifetime)
        return multiplexer
    }

    private func request(
        _ stream: any Channel, _ socket: SocketHandler, _ client: ConnectionClient
    ) throws -> RequestStream {
        let pipeline = stream.pipeline.syncOperations
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try pipeline.addHandler(
            DeadlineHandler(ConnectionProgress.Times(limits), from: .stream, socket: socket) { [metrics] limit in
                metrics.refused(limit)
            })
        try pipeline.addHandler(FieldLimitHandler(limits))
        if let ready { try pipeline.addHandler(ReadyAnswerHandler(ready, for: client)) }
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: true))
        return RequestStream(try HTTP1Channel.Value(wrappingChannelSynchronously: stream))
    }
}

/// Refuses a request with more header fields, or longer ones, than the decoder of HTTP/1.1 takes.
///
/// The limit in SETTINGS holds only once the client has acknowledged it, and says nothing of the number of fields.
private final class FieldLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let limits: ServerLimits
    private var isRefused = false

    init(_ limits: ServerLimits) { self.limits = limits }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), isOver(head) { refuse(context) }
        if !isRefused { context.fireChannelRead(data) }
    }

    private func isOver(_ head: HTTPRequestHead) -> Bool {
        let byteCount = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return head.headers.count > limits.headerCount || byteCount > limits.headerByteCount
    }

    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        let head = HTTPResponseHead(version: .http2, status: .badRequest, headers: ["content-length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        // Whatever else the client sends on the stream is not read.
        context.close(promise: nil)
    }
}
