// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket through a ``PinnedConnector``, which carries STOMP.
///
/// Spec: RFC 6455.
public final class PinnedWebSocket: Sendable {
    /// A sub-protocol, identified by a name that the client and the server agree on.
    public struct Subprotocol: Hashable, Sendable {
        /// Its name, ASCII.
        public let name: String

        /// A sub-protocol with another name.
        public init(_ name: String) { self.name = name }

        /// STOMP 1.2.
        public static let stomp = Subprotocol("v12.stomp")
        /// The signalling of the Janus WebRTC server.
        public static let janus = Subprotocol("janus-protocol")
    }

    /// A whole message that is sent or received.
    public enum Message: Hashable, Sendable {
        /// UTF-8.
        case text([UInt8])
        /// Any bytes.
        case binary([UInt8])
    }

    /// The answer to the request for a WebSocket.
    public enum Opening: Sendable {
        /// It is open.
        case opened(PinnedWebSocket)
        /// The server does not open one; the body is empty if it is longer than a refusal.
        case refused(TransportResponse)
    }

    /// The longest message that either side may send, in bytes.
    public static let maximumByteCount = 1_048_576

    /// The negotiated sub-protocol; nil if none was offered.
    public let subprotocol: Subprotocol?
    private let channel: any Channel
    private let inbox: MessageInbox

    private init(_ channel: any Channel, _ inbox: MessageInbox, _ subprotocol: Subprotocol?) {
        self.channel = channel
        self.inbox = inbox
        self.subprotocol = subprotocol
    }

    deinit { channel.close(promise: nil) }

    /// Opens a WebSocket.
    ///
    /// - Parameters:
    ///   - path: the path from its first slash, with the query.
    ///   - offered: sub-protocols in order of preference; one of them must be chosen.
    ///   - fields: further header fields of the request.
    /// - Throws: ``TransportError``: ``TransportError/refused(_:)`` before any byte of the request is sent;
    ///   ``TransportError/notUpgraded(status:)``, ``TransportError/wrongSubprotocol``.
    public static func open(
        _ address: ServerAddress, path: String, offering offered: [Subprotocol] = [],
        fields: [TransportRequest.Field] = [], through connector: PinnedConnector,
        deadlines: ConnectionDeadlines = .standard
    ) async throws(TransportError) -> PinnedWebSocket {
        let opening = try await request(
            address, path: path, offering: offered, fields: fields, through: connector, deadlines: deadlines)
        switch opening {
        case .opened(let socket): return socket
        case .refused(let response): throw .notUpgraded(status: response.status)
        }
    }

    /// Asks for a WebSocket, as ``open(_:path:offering:fields:through:deadlines:)``, for callers that read why the server refuses.
    ///
    /// - Throws: ``TransportError``: ``TransportError/refused(_:)`` before any byte of the request is sent;
    ///   ``TransportError/wrongSubprotocol``.
    public static func request(
        _ address: ServerAddress, path: String, offering offered: [Subprotocol] = [],
        fields: [TransportRequest.Field] = [], through connector: PinnedConnector,
        deadlines: ConnectionDeadlines = .standard
    ) async throws(TransportError) -> Opening {
        var headers = HTTPHeaders([("host", address.authority), ("user-agent", "signet")])
        if !offered.isEmpty {
            headers.add(name: "sec-websocket-protocol", value: offered.map(\.name).joined(separator: ", "))
        }
        for field in fields { headers.add(name: field.name, value: field.value) }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
        let upgrade = try await connector.connect(
            to: address, offering: ApplicationProtocols.webSocket,
            on: MultiThreadedEventLoopGroup.singleton.next(), deadlines: deadlines
        ) { channel, _ in
            try start(head, offered, channel, deadlines)
        }
        do { return try await upgrade.get() } catch { throw TransportError(error) }
    }

    /// Sends a message; returns when it has been sent.
    ///
    /// - Throws: ``TransportError/closedEarly``; ``TransportError/tooLong(limit:)``, and then nothing is sent.
    public func send(_ message: Message) async throws(TransportError) {
        let (opcode, bytes) =
            switch message {
            case .text(let bytes): (WebSocketOpcode.text, bytes)
            case .binary(let bytes): (WebSocketOpcode.binary, bytes)
            }
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(limit: Self.maximumByteCount) }
        do { try await channel.writeAndFlush(WebSocketFrame.masked(opcode, bytes)) } catch {
            throw TransportError(error)
        }
    }

    /// The next message; nil if the server has closed in an orderly way. Only one reader at a time may call it.
    ///
    /// - Throws: ``TransportError/closedEarly``, ``TransportError/tooLong(limit:)``,
    ///   ``TransportError/malformedResponse``.
    public func receive() async throws(TransportError) -> Message? { try await inbox.next() }

    /// Sends a close frame and closes. If the server reads nothing more, or does not answer the close frame, the connection is
    /// abandoned after five seconds.
    public func close() async {
        var code = ByteBuffer()
        code.write(webSocketErrorCode: .normalClosure)
        // This is not awaited: data that the server does not read is never sent.
        channel.writeAndFlush(WebSocketFrame.masked(.connectionClose, Array(code.readableBytesView)), promise: nil)
        try? await channel.close()
    }

    /// Sends the request behind TLS, on the event loop.
    private static func start(
        _ head: HTTPRequestHead, _ offered: [Subprotocol], _ channel: any Channel, _ deadlines: ConnectionDeadlines
    ) throws -> EventLoopFuture<Opening> {
        let answer = UpgradeAnswerHandler()
        let bound = NIOLoopBound(answer, eventLoop: channel.eventLoop)
        let upgrader = NIOTypedWebSocketClientUpgrader<PinnedWebSocket>(
            maxFrameSize: maximumByteCount,
            upgradePipelineHandler: { channel, response in
                channel.eventLoop.makeCompletedFuture { try finish(response, offered, channel) }
            })
        var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
            upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                upgradeRequestHead: head, upgraders: [upgrader],
                notUpgradingCompletionHandler: { channel in
                    bound.value.completed(on: channel.eventLoop).flatMapThrowing { throw NotUpgraded() }
                }))
        configuration.leftOverBytesStrategy = .forwardBytes
        let pipeline = channel.pipeline.syncOperations
        let result = try pipeline.configureUpgradableHTTPClientPipeline(configuration: configuration)
        let next = try pipeline.handler(type: NIOTypedHTTPClientUpgradeHandler<PinnedWebSocket>.self)
        try pipeline.addHandler(answer, position: .before(next))
        let alarm = channel.eventLoop.scheduleTask(in: TimeAmount(deadlines.response)) { channel.close(promise: nil) }
        return result.always { result in
            alarm.cancel()
            if case .failure = result { channel.close(promise: nil) }
        }.map { .opened($0) }.flatMapErrorThrowing { error in
            guard let response = bound.value.response, !(error is TransportError) else { throw error }
            return .refused(response)
        }
    }

    private struct NotUpgraded: Error {}

    private static func finish(
        _ response: HTTPResponseHead, _ offered: [Subprotocol], _ channel: any Channel
    ) throws -> PinnedWebSocket {
        let chosen = response.headers["sec-websocket-protocol"].map { Subprotocol($0) }
        let isRight = offered.isEmpty ? chosen.isEmpty : chosen.count == 1 && offered.contains(chosen[0])
        guard isRight else { throw TransportError.wrongSubprotocol }
        let inbox = MessageInbox(channel)
        try channel.pipeline.syncOperations.addHandlers(
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1024,
                maxAccumulatedFrameSize: maximumByteCount), MessageHandler(inbox))
        return PinnedWebSocket(channel, inbox, chosen.first)
    }
}
