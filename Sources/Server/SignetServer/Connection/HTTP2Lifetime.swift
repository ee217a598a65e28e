// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore
import NIOHTTP2

/// Ends a connection of HTTP/2: when no request is open for too long, when the client has closed its side, after an error of the
/// whole connection, and, when the server stops, as soon as no request is open.
///
/// A request that is open has deadlines of its own. The client is waited for in nothing: it may acknowledge neither SETTINGS nor
/// PING, ignore GOAWAY, and leave its side open.
final class HTTP2Lifetime: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let limits: ServerLimits
    private let socket: SocketHandler
    private let report: (Limit) -> Void
    private var context: ChannelHandlerContext?
    private var openCount = 0
    private var lastStream = HTTP2StreamID.rootStream
    private var isStopping = false
    private var isBroken = false
    private var timer: Scheduled<Void>?

    /// Begins to wait for the first request when it is added, behind the handler of HTTP/2.
    ///
    /// - Parameter report: is told of the limit that ends the connection.
    init(_ limits: ServerLimits, socket: SocketHandler, report: @escaping (Limit) -> Void) {
        self.limits = limits
        self.socket = socket
        self.report = report
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        wait(limits.firstHead, .headTime, context.eventLoop)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: stop(context)
        // A connection of HTTP/1.1 may end after its last answer; one of HTTP/2 cannot be half open.
        case ChannelEvent.inputClosed: context.channel.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// An error of one stream, or one that the handler of HTTP/2 has told the client with GOAWAY: then nothing more comes of the
    /// connection, and nobody else would close it.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard isBroken || isStopping || !(error is any NIOHTTP2Error) else { return }
        context.channel.close(promise: nil)
    }

    /// TLS says farewell and waits for the client's; this waits no longer than ``DeadlineHandler/farewell``.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.close(mode: mode, promise: promise)
        socket.close(after: DeadlineHandler.farewell)
    }

    // MARK: Streams

    /// Refuses a stream of a client that has too many open already.
    ///
    /// The limit in SETTINGS holds only once the client has acknowledged it, which it may never do.
    ///
    /// - Throws: ``TooManyStreams`` if it is refused.
    func admit(_ stream: any Channel) throws {
        guard openCount >= SecureChannel.maximumStreamCount, let context else { return }
        if let id = try stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID) {
            context.writeAndFlush(
                wrapOutboundOut(HTTP2Frame(streamID: id, payload: .rstStream(.refusedStream))), promise: nil)
        }
        throw TooManyStreams()
    }

    /// A client has opened a stream.
    func opened(_ id: HTTP2StreamID) {
        openCount += 1
        lastStream = max(lastStream, id)
        timer?.cancel()
    }

    /// A stream has ended.
    func closed() {
        openCount -= 1
        guard openCount == 0, let context else { return }
        guard isStopping else { return wait(limits.idle, .idleTime, context.eventLoop) }
        // The end of the last answer is written, and flushed only after this.
        let channel = context.channel
        context.eventLoop.execute { channel.close(promise: nil) }
    }

    /// Tells the client which requests are answered still. Further ones are ignored, so that it can send them elsewhere.
    private func stop(_ context: ChannelHandlerContext) {
        guard !isStopping else { return }
        isStopping = true
        let goAway = HTTP2Frame.FramePayload.goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil)
        context.writeAndFlush(
            wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: goAway)), promise: nil)
        if openCount == 0 { context.channel.close(promise: nil) }
    }

    private func wait(_ time: Duration, _ limit: Limit, _ loop: any EventLoop) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        timer = loop.scheduleTask(in: TimeAmount(time)) {
            bound.value.report(limit)
            bound.value.socket.close()
        }
    }
}

extension HTTP2Lifetime: NIOHTTP2FrameDelegate {
    /// The handler of HTTP/2 writes GOAWAY with the reason just before it reports an error of the whole connection.
    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway(_, let reason, _) = frame.payload, reason != .noError { isBroken = true }
    }
}

/// Tells the lifetime of a connection of its streams.
struct StreamCount: NIOHTTP2StreamDelegate {
    let lifetime: NIOLoopBound<HTTP2Lifetime>

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { lifetime.value.opened(id) }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { lifetime.value.closed() }
}

/// A client has more streams open than it may.
struct TooManyStreams: Error {}
