// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Says when a connection first needs the tasks that answer requests: for a request that is not answered from memory, for an event or
/// an error that they deal with, or because the connection has ended.
///
/// Until then it has only the task that Hummingbird gives each connection.
final class FirstWantHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private let want: EventLoopPromise<Void>

    /// - Parameter want: succeeds at the first of these; at the latest when the handler leaves the pipeline.
    init(_ want: EventLoopPromise<Void>) { self.want = want }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        want.succeed()
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        want.succeed()
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        want.succeed()
        context.fireErrorCaught(error)
    }

    func handlerRemoved(context: ChannelHandlerContext) { want.succeed() }
}
