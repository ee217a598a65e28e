// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Stands between clients and a server with the server's own certificate and key, so that no client notices, and keeps
/// everything that passes: as it is on the wire, and as it is inside TLS.
final class CapturingRelay: Sendable {
    /// The port on 127.0.0.1 to which clients connect.
    let port: Int
    private let channel: any Channel
    private let record: Record

    /// The captured bytes of both directions.
    final class Record: Sendable {
        fileprivate let serverPort: Mutex<Int>
        fileprivate let wire = Mutex<[UInt8]>([])
        fileprivate let application = Mutex<[UInt8]>([])

        fileprivate init(_ port: Int) { serverPort = Mutex(port) }
    }

    /// Bytes of the TCP connections.
    var wire: [UInt8] { record.wire.withLock { $0 } }
    /// Requests and answers.
    var application: [UInt8] { record.application.withLock { $0 } }

    /// Sends new connections to another port from now on.
    func point(to port: Int) { record.serverPort.withLock { $0 = port } }

    func stop() async { try? await channel.close() }

    /// - Parameter data: the server's data directory.
    init(to serverPort: Int, data: URL) async throws {
        let record = Record(serverPort)
        let (inner, outer) = (try Self.serverContext(data), try Self.clientContext())
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { child in
                Self.capture(child, inner, record).flatMap { Self.connect(child, outer, record) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.record = record
    }

    /// HTTP/1.1 only: no header is compressed, so that a capture shows all.
    private static func serverContext(_ data: URL) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(data.appending(path: "tls/server.pem").path())
        let key = try NIOSSLPrivateKey(file: data.appending(path: "tls/server.key").path(), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func clientContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func capture(
        _ child: any Channel, _ context: NIOSSLContext, _ record: Record
    ) -> EventLoopFuture<Void> {
        child.eventLoop.makeCompletedFuture {
            try child.pipeline.syncOperations.addHandlers(
                CaptureHandler { bytes in record.wire.withLock { $0 += bytes } },
                NIOSSLServerHandler(context: context),
                CaptureHandler { bytes in record.application.withLock { $0 += bytes } })
        }
    }

    private static func connect(
        _ child: any Channel, _ context: NIOSSLContext, _ record: Record
    ) -> EventLoopFuture<Void> {
        ClientBootstrap(group: child.eventLoop)
            .channelOption(.autoRead, value: false)
            .channelInitializer { peer in
                peer.eventLoop.makeCompletedFuture {
                    try peer.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: "localhost"), PassHandler(to: child))
                }
            }
            .connect(host: "127.0.0.1", port: record.serverPort.withLock { $0 })
            .flatMapThrowing { peer in
                try child.pipeline.syncOperations.addHandler(PassHandler(to: peer)); return peer
            }
            .flatMap { peer in
                peer.setOption(.autoRead, value: true).flatMap { @Sendable _ in child.setOption(.autoRead, value: true)
                }
            }
    }
}

/// Passes all bytes of both directions to a closure.
private final class CaptureHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let take: ([UInt8]) -> Void

    init(_ take: @escaping ([UInt8]) -> Void) { self.take = take }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(Array(unwrapInboundIn(data).readableBytesView))
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        take(Array(unwrapOutboundIn(data).readableBytesView))
        context.write(data, promise: promise)
    }
}

/// Forwards the bytes that it reads, and their end.
private final class PassHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let peer: any Channel

    init(to peer: any Channel) { self.peer = peer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        peer.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { peer.close(promise: nil) }

    /// A connection may end without TLS's close_notify.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
