import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// A connection: TLS, then HTTP/1.1 with small headers; one that says nothing for half a minute is closed.
struct SiteChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let tls: NIOSSLContext
    private let http: HTTP1Channel

    init(tls: NIOSSLContext, responder: @escaping HTTPChannelHandler.Responder) {
        self.tls = tls
        http = HTTP1Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: .seconds(30),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8192, maxHeaderListSize: 8192, maxHeaderFieldCount: 32)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLServerHandler(context: tls, customVerificationCallback: nil, configuration: .init()))
        }.flatMap { http.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}
