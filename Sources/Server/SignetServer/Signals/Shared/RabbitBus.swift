// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import NIOCore
import NIOPosix
import NIOSSL
import Platform
import STOMP
import SignalBroker
import Synchronization

/// The bus of the front ends: a RabbitMQ, through its STOMP listener, over TLS.
///
/// Each front end subscribes to the topic of its name, `/topic/signet.` and 32 hexadecimal digits, for which RabbitMQ makes a queue that lives as long as
/// the connection. Nothing is acknowledged: what is lost ends a channel, and is noticed by that.
package final class RabbitBus: SignalBus {
    /// More bytes than these on their way out end the connection: the broker does not keep up.
    static let heldByteCount = 64 << 20

    private struct State {
        var channel: (any Channel)?
        var held = 0
    }

    private let file: BrokerFile
    private let tls: NIOSSLContext
    private let state = Mutex(State())

    /// - Throws: ``BrokerFileError/authority``.
    package init(_ file: BrokerFile) throws(BrokerFileError) {
        self.file = file
        tls = try file.tls()
    }

    package func send(_ bytes: [UInt8], to name: [UInt8]) {
        guard let frame = try? StompFrame(.send, [StompHeader(.destination, Self.topic(of: name))], body: bytes) else {
            return
        }
        let encoded = frame.encoded
        let (channel, held) = state.withLock { state in
            if state.channel != nil { state.held += encoded.count }
            return (state.channel, state.held)
        }
        guard let channel else { return }
        guard held <= Self.heldByteCount else { return channel.close(promise: nil) }
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { [self] _ in state.withLock { $0.held -= encoded.count } }
        // A write from the loop itself would overtake those that other threads have put into its queue.
        channel.eventLoop.execute { channel.writeAndFlush(ByteBuffer(bytes: encoded), promise: written) }
    }

    package func run(
        as name: [UInt8], receive: @escaping @Sendable ([UInt8]) -> Void, onChange: @escaping @Sendable (Bool) -> Void
    ) async {
        while !Task.isCancelled {
            _ = await connect(as: name, receive, onChange)
            try? await Task.sleep(for: .milliseconds(500))
        }
    }

    /// Ends the connection, as a network may: for tests.
    func cut() { state.withLock { $0.channel }?.close(promise: nil) }

    /// Returns when the connection has ended.
    ///
    /// - Returns: whether there was one, with a broker that has proved itself and has taken the subscription.
    func connect(
        as name: [UInt8], _ receive: @escaping @Sendable ([UInt8]) -> Void,
        _ onChange: @escaping @Sendable (Bool) -> Void
    ) async -> Bool {
        let (file, tls) = (file, tls)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(5))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let isNumber = (try? SocketAddress(ipAddress: file.host, port: 0)) != nil
                    let security = try NIOSSLClientHandler(context: tls, serverHostname: isNumber ? nil : file.host)
                    let rabbit = RabbitHandler(file, topic: Self.topic(of: name), receive: receive) { [self] channel in
                        state.withLock { $0.channel = channel }
                        onChange(true)
                    }
                    try channel.pipeline.syncOperations.addHandlers([security, rabbit])
                }
            }
        guard let channel = try? await bootstrap.connect(host: file.host, port: file.port).get() else { return false }
        await withTaskCancellationHandler {
            _ = try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
        let wasConnected = state.withLock { state in
            defer { state.channel = nil }
            return state.channel != nil
        }
        if wasConnected { onChange(false) }
        return wasConnected
    }

    private static func topic(of name: [UInt8]) -> [UInt8] { Array("/topic/signet.".utf8) + Hex.encode(name) }
}

/// One connection to RabbitMQ: says who it is, subscribes, hands over what comes, and ends when nothing does.
private final class RabbitHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let limits = StompLimits(bodyByteCount: 262_144)
    private static let heartBeat = HeartBeat(canSend: 2000, wants: 2000)
    private static let patience: TimeAmount = .seconds(6)

    private let file: BrokerFile
    private let topic: [UInt8]
    private let receive: ([UInt8]) -> Void
    private let onReady: (any Channel) -> Void
    private var decoder = StompDecoder(limits: limits)
    private var heardAt = NIODeadline.now()
    private var timer: RepeatedTask?

    init(
        _ file: BrokerFile, topic: [UInt8], receive: @escaping ([UInt8]) -> Void,
        onReady: @escaping (any Channel) -> Void
    ) {
        (self.file, self.topic, self.receive, self.onReady) = (file, topic, receive, onReady)
    }

    func channelActive(context: ChannelHandlerContext) {
        heardAt = .now()
        write(
            .connect,
            [
                StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader(.host, Array(file.virtualHost.utf8)),
                StompHeader(.login, Array(file.login.utf8)), StompHeader(.passcode, Array(file.passcode.utf8)),
                StompHeader(.heartBeat, Self.heartBeat.encoded),
            ], context)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            let (handler, context) = bound.value
            handler.beat(context)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        heardAt = .now()
        decoder.append(unwrapInboundIn(data).readableBytesView)
        do {
            while let element = try decoder.next() {
                if case .frame(let frame) = element { take(frame, context) }
            }
        } catch { context.close(promise: nil) }
    }

    private func take(_ frame: StompFrame, _ context: ChannelHandlerContext) {
        switch frame.command {
        case .connected:
            write(
                .subscribe,
                [
                    StompHeader(.id, Self.subscription), StompHeader(.destination, topic),
                    StompHeader(.ack, Array("auto".utf8)), StompHeader(.receipt, Self.subscription),
                    // Who does not read loses what is oldest, and with it the channel.
                    StompHeader("x-max-length-bytes", Array("67108864".utf8)),
                ], context)
        case .receipt: if frame.value(of: .receiptID) == Self.subscription { onReady(context.channel) }
        case .message: receive(frame.body)
        default: context.close(promise: nil)
        }
    }

    private func beat(_ context: ChannelHandlerContext) {
        guard NIODeadline.now() - heardAt < Self.patience else { return context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [UInt8(ascii: "\n")])), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func write(_ command: StompCommand, _ headers: [StompHeader], _ context: ChannelHandlerContext) {
        guard let frame = try? StompFrame(command, headers) else { return context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: frame.encoded)), promise: nil)
    }

    private static let subscription = Array("0".utf8)
}
