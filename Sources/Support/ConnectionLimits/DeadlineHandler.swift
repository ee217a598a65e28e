// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import NIOHTTP1
import NIOTLS

extension ChannelPipeline.SynchronousOperations {
    /// Limits how long each wait on an HTTP/1.1 server's connection may be. The pipeline has a ``SocketHandler`` and the request decoder already.
    ///
    /// - Parameters:
    ///   - start: whether a handshake is still to come.
    ///   - report: is told of the limit that ends the connection.
    /// - Throws: NIO's error if one of the two, or the response encoder, is missing.
    @discardableResult
    package func addDeadlines(
        _ times: ConnectionProgress.Times, from start: ConnectionProgress.Start = .accepted,
        report: @escaping (Limit) -> Void = { _ in }
    ) throws -> DeadlineHandler {
        let decoder = try handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let deadlines = DeadlineHandler(
            times, from: start, socket: try handler(type: SocketHandler.self),
            encoder: try context(handlerType: HTTPResponseEncoder.self), report: report)
        try addHandler(deadlines, position: .after(decoder))
        return deadlines
    }
}

/// Closes a connection that keeps the server waiting. Sits right behind the HTTP decoder, so that only whole
/// heads count as progress; on a stream of HTTP/2, behind what makes HTTP/1.1 of its frames.
package final class DeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    private let times: ConnectionProgress.Times
    private let start: ConnectionProgress.Start
    private let socket: SocketHandler
    private var encoder: ChannelHandlerContext?
    private let report: (Limit) -> Void
    private var progress: ConnectionProgress?
    private var timer: Scheduled<Void>?
    /// When the timer fires: at the connection's deadline, or before it.
    private var alarm: UInt64 = 0

    /// Deadlines that begin when the handler is added.
    ///
    /// - Parameters:
    ///   - socket: of the connection.
    ///   - encoder: what makes bytes of an answer; nil on a stream of HTTP/2.
    ///   - report: is told of the limit that ends the connection.
    package init(
        _ times: ConnectionProgress.Times, from start: ConnectionProgress.Start, socket: SocketHandler,
        encoder: ChannelHandlerContext? = nil,
        report: @escaping (Limit) -> Void
    ) {
        self.times = times
        self.start = start
        self.socket = socket
        self.encoder = encoder
        self.report = report
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let progress = ConnectionProgress(times, from: start, at: Self.now)
        self.progress = progress
        schedule(progress.deadline, context)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        encoder = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event {
            note(.handshakeCompleted, context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: note(.headRead, context)
        case .body: break
        case .end: note(.requestRead, context)
        }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let taken = promise ?? context.eventLoop.makePromise()
        noteAnswer(taken, context)
        context.write(data, promise: taken)
    }

    /// Writes the bytes of a whole answer, which the response encoder does not see: one buffer, and one record of TLS.
    ///
    /// - Returns: false on a stream of HTTP/2, which takes an answer in parts; then nothing is written.
    package func write(wholeAnswer bytes: @autoclosure () -> ByteBuffer) -> Bool {
        guard let encoder else { return false }
        let taken = encoder.eventLoop.makePromise(of: Void.self)
        noteAnswer(taken, encoder)
        encoder.writeAndFlush(NIOAny(IOData.byteBuffer(bytes())), promise: taken)
        return true
    }

    private func noteAnswer(_ taken: EventLoopPromise<Void>, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        taken.futureResult.whenSuccess {
            let (handler, context) = bound.value
            handler.note(.answerTaken, context)
        }
    }

    /// TLS says farewell and waits for the client's; this waits no longer than ``farewell``. A stream ends alone.
    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.close(mode: mode, promise: promise)
        guard case .all = mode, start != .stream else { return }
        socket.close(after: Self.farewell)
    }

    package static let farewell = TimeAmount.milliseconds(500)

    private func note(_ event: ConnectionProgress.Event, _ context: ChannelHandlerContext) {
        progress?.note(event, at: Self.now)
        guard let deadline = progress?.deadline, deadline < alarm, timer != nil else { return }
        timer?.cancel()
        schedule(deadline, context)
    }

    /// A timer is moved only if it would fire after the deadline; one that fires early is set again. So requests that follow each
    /// other at once share one timer.
    private func schedule(_ deadline: UInt64, _ context: ChannelHandlerContext) {
        alarm = deadline
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(deadline)) {
            let (handler, context) = bound.value
            handler.fire(context)
        }
    }

    private func fire(_ context: ChannelHandlerContext) {
        guard let progress else { return }
        guard let limit = progress.brokenLimit(at: Self.now) else {
            return schedule(progress.deadline, context)
        }
        timer = nil
        report(limit)
        socket.close()
    }

    private static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }
}
