// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import FrameRelay

/// The relay on a real socket.
struct SocketTests {
    @Test(.timeLimit(.minutes(2))) func framesCrossARealSocket() async throws {
        let relay = try await RelayServer.start(host: "127.0.0.1", port: 0)
        let call = try #require(CallID([UInt8](repeating: 1, count: 16)))
        var guests: [Guest] = []
        for number in 1...2 as ClosedRange<UInt8> {
            let device = try #require(CallDevice([UInt8](repeating: number, count: 32)))
            let key = try #require(RelayKey(relay.sessionKey(of: device, in: call)))
            let guest = try await Guest(to: relay.port, key)
            try await guest.enter(with: relay.ticket(for: device, of: Int64(number), in: call))
            guests.append(guest)
        }
        // A datagram may be lost even here; only frames are sent, so that the first packet to arrive is one of them.
        var heard: RelayPacket?
        while heard == nil, !Task.isCancelled {
            try await guests[0].send(guests[0].key.frame([1, 2, 3], guests[0].stay))
            heard = await guests[1].next(within: .milliseconds(200))
        }
        let first = try #require(CallDevice([UInt8](repeating: 1, count: 32)))
        #expect(heard == guests[1].key.relayed([1, 2, 3], of: MemberAlias(of: first, in: call), guests[1].stay))
        // The hello of a device that has left the call is refused.
        relay.end(first, in: call)
        var answer: RelayPacket?
        while answer != .refused, !Task.isCancelled {
            try await guests[0].send(guests[0].key.hello(cookie: 0, ticket: guests[0].ticket))
            answer = await guests[0].next(within: .milliseconds(200))
        }
        for guest in guests { await guest.close() }
        await relay.close()
    }
}

/// A device with a socket.
private final class Guest {
    private let channel: any Channel
    private let received = ReceivedPackets()
    let key: RelayKey
    private(set) var stay: UInt64 = 0
    private(set) var ticket: [UInt8] = []

    init(to port: Int, _ key: RelayKey) async throws {
        self.key = key
        let received = received
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(received))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func send(_ packet: RelayPacket) async throws {
        let address = try #require(channel.remoteAddress)
        try await channel.writeAndFlush(
            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: packet.encoded)))
    }

    func next(within time: Duration) async -> RelayPacket? {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end, !Task.isCancelled {
            if let packet = received.first() { return packet }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return nil
    }

    func enter(with ticket: [UInt8]) async throws {
        self.ticket = ticket
        var cookie: UInt64 = 0
        while !Task.isCancelled {
            try await send(key.hello(cookie: cookie, ticket: ticket))
            switch await next(within: .milliseconds(200)) {
            case .challenge(let number): cookie = number
            case .welcome(let stay, _):
                self.stay = stay
                return
            default: break
            }
        }
    }

    func close() async { try? await channel.close() }
}

/// Packets in the order in which they came. Unlike a stream, they do not end when a task stops waiting.
private final class ReceivedPackets: Sendable {
    private let packets = Mutex<[RelayPacket]>([])

    func append(_ packet: RelayPacket) { packets.withLock { $0.append(packet) } }

    func first() -> RelayPacket? { packets.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

private final class Reader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    private let packets: ReceivedPackets

    init(_ packets: ReceivedPackets) { self.packets = packets }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        RelayPacket(decoding: Array(unwrapInboundIn(data).data.readableBytesView)).map { packets.append($0) }
    }
}
