import NIOCore
import NIOHTTP1
import NIOPosix
import TransparencyLog

/// The HTTP side of an ``AuditCosigner``: plain HTTP/1.1, for the loopback interface and for proxies that add TLS.
///
/// Whoever changes an answer on the way can keep a cosignature back, and no more.
public final class CosignerServer: Sendable {
    private let channel: any Channel

    /// The port that it listens at.
    public var port: Int { channel.localAddress?.port ?? 0 }

    /// Listens. Requests are answered until ``stop()``.
    ///
    /// - Parameter port: 0 for any free one.
    /// - Throws: ``CosignerServerError``.
    public init(_ cosigner: AuditCosigner, host: String, port: Int) async throws(CosignerServerError) {
        do {
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { child in
                    child.eventLoop.makeCompletedFuture {
                        try child.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                        try child.pipeline.syncOperations.addHandlers([
                            IdleStateHandler(readTimeout: .seconds(120)), CosignerHandler(cosigner),
                        ])
                    }
                }
                .bind(host: host, port: port).get()
        } catch { throw .cannotListen }
    }

    /// Stops listening.
    public func stop() async { try? await channel.close() }
}

/// Why a server does not serve.
public enum CosignerServerError: Error, Hashable, Sendable {
    /// The address is in use, or is not one of this machine.
    case cannotListen
}

/// One connection: reads a request, has it answered, writes the answer; the connection ends when it is not kept alive.
private final class CosignerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let maximumByteCount = 1 << 17
    /// So much of a body that is too long is read and dropped, so that whoever sends it can read the answer.
    private static let toleratedByteCount = 1 << 20

    private let cosigner: AuditCosigner
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var byteCount = 0
    private var isAnswering = false

    init(_ cosigner: AuditCosigner) { self.cosigner = cosigner }

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
        guard head.uri.hasSuffix("/add-checkpoint") else {
            return write(.init(status: 404, body: Array("not found\n".utf8)), keepingAlive: head.isKeepAlive, context)
        }
        guard head.method == .POST else {
            return write(.init(status: 405, body: Array("POST only\n".utf8)), keepingAlive: head.isKeepAlive, context)
        }
        isAnswering = true
        let (cosigner, request) = (cosigner, body)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { await cosigner.answer(request) }.whenSuccess { answer in
            let (handler, context) = bound.value
            handler.isAnswering = false
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

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Silence is only the client's fault while nobody works for it.
        if event is IdleStateHandler.IdleStateEvent && !isAnswering { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
