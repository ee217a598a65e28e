// SPDX-License-Identifier: Apache-2.0

import LogAuditor
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves a log's files over HTTP on loopback, below `/log/`.
final class FileServer: Sendable {
    private let channel: any Channel

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/log" }

    init(_ log: ServedLog) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    try child.pipeline.syncOperations.configureHTTPServerPipeline()
                    try child.pipeline.syncOperations.addHandler(FileHandler(log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func stop() async { try? await channel.close() }
}

private final class FileHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let log: ServedLog
    private var path = ""

    init(_ log: ServedLog) { self.log = log }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): path = String(head.uri.dropFirst("/log/".count))
        case .body: return
        case .end:
            let body = log.bytes(path)
            let headers: HTTPHeaders = ["content-length": "\(body?.count ?? 0)"]
            let head = HTTPResponseHead(version: .http1_1, status: body == nil ? .notFound : .ok, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body ?? [])))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
