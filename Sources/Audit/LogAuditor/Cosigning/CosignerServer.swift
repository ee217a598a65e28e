// SPDX-License-Identifier: Apache-2.0

package import ConnectionLimits
import NIOCore
import NIOHTTP1
import NIOPosix
import TransparencyLog

/// The HTTP side of an ``AuditCosigner``: plain HTTP/1.1, for the loopback interface and for proxies that add TLS.
///
/// An attacker who changes an answer in transit can withhold a cosignature, and no more. A client that opens
/// connections and sends nothing on them, or sends it slowly, does not keep others from being answered: connections are
/// counted in total and for each address, and each wait has an end that no byte postpones.
public final class CosignerServer: Sendable {
    private let channel: any Channel

    /// The port that it listens at.
    public var port: Int { channel.localAddress?.port ?? 0 }

    /// Listens. Requests are answered until ``stop()``.
    ///
    /// - Parameter port: 0 for any free one.
    /// - Throws: ``CosignerServerError``.
    public convenience init(_ cosigner: AuditCosigner, host: String, port: Int) async throws(CosignerServerError) {
        try await self.init(cosigner, host: host, port: port, limits: CosignerLimits())
    }

    /// The same with other limits.
    package init(
        _ cosigner: AuditCosigner, host: String, port: Int, limits: CosignerLimits
    ) async throws(CosignerServerError) {
        let ledger = ConnectionLedger(total: limits.connections, perAddress: limits.connectionsPerAddress)
        do {
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { child in
                    child.eventLoop.makeCompletedFuture {
                        try Self.count(child, in: ledger)
                        try Self.setUp(child, cosigner, limits.times)
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
        _ child: any Channel, _ cosigner: AuditCosigner, _ times: ConnectionProgress.Times
    ) throws {
        let pipeline = child.pipeline.syncOperations
        try pipeline.addHandler(SocketHandler())
        try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
        try pipeline.addDeadlines(times)
        try pipeline.addHandler(CosignerHandler(cosigner))
    }

    /// Stops listening.
    public func stop() async { try? await channel.close() }
}

/// What clients of a cosigner may take of it.
package struct CosignerLimits: Sendable {
    /// Open connections, over all clients: half of what this process may have open, and at most 512.
    package var connections = OpenFiles.half(atMost: 512)
    /// Open connections of one address. A proxy is one address.
    package var connectionsPerAddress = 64
    /// How long each wait may be; an answer may take an audit.
    package var times = ConnectionProgress.Times(
        handshake: .seconds(10), firstHead: .seconds(10), idle: .seconds(60), body: .seconds(15), answer: .seconds(120))

    /// The limits that `signet audit run` starts with.
    package init() {}
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
    /// This much of a body that is too long is read and dropped, so that its sender can read the answer.
    private static let toleratedByteCount = 1 << 20

    private let cosigner: AuditCosigner
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var byteCount = 0

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
        let (cosigner, request) = (cosigner, body)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { await cosigner.answer(request) }.whenSuccess { answer in
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
