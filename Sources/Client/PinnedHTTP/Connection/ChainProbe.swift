// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL

/// Asks a server for its certificates and hangs up before the handshake is complete. Nothing is sent, and nothing is trusted:
/// the server that answers may have made the certificates up.
public enum ChainProbe {
    /// The certificates as presented, DER, the server's own certificate first.
    ///
    /// - Throws: ``TransportError``.
    public static func presentedChain(
        of address: ServerAddress, deadlines: ConnectionDeadlines = .standard
    ) async throws(TransportError) -> [[UInt8]] {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([])
            let context = try NIOSSLContext(configuration: configuration)
            let promise = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: [[UInt8]].self)
            let isAddress = (try? SocketAddress(ipAddress: address.host, port: 0)) != nil
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(deadlines.connect))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let tls = try NIOSSLClientHandler(
                            context: context, serverHostname: isAddress ? nil : address.host,
                            customVerificationCallback: { certificates, verdict in
                                promise.succeed(certificates.compactMap { try? $0.toDERBytes() })
                                verdict.succeed(.failed)
                            })
                        try channel.pipeline.syncOperations.addHandlers(tls, ProbeEndHandler(promise))
                    }
                }
                .connect(host: address.host, port: address.port).get()
            let alarm = channel.eventLoop.scheduleTask(in: TimeAmount(deadlines.handshake)) {
                promise.fail(TransportError.timedOut(.handshake))
            }
            defer {
                alarm.cancel()
                channel.close(promise: nil)
            }
            return try await promise.futureResult.get()
        } catch { throw TransportError(error) }
    }
}

/// Passes the end of a probe on; after the certificates have come it changes nothing.
private final class ProbeEndHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<[[UInt8]]>

    init(_ promise: EventLoopPromise<[[UInt8]]>) { self.promise = promise }

    func channelInactive(context: ChannelHandlerContext) { promise.fail(TransportError.closedEarly) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(TransportError(error))
        context.close(promise: nil)
    }
}
