// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS
import PinScenarios

/// The least that a client without pins does: NIOSSL, its own full verification, one request, the whole answer.
struct PlainClient {
    private let context: NIOSSLContext
    private let port: Int

    init(port: Int, trusting anchors: [[UInt8]]) throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(
            try anchors.map { try NIOSSLCertificate(bytes: $0, format: .der) })
        configuration.certificateVerification = .fullVerification
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        context = try NIOSSLContext(configuration: configuration)
        self.port = port
    }

    /// Connects, asks, closes.
    func get() async throws -> [UInt8] {
        let (context, authority) = (context, "\(PinScenario.host):\(port)")
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = eventLoop.makePromise(of: [UInt8].self)
        ClientBootstrap(group: eventLoop)
            .connectTimeout(.seconds(10))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: PinScenario.host))
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(GetHandler(authority, promise))
                }
            }
            .connect(host: PinScenario.host, port: port).whenFailure { promise.fail($0) }
        return try await promise.futureResult.get()
    }
}

/// Asks once TLS stands, and collects the answer.
private final class GetHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let authority: String
    private let promise: EventLoopPromise<[UInt8]>
    private var body: [UInt8] = []

    init(_ authority: String, _ promise: EventLoopPromise<[UInt8]>) {
        self.authority = authority
        self.promise = promise
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted = event as? TLSUserEvent else { return }
        let headers = HTTPHeaders([
            ("host", authority), ("accept-encoding", "identity"), ("user-agent", "signet"),
        ])
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: return
        case .body(let bytes): body += bytes.readableBytesView
        case .end:
            promise.succeed(body)
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
