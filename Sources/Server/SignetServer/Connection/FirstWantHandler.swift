// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Says when a connection first needs a task: for a request that is not answered from memory, or because it ends.
///
/// Until then it has none of the tasks and their stacks that answering takes, which are most of what we add to an idle one.
final class FirstWantHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private let want: EventLoopPromise<Void>

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

    func channelInactive(context: ChannelHandlerContext) {
        want.succeed()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { want.succeed() }
}
