// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A TLS server that answers every request with given bytes.
final class RawServer: Sendable {
    /// What the server does after the bytes.
    enum Ending: Sendable {
        /// The connection stays open and nothing more comes.
        case silence
        /// The connection is closed.
        case close
        /// One more byte every 20 milliseconds, for ever.
        case drip
    }

    let port: Int
    private let channel: any Channel
    private let counter: ConnectionCounter

    /// - Parameter authority: nil for a server without TLS.
    init(_ authority: TestAuthority?, answering bytes: String, then ending: Ending = .silence) async throws {
        let context = try authority.map { authority in
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: try NIOSSLCertificate.fromPEMFile(authority.certificate).map {
                        .certificate($0)
                    }, privateKey: .privateKey(try NIOSSLPrivateKey(file: authority.key, format: .pem))))
        }
        let counter = ConnectionCounter()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    counter.count.add(1, ordering: .relaxed)
                    if let context {
                        try child.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try child.pipeline.syncOperations.addHandler(RawAnswerHandler(bytes, ending))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.counter = counter
    }

    /// How many connections were accepted.
    var connectionCount: Int { counter.count.load(ordering: .relaxed) }

    func stop() async { try? await channel.close() }
}

private final class ConnectionCounter: Sendable {
    let count = Atomic(0)
}

private final class RawAnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String
    private let ending: RawServer.Ending
    private var received: [UInt8] = []
    private var drip: RepeatedTask?

    init(_ answer: String, _ ending: RawServer.Ending) {
        self.answer = answer
        self.ending = ending
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytesView
        guard received.suffix(4) == Array("\r\n\r\n".utf8)[...] else { return }
        received = []
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        switch ending {
        case .silence: return
        case .close: context.close(promise: nil)
        case .drip:
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            drip = context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(20)) {
                _ in
                bound.value.writeAndFlush(NIOAny(ByteBuffer(string: "x")), promise: nil)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { drip?.cancel() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
