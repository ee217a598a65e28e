// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import NIOCore
import NIOTLS

/// Waits until TLS is established, then sets up the pipeline and removes itself; or reports why TLS was not established.
final class HandshakeHandler<Value: Sendable>: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let judge: ConnectionJudge
    private let deadline: Duration
    private let promise: EventLoopPromise<Value>
    private let configure: @Sendable (any Channel, String?) throws -> Value
    private var alarm: Scheduled<Void>?

    init(
        _ judge: ConnectionJudge, _ deadline: Duration, _ promise: EventLoopPromise<Value>,
        _ configure: @escaping @Sendable (any Channel, String?) throws -> Value
    ) {
        self.judge = judge
        self.deadline = deadline
        self.promise = promise
        self.configure = configure
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        alarm = context.eventLoop.scheduleTask(in: TimeAmount(deadline)) {
            let (handler, context) = bound.value
            handler.fail(.timedOut(.handshake), context)
        }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard case .handshakeCompleted(let negotiated) = event as? TLSUserEvent else { return }
        alarm?.cancel()
        guard judge.verdict != nil else { return fail(.handshakeFailed, context) }
        do {
            promise.succeed(try configure(context.channel, negotiated))
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch { fail(TransportError(error), context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closedInHandshake, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let failure = TransportError(error)
        fail(failure == .closedEarly ? .closedInHandshake : failure, context)
    }

    private func fail(_ error: TransportError, _ context: ChannelHandlerContext) {
        alarm?.cancel()
        promise.fail(judge.refusal.map { .refused($0) } ?? error)
        context.close(promise: nil)
    }
}
