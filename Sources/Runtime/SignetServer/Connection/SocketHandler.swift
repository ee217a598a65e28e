import NIOCore

/// Stands below TLS and closes the socket without a farewell, for which TLS would wait five seconds.
final class SocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes the socket. Called on the connection's event loop.
    func close() { context?.close(promise: nil) }

    /// Closes the socket if the other side's farewell has not come by then.
    func close(after time: TimeAmount) {
        guard let loop = context?.eventLoop else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: time) { bound.value.close() }
    }
}
