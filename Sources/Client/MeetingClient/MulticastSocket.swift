// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import MulticastDNS
import NIOCore
import NIOPosix

/// A socket of multicast DNS on one device of the network: the group is 224.0.0.251, the port 5353.
///
/// Spec: RFC 6762, sections 3, 5.1 and 11.
struct MulticastSocket {
    static let port = 5353

    let channel: any Channel
    private let group: SocketAddress

    /// The devices by which other machines of the network can be asked, with their addresses of IPv4.
    static var devices: [NIONetworkDevice] {
        ((try? System.enumerateDevices()) ?? []).filter { device in
            guard device.multicastSupported, case .v4? = device.address else { return false }
            return device.address?.ipAddress?.hasPrefix("127.") == false
        }
    }

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - hearsAll: whether it hears what is said to the group; otherwise it hears only answers to its own questions.
    ///   - handler: gets messages with their senders.
    /// - Returns: nil if the device does not allow it.
    static func open(
        on device: NIONetworkDevice, hearsAll: Bool, _ handler: @escaping @Sendable () -> MulticastHandler
    ) async -> MulticastSocket? {
        guard let own = device.address?.ipAddress, let bytes = IPAddress(text: own)?.bytes, bytes.count == 4,
            let group = try? SocketAddress(ipAddress: "224.0.0.251", port: port)
        else { return nil }
        // The option takes an address in the order of the network. NIO hands over eight bytes, of which systems read the first half (in_addr) or
        // the second (ip_mreq).
        let interface = (bytes + bytes).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let bootstrap = DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelOption(.ipOption(.ip_multicast_if), value: Int(truncatingIfNeeded: UInt64(littleEndian: interface)))
            .channelOption(.ipOption(.ip_multicast_ttl), value: 255)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler()) }
            }
        guard
            let channel = try? await bootstrap.bind(host: hearsAll ? "0.0.0.0" : own, port: hearsAll ? port : 0).get()
        else { return nil }
        if hearsAll, let multicast = channel as? any MulticastChannel,
            (try? await multicast.joinGroup(group, device: device).get()) == nil
        {
            try? await channel.close()
            return nil
        }
        return MulticastSocket(channel: channel, group: group)
    }

    /// Says something to all.
    func say(_ message: DNSMessage) async {
        try? await channel.writeAndFlush(
            AddressedEnvelope(remoteAddress: group, data: ByteBuffer(bytes: message.encoded)))
    }

    func close() async { try? await channel.close() }
}

/// Reads messages; what is none is ignored.
final class MulticastHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    /// A message, and who sent it.
    private let take: @Sendable (DNSMessage, SocketAddress) -> DNSMessage?
    private let group: SocketAddress?

    /// - Parameter take: gets each message, and gives what is to be answered: to the sender if it listens at a port of its own, and else to all.
    init(_ take: @escaping @Sendable (DNSMessage, SocketAddress) -> DNSMessage?) {
        self.take = take
        group = try? SocketAddress(ipAddress: "224.0.0.251", port: MulticastSocket.port)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard let message = try? DNSMessage(decoding: Array(envelope.data.readableBytesView)),
            let answer = take(message, envelope.remoteAddress)
        else { return }
        let isDirect = envelope.remoteAddress.port != MulticastSocket.port
        guard let target = isDirect ? envelope.remoteAddress : group else { return }
        let reply = AddressedEnvelope(remoteAddress: target, data: ByteBuffer(bytes: answer.encoded))
        context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
    }

    /// A socket whose network has gone hears nothing more; the meeting goes on by address.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
