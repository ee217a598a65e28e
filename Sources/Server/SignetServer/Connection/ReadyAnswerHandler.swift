// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore
import NIOHTTP1

/// Answers on the connection's own thread what needs no task, and passes everything else on.
///
/// A request is answered here only while no earlier one waits for its answer and the client takes what is written, so that
/// answers keep the order of their requests and none pile up.
final class ReadyAnswerHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request that may be answered here, until it has come to its end.
    private struct Held {
        let head: HTTPRequestHead
        let destination: Destination
        let client: ClientAddress
        let start: UInt64
        var body: [UInt8] = []
    }

    private let answers: ReadyAnswers
    private let client: ConnectionClient
    private let deadlines: DeadlineHandler?
    private var held: Held?
    /// How many requests were passed on whose answers are not written yet.
    private var waitingCount = 0

    /// - Parameter deadlines: those of a connection of HTTP/1.1, which takes an answer as bytes; nil: it is written in parts.
    init(_ answers: ReadyAnswers, for client: ConnectionClient, under deadlines: DeadlineHandler? = nil) {
        self.answers = answers
        self.client = client
        self.deadlines = deadlines
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head): begin(head, context)
        case .body(let bytes): take(bytes, context)
        case .end(let trailers): end(trailers, context)
        }
    }

    /// On a connection that clients share, a request is counted from its head on: its body may take long.
    func channelReadComplete(context: ChannelHandlerContext) {
        if client.isShared { passOn(context) }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { waitingCount = max(0, waitingCount - 1) }
        context.write(data, promise: promise)
    }

    /// A server that stops lets requests end that have begun, so the handlers behind are told of this one first.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        passOn(context)
        context.fireUserInboundEventTriggered(event)
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        if waitingCount == 0, context.channel.isWritable, let destination = answers.destination(of: head),
            let sender = client.sender({ head.headers[TrustedProxies.forwardedFor] })
        {
            held = Held(head: head, destination: destination, client: sender, start: answers.now)
        } else {
            waitingCount += 1
            context.fireChannelRead(wrapInboundOut(.head(head)))
        }
    }

    private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        if let held, held.body.count + bytes.readableBytes <= ReadyAnswers.maximumBodyByteCount {
            self.held?.body += bytes.readableBytesView
        } else {
            passOn(context)
            context.fireChannelRead(wrapInboundOut(.body(bytes)))
        }
    }

    private func end(_ trailers: HTTPHeaders?, _ context: ChannelHandlerContext) {
        if let held,
            let answer = answers.answer(held.destination, held.body, from: held.client, since: held.start)
        {
            self.held = nil
            write(answer, context)
        } else {
            passOn(context)
            context.fireChannelRead(wrapInboundOut(.end(trailers)))
        }
    }

    private func write(_ answer: Answer, _ context: ChannelHandlerContext) {
        let (date, allocator) = (answers.date, context.channel.allocator)
        if let deadlines, deadlines.write(wholeAnswer: answer.encoded(at: date, by: allocator)) { return }
        context.write(wrapOutboundOut(.head(answer.head(at: date))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(allocator.buffer(bytes: answer.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// Passes on what is held of a request, which a task is to answer.
    private func passOn(_ context: ChannelHandlerContext) {
        guard let held else { return }
        self.held = nil
        waitingCount += 1
        context.fireChannelRead(wrapInboundOut(.head(held.head)))
        if !held.body.isEmpty {
            context.fireChannelRead(
                wrapInboundOut(.body(context.channel.allocator.buffer(bytes: held.body))))
        }
    }
}
