// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOWebSocket
import Synchronization

/// Messages that have arrived and were not yet requested. While many are waiting, nothing more is read from the network.
final class MessageInbox: Sendable {
    private struct State {
        var waiting: [PinnedWebSocket.Message] = []
        var end: Result<Void, TransportError>?
        var reader: CheckedContinuation<Result<PinnedWebSocket.Message?, TransportError>, Never>?
    }

    private static let highWater = 16
    private let state = Mutex(State())
    private let channel: any Channel

    init(_ channel: any Channel) { self.channel = channel }

    func next() async throws(TransportError) -> PinnedWebSocket.Message? {
        let result = await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Result<PinnedWebSocket.Message?, TransportError>? in
                if !state.waiting.isEmpty { return .success(state.waiting.removeFirst()) }
                if let end = state.end { return end.map { nil } }
                guard state.reader == nil else { return .failure(.unknown) }
                state.reader = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
        setReading()
        return try result.get()
    }

    func put(_ message: PinnedWebSocket.Message) {
        let reader = state.withLock { state in
            guard let reader = state.reader else {
                state.waiting.append(message)
                return nil as CheckedContinuation<Result<PinnedWebSocket.Message?, TransportError>, Never>?
            }
            state.reader = nil
            return reader
        }
        reader?.resume(returning: .success(message))
        setReading()
    }

    /// Marks the end: no more messages will come.
    func finish(_ end: Result<Void, TransportError>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: end.map { nil })
    }

    private func setReading() {
        let isFull = state.withLock { $0.waiting.count >= Self.highWater }
        channel.setOption(ChannelOptions.autoRead, value: !isFull).whenFailure { _ in }
    }
}

/// Turns whole frames into messages, and answers pings and close frames.
final class MessageHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let inbox: MessageInbox

    init(_ inbox: MessageInbox) { self.inbox = inbox }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let bytes = Array(frame.unmaskedData.readableBytesView)
        switch frame.opcode {
        case .text where String(validating: bytes, as: UTF8.self) == nil: end(.malformedResponse, context)
        case .text: inbox.put(.text(bytes))
        case .binary: inbox.put(.binary(bytes))
        case .ping: context.writeAndFlush(wrapOutboundOut(.masked(.pong, bytes)), promise: nil)
        case .connectionClose:
            inbox.finish(.success(()))
            context.writeAndFlush(wrapOutboundOut(.masked(.connectionClose, bytes)), promise: nil)
            context.close(promise: nil)
        default: return
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbox.finish(.failure(.closedEarly))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge,
            NIOWebSocketFrameAggregator.Error.tooManyFragments:
            end(.tooLong(limit: PinnedWebSocket.maximumByteCount), context)
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error: end(.malformedResponse, context)
        default: end(TransportError(error), context)
        }
    }

    private func end(_ error: TransportError, _ context: ChannelHandlerContext) {
        inbox.finish(.failure(error))
        context.close(promise: nil)
    }
}

/// Keeps the answer to a WebSocket request, up to the length of a refusal. After an upgrade it removes itself.
final class UpgradeAnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var head: HTTPResponseHead?
    private var body: [UInt8] = []
    private var isComplete = false
    private var end: EventLoopPromise<Void>?

    /// The answer so far; nil before its first line. A body that is too long is left out.
    var response: TransportResponse? { head.map { TransportResponse($0, body: body) } }

    /// Waits until the answer is complete, or there will be no more of it.
    func completed(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        guard !isComplete else { return eventLoop.makeSucceededVoidFuture() }
        let end = end ?? eventLoop.makePromise()
        self.end = end
        return end.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            guard head.status != .switchingProtocols else {
                complete()
                context.fireChannelRead(data)
                return context.pipeline.syncOperations.removeHandler(self, promise: nil)
            }
        case .body(let bytes) where !isComplete:
            body += bytes.readableBytesView
            if body.count > ResponseLimit.refusal.maximumByteCount {
                body = []
                complete()
            }
        case .body: break
        case .end: complete()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        complete()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { complete() }

    private func complete() {
        isComplete = true
        end?.succeed()
        end = nil
    }
}

extension WebSocketFrame {
    /// A whole frame as a client sends it.
    static func masked(_ opcode: WebSocketOpcode, _ bytes: [UInt8]) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: ByteBuffer(bytes: bytes))
    }
}
