// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// Stands between a device and a relay, and forwards packets for each address of the device. After a change it
/// forwards nothing to or from the earlier addresses, as if the device had moved to another network.
final class ChangingNetwork: Sendable {
    private struct State {
        var ways: [SocketAddress: any Channel] = [:]
        var dead: Set<SocketAddress> = []
    }

    /// The port to which the device sends.
    let port: Int
    private let front: any Channel
    private let relay: SocketAddress
    private let state: Mutex<State>

    private init(_ front: any Channel, _ relay: SocketAddress) {
        (self.front, self.relay) = (front, relay)
        port = front.localAddress?.port ?? 0
        state = Mutex(State())
    }

    static func open(to port: Int) async throws -> ChangingNetwork {
        let entry = Passage()
        let front = try await entry.bind()
        let network = ChangingNetwork(front, try SocketAddress(ipAddress: "127.0.0.1", port: port))
        entry.take { address, bytes in Task { try await network.pass(bytes, from: address) } }
        return network
    }

    /// Drops packets to and from the device's present addresses from now on.
    func change() async throws {
        let ways = state.withLock { state in
            defer { (state.dead, state.ways) = (state.dead.union(state.ways.keys), [:]) }
            return state.ways.values
        }
        for way in ways { try await way.close().get() }
    }

    func close() async {
        try? await change()
        try? await front.close().get()
    }

    private func pass(_ bytes: ByteBuffer, from address: SocketAddress) async throws {
        guard let way = try await way(of: address) else { return }
        way.writeAndFlush(AddressedEnvelope(remoteAddress: relay, data: bytes), promise: nil)
    }

    private func way(of address: SocketAddress) async throws -> (any Channel)? {
        let (known, isDead) = state.withLock { ($0.ways[address], $0.dead.contains(address)) }
        if known != nil || isDead { return known }
        let back = Passage()
        let front = front
        back.take { _, bytes in
            front.writeAndFlush(AddressedEnvelope(remoteAddress: address, data: bytes), promise: nil)
        }
        let new = try await back.bind()
        let kept = state.withLock { state in
            guard state.ways[address] == nil, !state.dead.contains(address) else { return state.ways[address] }
            state.ways[address] = new
            return new
        }
        if kept !== new { try await new.close().get() }
        return kept
    }
}

/// A socket, and the reader of its packets.
private final class Passage: ChannelInboundHandler, Sendable {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    private let reader = Mutex<(@Sendable (SocketAddress, ByteBuffer) -> Void)?>(nil)

    func take(_ read: @escaping @Sendable (SocketAddress, ByteBuffer) -> Void) { reader.withLock { $0 = read } }

    func bind() async throws -> any Channel {
        try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(self) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let packet = unwrapInboundIn(data)
        reader.withLock { $0 }?(packet.remoteAddress, packet.data)
    }

    /// Packets to a device that has closed its socket are lost, as in any network.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
