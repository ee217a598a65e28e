// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// Stands between a client and a server, passes bytes on, and cuts or stalls every connection when it is told to.
final class CutProxy: Sendable {
    let port: Int
    private let listener: any Channel
    private let open: Connections

    private final class Connections: Sendable {
        let channels = Mutex<[any Channel]>([])
    }

    init(to target: Int) async throws {
        let open = Connections()
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop).connect(host: "127.0.0.1", port: target).flatMapThrowing {
                    server in
                    open.channels.withLock { $0 += [client, server] }
                    try server.pipeline.syncOperations.addHandler(PassingHandler(client))
                    try client.pipeline.syncOperations.addHandler(PassingHandler(server))
                    client.setOption(.autoRead, value: true).whenFailure { _ in }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
        self.open = open
    }

    /// Cuts every connection there is.
    func cut() {
        let channels = open.channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Stops reading.
    func stall() async throws {
        for channel in open.channels.withLock({ $0 }) { try await channel.setOption(.autoRead, value: false).get() }
    }

    func stop() async {
        cut()
        try? await listener.close()
    }
}

private final class PassingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let other: any Channel

    init(_ other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
