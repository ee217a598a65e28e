// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore
import NIOHTTP1
import NIOPosix

/// A request as ``PlainHTTPServer`` reads it.
struct PlainRequest: Sendable {
    let method: HTTPMethod
    /// With the query, if there is one.
    let path: String
    let body: [UInt8]
}

/// The HTTP/1.1 side of an auditor, without TLS. Connections are counted in total and for each address, and each wait has an end
/// that no byte postpones.
final class PlainHTTPServer: Sendable {
    typealias Answering = @Sendable (PlainRequest) async -> CosignerAnswer

    private let channel: any Channel

    /// The port that it listens at.
    var port: Int { channel.localAddress?.port ?? 0 }

    /// Listens. Requests are answered until ``stop()``.
    ///
    /// - Parameter port: 0 for any free one.
    /// - Throws: ``CosignerServerError``.
    init(
        host: String, port: Int, limits: CosignerLimits, answering: @escaping Answering
    ) async throws(CosignerServerError) {
        let ledger = ConnectionLedger(total: limits.connections, perAddress: limits.connectionsPerAddress)
        do {
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { child in
                    child.eventLoop.makeCompletedFuture {
                        try Self.count(child, in: ledger)
                        try Self.setUp(child, limits.times, answering)
                    }
                }
                .bind(host: host, port: port).get()
        } catch { throw .cannotListen }
    }

    /// - Throws: ``TooManyConnections``: nothing is to be set up for this one, which is closed.
    private static func count(_ child: any Channel, in ledger: ConnectionLedger) throws {
        let address = ClientAddress(child.remoteAddress)
        guard ledger.open(address) == nil else { throw TooManyConnections() }
        child.closeFuture.whenComplete { _ in ledger.close(address) }
    }

    private static func setUp(
        _ child: any Channel, _ times: ConnectionProgress.Times, _ answering: @escaping Answering
    ) throws {
        let pipeline = child.pipeline.syncOperations
        try pipeline.addHandler(SocketHandler())
        try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
        try pipeline.addDeadlines(times)
        try pipeline.addHandler(PlainRequestHandler(answering))
    }

    /// Stops listening.
    func stop() async { try? await channel.close() }
}

extension CosignerAnswer {
    static let notFound = CosignerAnswer(status: 404, body: Array("not found\n".utf8))

    static func wrongMethod(_ right: String) -> CosignerAnswer {
        CosignerAnswer(status: 405, body: Array("\(right) only\n".utf8))
    }
}

/// One connection: reads a request, has it answered, writes the answer; the connection ends when it is not kept alive.
private final class PlainRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let maximumByteCount = 1 << 17
    /// This much of a body that is too long is read and dropped, so that its sender can read the answer.
    private static let toleratedByteCount = 1 << 20

    private let answering: PlainHTTPServer.Answering
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var byteCount = 0

    init(_ answering: @escaping PlainHTTPServer.Answering) { self.answering = answering }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            (body, byteCount) = ([], 0)
        case .body(let bytes):
            byteCount += bytes.readableBytes
            guard byteCount <= Self.toleratedByteCount else { return context.close(promise: nil) }
            if byteCount <= Self.maximumByteCount { body += bytes.readableBytesView }
        case .end:
            guard let head else { return }
            self.head = nil
            guard byteCount <= Self.maximumByteCount else {
                return write(.init(status: 413, body: Array("too long\n".utf8)), keepingAlive: false, context)
            }
            answer(head, context)
        }
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let (answering, request) = (answering, PlainRequest(method: head.method, path: head.uri, body: body))
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { await answering(request) }.whenSuccess { answer in
            let (handler, context) = bound.value
            handler.write(answer, keepingAlive: head.isKeepAlive, context)
        }
    }

    private func write(_ answer: CosignerAnswer, keepingAlive: Bool, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders()
        headers.add(name: "content-type", value: answer.mediaType)
        headers.add(name: "content-length", value: String(answer.body.count))
        if answer.status == 503 { headers.add(name: "retry-after", value: "1") }
        if !keepingAlive { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !keepingAlive {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            end.whenComplete { _ in bound.value.close(promise: nil) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
