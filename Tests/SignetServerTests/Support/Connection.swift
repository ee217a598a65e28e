// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

@testable import SignetServer

/// A client's connection as bytes, over TLS or bare TCP, on which tests can send any bytes.
final class Connection: Sendable {
    private let channel: any Channel
    private let received: AsyncStream<[UInt8]>

    private init(_ channel: any Channel, _ received: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.received = received
    }

    /// Connects to a port of this machine; with a root certificate, under TLS, whose handshake is then over.
    ///
    /// - Parameters:
    ///   - greeting: sent at once by the event loop: a server closes a connection on which no byte comes, and a busy
    ///     machine may be long in coming back here.
    ///   - preface: sent before everything else, below TLS.
    ///   - source: the address that the server sees, 127.0.0.0/8; nil for any.
    ///   - protocols: what it offers to speak over TLS.
    static func open(
        port: Int, root: [UInt8]?, maximumTLS: TLSVersion? = nil, greeting: [UInt8] = [],
        preface: [UInt8] = [], from source: String? = nil,
        offering protocols: [String] = []
    ) async throws -> Connection {
        let (received, report) = AsyncStream.makeStream(of: [UInt8].self)
        let context = try root.map { root in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: root, format: .der)])
            configuration.maximumTLSVersion = maximumTLS
            configuration.minimumTLSVersion = .tlsv1
            configuration.applicationProtocols = protocols
            return try NIOSSLContext(configuration: configuration)
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ready = loop.makePromise(of: Void.self)
        do {
            var bootstrap = ClientBootstrap(group: loop)
            if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
            let channel =
                try await bootstrap
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(SocketHandler())
                        if !preface.isEmpty {
                            try channel.pipeline.syncOperations.addHandler(PrefaceHandler(preface))
                        }
                        if let context {
                            try channel.pipeline.syncOperations.addHandler(
                                NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                        }
                        try channel.pipeline.syncOperations.addHandler(
                            ReceivingHandler(report, ready, isSecured: context != nil, greeting))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            try await ready.futureResult.get()
            return Connection(channel, received)
        } catch {
            ready.fail(error)
            throw error
        }
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Everything until the server closes the connection.
    func readToEnd() async -> [UInt8] {
        var all: [UInt8] = []
        for await part in received { all += part }
        return all
    }

    /// One answer; nil if the connection closes before it is complete.
    func readAnswer() async -> HTTPAnswer? {
        var all: [UInt8] = []
        for await part in received {
            all += part
            if let answer = HTTPAnswer(all) { return answer }
        }
        return nil
    }

    /// The next bytes; nil once the server has closed the connection.
    func read() async -> [UInt8]? {
        for await part in received { return part }
        return nil
    }

    /// The head of an answer, with the empty line; nil if the connection closes before. For heads after which the
    /// server waits.
    func readHead() async -> String? {
        var all: [UInt8] = []
        for await part in received {
            all += part
            if all.suffix(4).elementsEqual("\r\n\r\n".utf8) { return String(decoding: all, as: UTF8.self) }
        }
        return nil
    }

    /// Says farewell with a TLS closure alert, and goes on reading.
    func finishSending() async throws { try await channel.close(mode: .output) }

    /// Closes the socket without a TLS closure alert.
    func close() async {
        try? await channel.eventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.handler(type: SocketHandler.self).close()
        }.get()
        try? await channel.closeFuture.get()
    }
}

/// Sends bytes before the handlers behind it learn that the connection is there.
private final class PrefaceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let preface: [UInt8]

    init(_ preface: [UInt8]) { self.preface = preface }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: preface)), promise: nil)
        context.fireChannelActive()
    }
}

private final class ReceivingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let report: AsyncStream<[UInt8]>.Continuation
    private let ready: EventLoopPromise<Void>
    private let isSecured: Bool
    private let greeting: [UInt8]

    init(
        _ report: AsyncStream<[UInt8]>.Continuation, _ ready: EventLoopPromise<Void>, isSecured: Bool,
        _ greeting: [UInt8]
    ) {
        (self.report, self.ready, self.isSecured, self.greeting) = (report, ready, isSecured, greeting)
    }

    func channelActive(context: ChannelHandlerContext) {
        if !isSecured { begin(context) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event { begin(context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func begin(_ context: ChannelHandlerContext) {
        if !greeting.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: greeting)), promise: nil) }
        ready.succeed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        report.yield(Array(unwrapInboundIn(data).readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) { report.finish() }

    func handlerRemoved(context: ChannelHandlerContext) {
        ready.fail(ChannelError.eof)
        report.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// An answer with a `Content-Length`.
struct HTTPAnswer {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    /// nil as long as it is not complete.
    init?(_ bytes: [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: bytes[..<start], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first?.split(separator: " "), first.count > 1, let status = Int(first[1]) else {
            return nil
        }
        self.status = status
        headers = lines.dropFirst().reduce(into: [:]) { headers, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let body = bytes[(start + end.count)...]
        guard let length = headers["content-length"].flatMap(Int.init), body.count >= length else { return nil }
        self.body = Array(body.prefix(length))
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}
