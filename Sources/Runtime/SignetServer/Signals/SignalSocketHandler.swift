import CallSignalling
import NIOCore
import NIOWebSocket
import SignalBroker

/// A WebSocket between a device and the hub. STOMP is a stream to it: how the client cuts its frames into messages, and those
/// into fragments, means nothing.
final class SignalSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// What may wait for a client that does not read, in bytes.
    private static let maximumPendingByteCount = 4 << 20

    private let hub: SignalHub
    private let device: CallDevice
    private let socket: SocketHandler
    private var session: SessionID?
    private var isInMessage = false
    private var isClosing = false
    private var pendingByteCount = 0

    init(_ hub: SignalHub, _ device: CallDevice, _ socket: SocketHandler) {
        self.hub = hub
        self.device = device
        self.socket = socket
    }

    func handlerAdded(context: ChannelHandlerContext) {
        session = hub.open(device, to: SocketSink(NIOLoopBound((self, context), eventLoop: context.eventLoop)))
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
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
            if let session { hub.receive(frame.unmaskedData.readableBytesView, on: session) }
        case .ping: write(.pong, frame.unmaskedData, context)
        case .pong: return
        case .connectionClose: close(.normalClosure, context)
        default: close(.protocolError, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: if let session { hub.refuse(session, .unavailable) }
        case ChannelEvent.inputClosed: close(.normalClosure, context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Errors of the protocol were answered by the handler before; whatever it is, it ends the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        isClosing = true
        end()
        socket.close(after: DeadlineHandler.farewell)
        if !(error is NIOWebSocketError) { context.close(promise: nil) }
    }

    /// Sends bytes of the broker.
    func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        pendingByteCount += bytes.count
        guard pendingByteCount <= Self.maximumPendingByteCount else { return socket.close() }
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in bound.value.pendingByteCount -= bytes.count }
        let frame = WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: bytes))
        context.writeAndFlush(wrapOutboundOut(frame), promise: written)
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

    private func end() {
        if let session { hub.close(session) }
        session = nil
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

    func send(_ bytes: [UInt8]) {
        loop.execute {
            let (handler, context) = bound.value
            handler.send(bytes, context)
        }
    }

    func close() {
        loop.execute {
            let (handler, context) = bound.value
            handler.close(.normalClosure, context)
        }
    }
}
