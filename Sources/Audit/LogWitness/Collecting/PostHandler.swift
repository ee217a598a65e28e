// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import TransparencyLog

/// One request on its way to a witness, and where its answer goes.
final class Post: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
        let isReusable: Bool
    }

    let head: HTTPRequestHead
    let body: [UInt8]
    let promise: EventLoopPromise<Answer>

    init(to address: WitnessAddress, body: [UInt8], promise: EventLoopPromise<Answer>) {
        var headers = HTTPHeaders()
        headers.add(name: "host", value: address.authority)
        headers.add(name: "content-type", value: "text/plain; charset=utf-8")
        headers.add(name: "content-length", value: "\(body.count)")
        headers.add(name: "accept-encoding", value: "identity")
        headers.add(name: "user-agent", value: "signet")
        head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: address.prefix + "/add-checkpoint", headers: headers)
        self.body = body
        self.promise = promise
    }
}

/// Turns a ``Post`` into HTTP and the answer into a status and a body, one at a time. The body is counted before it is
/// kept.
final class PostHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Post
    typealias OutboundOut = HTTPClientRequestPart

    private var first: Post?
    private var post: Post?
    private var head: HTTPResponseHead?
    private var body: [UInt8] = []

    /// - Parameter first: what to send as soon as the connection stands.
    init(first: Post) { self.first = first }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if let first { start(first, context) }
        first = nil
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        start(unwrapOutboundIn(data), context)
        promise?.succeed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= WitnessAnswer.maximumByteCount else {
                return fail(.answerTooLong, context)
            }
            body += bytes.readableBytesView
        case .end: finish(context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closedEarly, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(WitnessFailure(error), context) }

    private func start(_ post: Post, _ context: ChannelHandlerContext) {
        guard context.channel.isActive, self.post == nil else {
            return post.promise.fail(WitnessFailure.closedEarly)
        }
        reset()
        self.post = post
        context.write(wrapOutboundOut(.head(post.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: post.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard let head, let post else { return fail(.malformedResponse, context) }
        // Before the final answer a server may say that it goes on reading.
        guard head.status.code >= 200 else { return self.head = nil }
        let answer = Post.Answer(status: Int(head.status.code), body: body, isReusable: head.isKeepAlive)
        reset()
        post.promise.succeed(answer)
    }

    private func fail(_ failure: WitnessFailure, _ context: ChannelHandlerContext) {
        let failed = post ?? first
        first = nil
        reset()
        failed?.promise.fail(failure)
        context.close(promise: nil)
    }

    private func reset() {
        post = nil
        head = nil
        body = []
    }
}
