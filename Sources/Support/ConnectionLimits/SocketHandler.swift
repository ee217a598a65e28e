// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Stands below TLS and closes the socket without a farewell, for which TLS would wait five seconds.
package final class SocketHandler: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    private var context: ChannelHandlerContext?

    /// A handler, to be the first of a connection.
    package init() {}

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes the socket. Called on the connection's event loop.
    package func close() { context?.close(promise: nil) }

    /// Closes the socket if the other side's farewell has not come by then.
    package func close(after time: TimeAmount) {
        guard let loop = context?.eventLoop else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: time) { bound.value.close() }
    }
}
