// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import ConnectionLimits
import NIOCore
import NIOHTTP1
import NIOWebSocket
import SignalBroker

/// A granted request for a WebSocket.
///
/// The handlers of HTTP are taken out of the pipeline and those of WebSocket put where they were. What Hummingbird put behind
/// them stays and hears only that the connection has ended: its task is this one, which waits for that.
struct SignalUpgrade: Sendable {
    let exchange: any SignalExchange
    let device: CallDevice
    let account: Int64
    let proof: String

    /// Carries signals until the connection ends.
    ///
    /// - Throws: what the pipeline throws; then nothing was sent.
    func carry(on channel: any Channel) async throws {
        try await channel.eventLoop.submit { try change(channel) }.get()
        try await channel.closeFuture.get()
    }

    private func change(_ channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
        let deadlines = try pipeline.context(handlerType: DeadlineHandler.self)
        let socket = try pipeline.handler(type: SocketHandler.self)
        encoder.writeAndFlush(NIOAny(ByteBuffer(string: head)), promise: nil)
        let signals = SignalSocketHandler(exchange, device, of: account, socket)
        let webSocket: [any ChannelHandler] = [
            WebSocketFrameEncoder(),
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: exchange.limits.frameByteCount)),
            WebSocketProtocolErrorHandler(), signals,
        ]
        try pipeline.addHandlers(webSocket, position: .after(deadlines.handler))
        for context in [deadlines, decoder, encoder] { pipeline.removeHandler(context: context, promise: nil) }
    }

    private var head: String {
        """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: upgrade\r
        Sec-WebSocket-Accept: \(proof)\r
        Sec-WebSocket-Protocol: \(RelayAddress.subprotocol)\r
        \r\n
        """
    }
}
