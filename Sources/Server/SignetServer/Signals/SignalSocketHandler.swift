// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import ConnectionLimits
import NIOCore
import NIOWebSocket
import SignalBroker

/// A WebSocket between a device and what carries its signals. STOMP is a stream to it: how the client cuts its frames into messages, and those
/// into fragments, means nothing.
final class SignalSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let exchange: any SignalExchange
    private let device: CallDevice
    private let account: Int64
    private let socket: SocketHandler
    private var line: (any SignalLine)?
    private var isInMessage = false
    private var isClosing = false
    private var pongs = Pongs()

    init(_ exchange: any SignalExchange, _ device: CallDevice, of account: Int64, _ socket: SocketHandler) {
        self.exchange = exchange
        self.device = device
        self.account = account
        self.socket = socket
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let sink = SocketSink(NIOLoopBound((self, context), eventLoop: context.eventLoop))
        line = exchange.connect(device, of: account, to: sink)
    }

    func handlerRemoved(context: ChannelHandlerContext) { drop() }

    func channelInactive(context: ChannelHandlerContext) {
        drop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard !isClosing else { return }
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return close(.protocolError, context) }
        switch frame.opcode {
        case .text, .binary, .continuation:
            guard (frame.opcode == .continuation) == isInMessage else { return close(.protocolError, context) }
            isInMessage = !frame.fin
            line?.receive(Array(frame.unmaskedData.readableBytesView))
        case .ping: if line?.charge() == true { answer(ping: frame.unmaskedData, context) }
        case .pong: return
        case .connectionClose: close(.normalClosure, context)
        default: close(.protocolError, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: line?.refuse(.unavailable)
        case ChannelEvent.inputClosed: close(.normalClosure, context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The handler before this one has answered errors of the protocol; any error ends the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        isClosing = true
        end()
        socket.close(after: DeadlineHandler.farewell)
        if !(error is NIOWebSocketError) { context.close(promise: nil) }
    }

    /// Sends bytes of the broker, which bounds how many there are.
    func send(_ delivery: BrokerDelivery, _ context: ChannelHandlerContext) {
        guard !isClosing, let line else { return }
        var bytes = context.channel.allocator.buffer(capacity: delivery.byteCount)
        for piece in delivery.pieces { bytes.writeBytes(piece) }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { [count = delivery.byteCount] _ in line.noteWritten(count) }
        let frame = WebSocketFrame(fin: true, opcode: .binary, data: bytes)
        context.writeAndFlush(wrapOutboundOut(frame), promise: written)
    }

    /// At most one answer is on its way, and at most one waits: the newest.
    ///
    /// Spec: RFC 6455, section 5.5.3.
    private func answer(ping data: ByteBuffer, _ context: ChannelHandlerContext) {
        guard let pong = pongs.due(data) else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        written.futureResult.whenSuccess {
            let (handler, context) = bound.value
            if let next = handler.pongs.written(), !handler.isClosing { handler.answer(ping: next, context) }
        }
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: pong)), promise: written)
    }

    /// Ends the connection without waiting for what is on its way.
    func cut() {
        isClosing = true
        drop()
        socket.close()
    }

    func close(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        var reason = ByteBuffer()
        reason.write(webSocketErrorCode: code)
        write(.connectionClose, reason, context)
        end()
        socket.close(after: DeadlineHandler.farewell)
        context.close(promise: nil)
    }

    private func write(_ opcode: WebSocketOpcode, _ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: bytes)), promise: nil)
    }

    /// Nothing more is said or heard; what was sent is still on its way.
    private func end() { line?.close() }

    private func drop() {
        line?.drop()
        line = nil
    }
}

/// Which answers to pings are due: of many at once, the newest.
struct Pongs {
    private var isOnItsWay = false
    private var waiting: ByteBuffer?

    /// What to send now about a ping; nil if one is on its way.
    mutating func due(_ data: ByteBuffer) -> ByteBuffer? {
        guard isOnItsWay else {
            isOnItsWay = true
            return data
        }
        waiting = data
        return nil
    }

    /// One was written; returns the ping that is to be answered next.
    mutating func written() -> ByteBuffer? {
        isOnItsWay = false
        defer { waiting = nil }
        return waiting
    }
}

/// Hands the hub's bytes to the connection's event loop, where they keep their order.
private struct SocketSink: SignalSink {
    private let bound: NIOLoopBound<(SignalSocketHandler, ChannelHandlerContext)>
    private let loop: any EventLoop

    init(_ bound: NIOLoopBound<(SignalSocketHandler, ChannelHandlerContext)>) {
        self.bound = bound
        loop = bound.eventLoop
    }

    func send(_ delivery: BrokerDelivery) {
        loop.execute {
            let (handler, context) = bound.value
            handler.send(delivery, context)
        }
    }

    func cut() { loop.execute { bound.value.0.cut() } }

    func close() {
        loop.execute {
            let (handler, context) = bound.value
            handler.close(.normalClosure, context)
        }
    }
}
