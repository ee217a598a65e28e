// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// One request in progress, and the recipient of its answer.
final class Exchange: Sendable {
    struct Answer: Sendable {
        let response: TransportResponse
        let isReusable: Bool
    }

    let request: TransportRequest
    let authority: String
    let promise: EventLoopPromise<Answer>

    init(_ request: TransportRequest, authority: String, promise: EventLoopPromise<Answer>) {
        self.request = request
        self.authority = authority
        self.promise = promise
    }

    var head: HTTPRequestHead {
        var headers = HTTPHeaders()
        headers.add(name: "host", value: authority)
        headers.add(name: "accept-encoding", value: "identity")
        if !request.fields.contains(where: { $0.name == "user-agent" }) {
            headers.add(name: "user-agent", value: "signet")
        }
        if request.method == "POST" {
            headers.add(name: "content-length", value: String(request.body.count))
        }
        for field in request.fields { headers.add(name: field.name, value: field.value) }
        let method = HTTPMethod(rawValue: request.method)
        return HTTPRequestHead(version: .http1_1, method: method, uri: request.path, headers: headers)
    }
}

/// Turns an ``Exchange`` into HTTP and its answer into a ``TransportResponse``, one at a time.
///
/// Every state has a deadline; the length of the body is counted before it is kept.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Exchange
    typealias OutboundOut = HTTPClientRequestPart

    private let deadlines: ConnectionDeadlines
    private var exchange: Exchange?
    private var head: HTTPResponseHead?
    private var body: [UInt8] = []
    private var idleDeadline: Scheduled<Void>?
    private var responseDeadline: Scheduled<Void>?

    init(_ deadlines: ConnectionDeadlines) { self.deadlines = deadlines }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        start(unwrapOutboundIn(data), context)
        promise?.succeed()
    }

    private func start(_ exchange: Exchange, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return exchange.promise.fail(TransportError.closedEarly) }
        self.exchange = exchange
        head = nil
        body = []
        responseDeadline = schedule(deadlines.response + exchange.request.longestWait, .reading, context)
        restartIdleDeadline(context)
        context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: exchange.request.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange else { return }
        let part = unwrapInboundIn(data)
        if case .head(let head) = part { self.head = head }
        restartIdleDeadline(context)
        switch part {
        case .head(let head):
            let announced = head.headers.first(name: "content-length").flatMap(Int.init) ?? 0
            if announced > limit(exchange) { refuseLength(exchange, context) }
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= limit(exchange) else {
                return refuseLength(exchange, context)
            }
            body += bytes.readableBytesView
        case .end: finish(exchange, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closedEarly, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(TransportError(error), context)
    }

    /// The limit for the answer: that of the route for a success, that of a refusal for anything else.
    private func limit(_ exchange: Exchange) -> Int {
        guard let head, head.status.code != 200 else { return exchange.request.limit.maximumByteCount }
        return ResponseLimit.refusal.maximumByteCount
    }

    /// Ends an exchange whose answer is longer than it may be. What a proxy shows people while it does not reach the server is
    /// dropped, and its status remains.
    private func refuseLength(_ exchange: Exchange, _ context: ChannelHandlerContext) {
        guard let head, TransportResponse.mayPass(Int(head.status.code)) else {
            return fail(.tooLong(limit: limit(exchange)), context)
        }
        stop()
        exchange.promise.succeed(.init(response: TransportResponse(head, body: []), isReusable: false))
        context.close(promise: nil)
    }

    private func finish(_ exchange: Exchange, _ context: ChannelHandlerContext) {
        guard let head else { return fail(.malformedResponse, context) }
        let response = TransportResponse(head, body: body)
        let expected = exchange.request.limit.mediaType
        guard response.status != 200 || expected == nil || expected == response.mediaType else {
            return fail(.unexpectedMediaType, context)
        }
        stop()
        exchange.promise.succeed(.init(response: response, isReusable: head.isKeepAlive))
    }

    private func fail(_ error: TransportError, _ context: ChannelHandlerContext) {
        let failed = exchange
        stop()
        failed?.promise.fail(error)
        context.close(promise: nil)
    }

    private func stop() {
        exchange = nil
        head = nil
        body = []
        idleDeadline?.cancel()
        responseDeadline?.cancel()
    }

    private func restartIdleDeadline(_ context: ChannelHandlerContext) {
        guard let exchange else { return }
        idleDeadline?.cancel()
        // What the server may keep the request for passes before the first piece of the answer.
        let kept = head == nil ? exchange.request.longestWait : .zero
        idleDeadline = schedule(deadlines.idle + kept, .reading, context)
    }

    private func schedule(
        _ delay: Duration, _ phase: TransportPhase, _ context: ChannelHandlerContext
    ) -> Scheduled<Void> {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: TimeAmount(delay)) {
            let (handler, context) = bound.value
            handler.fail(.timedOut(phase), context)
        }
    }
}

extension TransportResponse {
    init(_ head: HTTPResponseHead, body: [UInt8]) {
        let mediaType = head.headers.first(name: "content-type")?.split(separator: ";").first
        self.init(
            status: Int(head.status.code), mediaType: mediaType?.lowercased().trimmingSpaces,
            retryAfter: head.headers.first(name: "retry-after").flatMap(UInt64.init), body: body)
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
