// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypesHTTP1

/// HTTP/2 on a connection that is set up: each stream is a request with the deadlines that one of HTTP/1.1 has.
///
/// Security: the limits of RFC 9113, section 10.5, are NIOHTTP2's, at these values. A stream that breaks a deadline ends its whole connection.
extension SecureChannel {
    /// The requests of a client that wait for an answer at once.
    static let maximumStreamCount = 32

    /// - Parameter socket: of the connection.
    func http2(
        _ channel: any Channel, _ socket: NIOLoopBound<SocketHandler>, _ client: ConnectionClient
    ) throws -> NIOHTTP2Handler.AsyncStreamMultiplexer<HTTP1Channel.Value> {
        // Only ends connections in an orderly way when the server stops; it would wait for clients that do not answer.
        let stopping = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
        let deadline = StreamDeadline(limits, socket: socket.value) { [metrics] limit in metrics.refused(limit) }
        let streams = StreamCount(
            deadline: NIOLoopBound(deadline, eventLoop: channel.eventLoop), stopping: stopping.http2StreamDelegate)
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.maximumStreamCount),
            HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headerByteCount),
            // Nothing that a client sends is remembered between its requests.
            HTTP2Setting(parameter: .headerTableSize, value: 0),
        ]
        let multiplexer = try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: streams,
            configuration: .init(connection: connection, stream: .init())
        ) { stream in
            stream.eventLoop.makeCompletedFuture { try request(stream, socket.value, client) }
        }
        try channel.pipeline.syncOperations.addHandlers(stopping, deadline)
        return multiplexer
    }

    private func request(
        _ stream: any Channel, _ socket: SocketHandler, _ client: ConnectionClient
    ) throws -> HTTP1Channel.Value {
        let pipeline = stream.pipeline.syncOperations
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try pipeline.addHandler(
            DeadlineHandler(ConnectionProgress.Times(limits), from: .stream, socket: socket) { [metrics] limit in
                metrics.refused(limit)
            })
        if let ready { try pipeline.addHandler(ReadyAnswerHandler(ready, for: client)) }
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: true))
        return try HTTP1Channel.Value(wrappingChannelSynchronously: stream)
    }
}
