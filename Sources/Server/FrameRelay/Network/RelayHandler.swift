// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import NIOCore

/// Between the socket and the rooms; everything happens on the socket's event loop.
final class RelayHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private var rooms: RelayRooms<SocketAddress>
    private let delay: FrameDelay?
    private var sweptAt: UInt64 = 0

    init(_ limits: RelayLimits, _ tickets: TicketKey, _ delay: FrameDelay?, isConniving: Bool) {
        rooms = RelayRooms(limits, tickets, isConniving: isConniving) {
            Array("\($0.ipAddress ?? "") \($0.port ?? 0)".utf8)
        }
        self.delay = delay
    }

    /// Milliseconds of a clock that never goes back.
    static func uptime() -> UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard envelope.data.readableBytes <= RelayPacket.maximumByteCount else { return }
        let (packet, now) = (Array(envelope.data.readableBytesView), Self.uptime())
        if now >= sweptAt + 1000 {
            rooms.sweep(at: now)
            sweptAt = now
        }
        switch rooms.receive(packet, from: envelope.remoteAddress, at: now) {
        case .ignored: break
        case .answer(let answer): write(ByteBuffer(bytes: answer.encoded), to: envelope.remoteAddress, context)
        case .forward(let packets):
            for (other, packet) in packets { pass(ByteBuffer(bytes: packet.encoded), to: other, context) }
        }
    }

    /// A device is in a call no more.
    func end(_ place: RelayPlace) { rooms.end(place, at: Self.uptime()) }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    /// A bad datagram or an unreachable device must not stop the relay.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}

    private func pass(_ frame: ByteBuffer, to address: SocketAddress, _ context: ChannelHandlerContext) {
        guard let delay else { return write(frame, to: address, context) }
        guard let time = delay() else { return }
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            self.write(frame, to: address, context)
            context.flush()
        }
    }

    private func write(_ bytes: ByteBuffer, to address: SocketAddress, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(AddressedEnvelope(remoteAddress: address, data: bytes)), promise: nil)
    }
}
