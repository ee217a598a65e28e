// SPDX-License-Identifier: Apache-2.0

package import NIOCore
import NIOTLS

/// Closes a connection whose TLS handshake takes too long, or has not ended when the server stops, and leaves the pipeline when the
/// handshake has ended.
package final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer

    private let time: TimeAmount
    private let socket: SocketHandler
    private let report: () -> Void
    private var timer: Scheduled<Void>?

    /// A deadline that begins when the handler is added, behind the handler of TLS.
    ///
    /// - Parameter report: is called when it ends the connection.
    package init(_ time: TimeAmount, socket: SocketHandler, report: @escaping () -> Void) {
        self.time = time
        self.socket = socket
        self.report = report
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: time) {
            bound.value.timer = nil
            bound.value.report()
            bound.value.socket.close()
        }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event {
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } else if event is ChannelShouldQuiesceEvent {
            socket.close()
        }
    }
}
