// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore
import NIOHTTP2

/// Closes a connection of HTTP/2 on which no request is open for too long, or after an error of the whole connection.
///
/// A request that is open has deadlines of its own. A client that answers neither GOAWAY nor PING is not waited for.
final class StreamDeadline: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let limits: ServerLimits
    private let socket: SocketHandler
    private let report: (Limit) -> Void
    private var openCount = 0
    private var timer: Scheduled<Void>?

    /// A deadline that begins when the handler is added, behind the handler of HTTP/2.
    ///
    /// - Parameter report: is told of the limit that ends the connection.
    init(_ limits: ServerLimits, socket: SocketHandler, report: @escaping (Limit) -> Void) {
        self.limits = limits
        self.socket = socket
        self.report = report
    }

    func handlerAdded(context: ChannelHandlerContext) {
        wait(limits.firstHead, .headTime, context.eventLoop)
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    /// NIOHTTP2 has said why by then.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !(error is NIOHTTP2Errors.StreamError) else { return }
        context.close(promise: nil)
        socket.close(after: DeadlineHandler.farewell)
    }

    /// A client has opened a stream.
    func opened() {
        openCount += 1
        timer?.cancel()
    }

    /// A stream has ended.
    func closed(_ loop: any EventLoop) {
        openCount -= 1
        if openCount == 0 { wait(limits.idle, .idleTime, loop) }
    }

    private func wait(_ time: Duration, _ limit: Limit, _ loop: any EventLoop) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        timer = loop.scheduleTask(in: TimeAmount(time)) {
            bound.value.report(limit)
            bound.value.socket.close()
        }
    }
}

/// Tells a connection's handlers of its streams.
struct StreamCount: NIOHTTP2StreamDelegate {
    let deadline: NIOLoopBound<StreamDeadline>
    let stopping: any NIOHTTP2StreamDelegate

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
        deadline.value.opened()
        stopping.streamCreated(id, channel: channel)
    }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
        deadline.value.closed(channel.eventLoop)
        stopping.streamClosed(id, channel: channel)
    }
}
